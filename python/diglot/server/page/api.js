/**
 * The server's HTTP API, relative to this page. The metadata of an entry is a string of JSON here,
 * or null.
 */

import { sealed, unsealed } from "./metadata.js";
import { ofTab } from "./storage.js";

const BASE = new URL("api/v1/", document.baseURI);
const KEY = "diglot.key";

/** An answer that says no, or none at all (`status` 0). */
export class ApiError extends Error {
  constructor(status, { code, message, field = null, retryAfter = null }) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

/** The API key of this tab, or null. */
export const key = {
  get: () => ofTab.getItem(KEY),
  set: (value) => ofTab.setItem(KEY, value),
  forget: () => ofTab.removeItem(KEY),
};

/**
 * What this tab may do: `{ name, read, write, admin }`, the name of its key, null without keys, and
 * the namespaces it may read and write, null for all.
 */
export async function permissions() {
  return (await call("GET", "permissions")).body;
}

/** The entries most like a text: `{ hits, milliseconds }`, as long as it took to get them. */
export async function search({ text, filters, min, max }, signal) {
  const body = { query: text, ...filters, min_score: min, max_hits: max };
  const { body: found, milliseconds } = await call("POST", "search", {
    body: JSON.stringify(body),
    signal,
    read: sealed,
  });
  return { hits: found.hits, milliseconds };
}

/**
 * The entries that have a text in them, in order of insertion, from the one on after `after`:
 * `{ hits, next, milliseconds }`. `next` is what to go on after, or null.
 */
export async function concordance({ text, filters, side, max }, after, signal) {
  const params = new URLSearchParams({ text, ...filters, side, limit: max });
  if (after !== null) params.set("after", after);
  const { body, milliseconds } = await call("GET", `concordance?${params}`, {
    signal,
    read: sealed,
  });
  return { hits: body.entries, next: body.next, milliseconds };
}

/** An entry as it is now: `{ entry, etag }`. */
export async function entry(id) {
  const { body, etag } = await call("GET", `entries/${id}`, { read: sealed });
  return { entry: body.entry, etag };
}

/** Puts an entry in the place of one, if that is still the one that came with an ETag. */
export async function replace(id, values, etag) {
  await call("PUT", `entries/${id}`, { body: unsealed(values), headers: ifMatch(etag) });
}

/** Removes an entry, if it is still the one that came with an ETag. */
export async function remove(id, etag) {
  await call("DELETE", `entries/${id}`, { headers: ifMatch(etag) });
}

/** Counts and sizes of the memory. */
export async function stats(signal) {
  return (await call("GET", "stats", { signal })).body;
}

/** Counts and latencies. */
export async function kpis(signal) {
  return (await call("GET", "kpis", { signal })).body;
}

/** How many entries there are, and how many of each language, domain and namespace. */
export async function facets() {
  return (await call("GET", "facets")).body;
}

/**
 * Sends a file and returns the report of its import. `onsent` hears the share of the file that
 * was sent, `onread` what was read of it: `{ bytes_read, bytes_total, entries }`. Aborting
 * `signal` stops the import, unless it is done by then.
 */
export function importFile(file, options, { onsent, onread, signal }) {
  // Not fetch, which does not tell how much was sent.
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const query = new URLSearchParams({ filename: file.name, ...options });
    request.open("POST", new URL(`import?${query}`, BASE));
    for (const [name, value] of Object.entries(headersOf({})))
      request.setRequestHeader(name, value);
    request.setRequestHeader("Accept", "application/x-ndjson");
    request.setRequestHeader("Content-Type", "application/octet-stream");
    let end = 0;
    const readLines = () => {
      if (request.status !== 200) return;
      const stop = request.responseText.lastIndexOf("\n") + 1;
      for (const line of request.responseText.slice(end, stop).split("\n").filter(Boolean)) {
        const message = parse(line);
        if (message?.progress) onread(message.progress);
        if (message?.report) resolve(message.report);
        if (message?.error) reject(new ApiError(200, message.error));
      }
      end = stop;
    };
    request.upload.onprogress = ({ loaded, total }) => onsent(total ? loaded / total : 1);
    request.onprogress = readLines;
    request.onload = () => {
      if (request.status === 200) {
        readLines();
        reject(badAnswer(200)); // Without effect if a line said how it ended.
      } else {
        const name = "Retry-After";
        reject(
          errorOf(request.status, parse(request.responseText), request.getResponseHeader(name)),
        );
      }
    };
    request.onerror = () => reject(offline());
    request.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}

async function call(method, path, { body, headers = {}, signal, read = (json) => json } = {}) {
  headers = headersOf(body ? { ...headers, "Content-Type": "application/json" } : headers);
  const started = performance.now();
  let answer, text;
  try {
    answer = await fetch(new URL(path, BASE), {
      method,
      headers,
      body,
      signal,
      cache: "no-store",
      credentials: "omit",
    });
    text = await answer.text();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw error instanceof TypeError ? offline() : error;
  }
  const value = text ? parse(read(text)) : null;
  if (!answer.ok) throw errorOf(answer.status, value, answer.headers.get("Retry-After"));
  if (value === undefined) throw badAnswer(answer.status);
  const milliseconds = performance.now() - started;
  return { body: value, etag: answer.headers.get("ETag"), milliseconds };
}

function ifMatch(etag) {
  return etag === null ? {} : { "If-Match": etag };
}

function headersOf(headers) {
  const value = key.get();
  if (value === null) return headers;
  // A header could not hold it, so it is no key that a server knows.
  if (!/^[!-~]*$/.test(value)) throw new ApiError(401, { code: "unauthorized", message: "" });
  return { ...headers, Authorization: `Bearer ${value}` };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf(status, value, retryAfter) {
  if (typeof value?.error?.message !== "string") return badAnswer(status);
  return new ApiError(status, { ...value.error, retryAfter: Number(retryAfter) || null });
}

function badAnswer(status) {
  return new ApiError(status, { code: "bad_answer", message: "" });
}

function offline() {
  return new ApiError(0, { code: "offline", message: "" });
}
