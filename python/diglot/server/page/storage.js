/**
 * What a browser keeps for this page. Where it may keep nothing, everything is forgotten when the
 * page is left.
 */

/** Kept until the tab is closed. */
export const ofTab = storage(() => sessionStorage);

/** Kept for good. */
export const ofBrowser = storage(() => localStorage);

function storage(find) {
  try {
    // It is null, or raises, where it is not allowed.
    if (find()) return find();
  } catch {}
  const kept = new Map();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
  };
}
