/**
 * What differs between two texts, by words, and by characters where a script has no spaces
 * between words. What a score does not count is not a change either: case, the width of
 * characters, the kind and amount of white space.
 */

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const words = new Intl.Segmenter(undefined, { granularity: "word" });

// A dictionary finds words in these, but not the same ones in two texts that are almost alike.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const BLANK = /^\s+$/u;

// Pairs of parts that are compared; a larger difference is shown as one.
const MOST_PAIRS = 1_000_000;

// A word that stays is worth more than a space that does.
const WORD = 3;
const SPACE = 1;

/** What is compared of a text. */
export function fold(text) {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ");
}

/** Whether two texts are the same but for what is not compared. */
export function areSame(one, other) {
  return fold(one).trim() === fold(other).trim();
}

/** The text as its graphemes: what a reader takes for one character. */
export function characters(text) {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** Words, runs of white space, punctuation marks; characters of scripts without spaces. */
export function parts(text) {
  const result = [];
  for (const { segment } of words.segment(text)) {
    if (UNSPACED.test(segment)) {
      result.push(...characters(segment));
    } else if (BLANK.test(segment) && result.length > 0 && BLANK.test(result.at(-1))) {
      result[result.length - 1] += segment;
    } else {
      result.push(segment);
    }
  }
  return result;
}

/**
 * The pieces of `newer` and, between them, those of `older` that it lacks, as `{ change: "same"
 * | "added" | "removed", text }`. The pieces that are not `removed` make up `newer`.
 */
export function changes(older, newer) {
  const [oldParts, newParts] = [parts(older), parts(newer)];
  const [oldKeys, newKeys] = [oldParts.map(fold), newParts.map(fold)];
  const pieces = [];
  const add = (change, some) => {
    if (some.length > 0) pieces.push({ change, text: some.join("") });
  };
  for (const [same, oldFrom, oldTo, newFrom, newTo] of steps(oldKeys, newKeys)) {
    if (same) {
      add("same", newParts.slice(newFrom, newTo));
    } else {
      add("removed", oldParts.slice(oldFrom, oldTo));
      add("added", newParts.slice(newFrom, newTo));
    }
  }
  return pieces;
}

/** How `newer` comes from `older`: `[same, old from, old to, new from, new to]`, in order. */
function steps(older, newer) {
  let start = 0;
  while (start < Math.min(older.length, newer.length) && older[start] === newer[start]) start += 1;
  let [oldEnd, newEnd] = [older.length, newer.length];
  while (Math.min(oldEnd, newEnd) > start && older[oldEnd - 1] === newer[newEnd - 1]) {
    oldEnd -= 1;
    newEnd -= 1;
  }
  const result = [];
  const add = (step) => {
    const last = result.at(-1);
    const before = result.at(-2);
    if (last && last[0] === step[0]) {
      [last[2], last[4]] = [step[2], step[4]];
    } else if (
      before &&
      last[0] &&
      newer.slice(last[3], last[4]).every((part) => BLANK.test(part))
    ) {
      // Two changed words with an unchanged space between them read better as one change.
      result.pop();
      [before[2], before[4]] = [step[2], step[4]];
    } else {
      result.push(step);
    }
  };
  if (start > 0) add([true, 0, start, 0, start]);
  let [atOld, atNew] = [start, start];
  for (const [i, j] of common(older.slice(start, oldEnd), newer.slice(start, newEnd))) {
    const [oldFrom, newFrom] = [start + i, start + j];
    if (atOld < oldFrom || atNew < newFrom) add([false, atOld, oldFrom, atNew, newFrom]);
    add([true, oldFrom, oldFrom + 1, newFrom, newFrom + 1]);
    [atOld, atNew] = [oldFrom + 1, newFrom + 1];
  }
  if (atOld < oldEnd || atNew < newEnd) add([false, atOld, oldEnd, atNew, newEnd]);
  if (newEnd < newer.length) add([true, oldEnd, older.length, newEnd, newer.length]);
  return result;
}

/** The pairs of positions of a heaviest common subsequence. */
function common(older, newer) {
  const [height, width] = [older.length, newer.length];
  if (height * width > MOST_PAIRS) return [];
  const weights = older.map((part) => (BLANK.test(part) ? SPACE : WORD));
  const best = new Uint32Array((height + 1) * (width + 1));
  const at = (i, j) => i * (width + 1) + j;
  for (let i = height - 1; i >= 0; i -= 1) {
    for (let j = width - 1; j >= 0; j -= 1) {
      const skip = Math.max(best[at(i + 1, j)], best[at(i, j + 1)]);
      best[at(i, j)] =
        older[i] === newer[j] ? Math.max(skip, best[at(i + 1, j + 1)] + weights[i]) : skip;
    }
  }
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < height && j < width) {
    const here = best[at(i, j)];
    if (older[i] === newer[j] && here === best[at(i + 1, j + 1)] + weights[i]) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (best[at(i + 1, j)] === here) {
      i += 1;
    } else {
      j += 1;
    }
  }
  return pairs;
}
