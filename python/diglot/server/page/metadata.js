/**
 * Metadata as a string of JSON. JavaScript cannot hold all numbers that may be in it, and what
 * nobody edits is to stay as it is.
 */

const STRING = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`;
const METADATA = new RegExp(`"metadata":(?=\\{)|${STRING}`, "g");
const BRACE = new RegExp(`[{}]|${STRING}`, "g");
const TOKEN = new RegExp(String.raw`${STRING}|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s"{}[\],:]+`, "g");

/** The JSON of entries, in which the JSON of the metadata of each is a string. */
export function sealed(json) {
  let [result, done] = ["", 0];
  METADATA.lastIndex = 0;
  for (let found; (found = METADATA.exec(json));) {
    if (!found[0].endsWith(":")) continue;
    const start = METADATA.lastIndex;
    const end = endOfObject(json, start);
    result += json.slice(done, start) + JSON.stringify(json.slice(start, end));
    METADATA.lastIndex = done = end;
  }
  return result + json.slice(done);
}

/** The JSON of an entry whose metadata is a string of JSON, or null. */
export function unsealed({ metadata, ...others }) {
  return `${JSON.stringify(others).slice(0, -1)},"metadata":${metadata ?? null}}`;
}

function endOfObject(json, start) {
  let depth = 0;
  BRACE.lastIndex = start;
  for (let found; (found = BRACE.exec(json));) {
    if (found[0] === "{") depth += 1;
    else if (found[0] === "}" && (depth -= 1) === 0) return BRACE.lastIndex;
  }
  return json.length;
}

/** JSON with a line for each of its values. */
export function indented(json) {
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  return Array.from(json.matchAll(TOKEN), ([token]) => {
    if (token === ",") return `,${line()}`;
    if (token === ":") return ": ";
    if (token === "{" || token === "[") {
      depth += 1;
      return token + line();
    }
    if (token === "}" || token === "]") {
      depth -= 1;
      return line() + token;
    }
    return token;
  }).join("");
}
