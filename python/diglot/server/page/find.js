import { characters, fold } from "./diff.js";

/**
 * Where a text has another one in it, without regard to case, width and the amount of white
 * space: a list of `{ found, text }` that together are the text.
 */
export function occurrences(text, wanted) {
  const needle = fold(wanted).trim();
  const graphemes = characters(text);
  let folded = "";
  const owners = []; // The grapheme that each character of `folded` comes from.
  graphemes.forEach((grapheme, owner) => {
    let key = fold(grapheme);
    if (key.startsWith(" ") && folded.endsWith(" ")) key = key.slice(1);
    folded += key;
    for (let i = 0; i < key.length; i += 1) owners.push(owner);
  });
  const pieces = [];
  const add = (found, from, to) => {
    if (from < to) pieces.push({ found, text: graphemes.slice(from, to).join("") });
  };
  let done = 0;
  for (let at = needle ? folded.indexOf(needle) : -1; at >= 0;) {
    const from = Math.max(owners[at], done);
    const to = owners[at + needle.length - 1] + 1;
    add(false, done, from);
    add(true, from, to);
    done = to;
    at = folded.indexOf(needle, at + needle.length);
  }
  add(false, done, graphemes.length);
  return pieces;
}
