// What Vertana expects of a store, asked of the one in docs/typescript.md.
import { deepStrictEqual as same, rejects } from "node:assert/strict";
import { diglotStore } from "./store.js";

const store = diglotStore(process.argv[2]);
const entry = {
  source: "Save the file",
  target: "파일 저장",
  sourceLanguage: "en",
  targetLanguage: "ko",
  domain: "ui",
  namespace: "acme",
  sourceId: "menu.save",
  createdAt: "2026-01-31T12:00:00Z",
  notes: "note",
  metadata: { keptAsItIs: { inHere: [1, "two", null] } },
};
const other = { source: "Save the folder", target: "폴더 저장", targetLanguage: "ko" };

same(await store.search("Save the file"), []);
same(await store.add(entry), undefined);
same(await store.search("Save the file"), [{ entry, score: 1 }]);
same(await store.addMany([other, { ...other, targetLanguage: "ja" }]), undefined);
const hits = await store.search("save the FILE");
same(hits.length, 3);
same(hits[0], { entry, score: 1 });
same(hits[1].entry, other);
same(await store.search("Save the file", { maxHits: 1 }), hits.slice(0, 1));
same(await store.search("Save the file", { minScore: 0.9 }), hits.slice(0, 1));
same(await store.search("Save", { minScore: 0, targetLanguage: "JA" }), [
  { entry: { ...other, targetLanguage: "ja" }, score: (await store.search("Save", { minScore: 0 }))[1].score },
]);
same(await store.search("Save the file", { sourceLanguage: "en", domain: "ui", namespace: "acme" }), hits.slice(0, 1));
same(await store.search("Save the file", { namespace: "rival" }), []);

await rejects(store.add({ ...entry, source: " " }), TypeError);
await rejects(store.addMany([other, { ...other, target: "" }]), TypeError);
await rejects(store.search(" "), TypeError);
for (const options of [{ maxHits: 0 }, { maxHits: 1.5 }, { minScore: -1 }, { minScore: 2 }]) {
  await rejects(store.search("Save", options), RangeError);
}
same((await store.search("Save", { minScore: 0, maxHits: 50 })).length, 3);

for (const attempt of [
  (signal: AbortSignal) => store.add(entry, { signal }),
  (signal: AbortSignal) => store.addMany([entry], { signal }),
  (signal: AbortSignal) => store.search("Save", { signal }),
]) {
  await rejects(attempt(AbortSignal.abort()), { name: "AbortError" });
}
same((await store.search("Save", { minScore: 0, maxHits: 50 })).length, 3);
await rejects(diglotStore("http://127.0.0.1:1").search("Save"), TypeError);
console.log("done");
