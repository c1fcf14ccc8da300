/** The keyboard shortcuts of the page, and how they are recognised. */

import { ofBrowser } from "./storage.js";

/** What the list of shortcuts shows: keys that do the same, and the name of what they do. */
export const SHORTCUTS = [
  { keys: ["/"], text: "keyFocusSearch" },
  { keys: ["↓", "↑"], text: "keyMove" },
  { keys: ["Home", "End"], text: "keyEnds" },
  { keys: ["Enter"], text: "keyOpen" },
  { keys: ["c"], text: "keyCopy" },
  { keys: ["e"], text: "keyEdit" },
  { keys: ["Ctrl+Enter"], text: "keySave" },
  { keys: ["Delete"], text: "keyDelete" },
  { keys: ["Esc"], text: "keyBack" },
  { keys: ["1", "2", "3", "4"], text: "keyViews" },
  { keys: ["?"], text: "keyShortcuts" },
];

const CHOICE = "diglot.singleKeys";

/** Whether keys of a single character are shortcuts. Speech input would press them unintended. */
export const singleKeys = {
  get: () => ofBrowser.getItem(CHOICE) !== "off",
  set: (on) => ofBrowser.setItem(CHOICE, on ? "on" : "off"),
};

/**
 * What a key event asks for: a name as in `KeyboardEvent.key`, with `Ctrl+` before it where Control
 * or Command is held, or null if it is for somebody else: a text field, an input method, a dialog.
 */
export function shortcut(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey) return null;
  if (document.querySelector("dialog[open]")) return null;
  const held = event.ctrlKey || event.metaKey;
  if (held) return event.key === "Enter" ? "Ctrl+Enter" : null;
  const key = latin(event);
  if (key.length === 1 && (isTyping(event.target) || !singleKeys.get())) return null;
  return key;
}

/** Whether keys write text where they go. */
export function isTyping(target) {
  return target.matches("textarea, select, input:not([type=checkbox], [type=file], [type=range])");
}

/** The key, or the letter on it where a keyboard writes another script. */
function latin({ key, code }) {
  const letter = /^Key([A-Z])$/.exec(code);
  return letter && key.length === 1 && !/^[ -~]$/.test(key) ? letter[1].toLowerCase() : key;
}
