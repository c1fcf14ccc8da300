import { el } from "./dom.js";

// Characters that nobody sees and that change what others look like, or that hide text from people
// but not from models. Joiners, the direction marks U+200E and U+200F, and line ends belong to
// ordinary writing.
const HIDDEN =
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const SHORT_NAMES = {
  "\u0000": "NUL",
  "\r": "CR",
  "\u001b": "ESC",
  "\u00ad": "SHY",
  "\u061c": "ALM",
  "\u200b": "ZWSP",
  "\u202a": "LRE",
  "\u202b": "RLE",
  "\u202c": "PDF",
  "\u202d": "LRO",
  "\u202e": "RLO",
  "\u2060": "WJ",
  "\u2066": "LRI",
  "\u2067": "RLI",
  "\u2068": "FSI",
  "\u2069": "PDI",
  "\ufeff": "BOM",
};

/** Nodes that show a text. Hidden characters are shown by their names and have no effect. */
export function nodes(text) {
  const result = [];
  let done = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (index > done) result.push(text.slice(done, index));
    result.push(named(character));
    done = index + character.length;
  }
  if (done < text.length) result.push(text.slice(done));
  return result;
}

/** Nodes that name the hidden characters that a text has, each once. */
export function hiddenCharacters(text) {
  return [...new Set(text.match(HIDDEN))].map(named);
}

function named(character) {
  const code = `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  return el("span", { class: "hidden-character", title: code }, SHORT_NAMES[character] ?? code);
}

/**
 * An element for text of a language: fonts and line breaking follow the language, and the direction
 * follows the text and has no effect on what is around it.
 */
export function segment(name, language, properties, ...children) {
  return el(name, { dir: "auto", lang: languageTag(language), ...properties }, ...children);
}

function languageTag(language) {
  try {
    return Intl.getCanonicalLocales(language?.replaceAll("_", "-") ?? [])[0] ?? null;
  } catch {
    return null; // Any text may stand where a language tag should.
  }
}

/** The beginning of a text of more than `most` characters, not cut within one of them. */
export function beginning(text, most) {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/u, "");
}
