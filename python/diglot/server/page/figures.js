import * as api from "./api.js";
import { el } from "./dom.js";
import { number, percent, size, t } from "./i18n.js";
import { table, tiles } from "./parts.js";
import { distribution, timeline } from "./plots.js";

const GROUPS = {
  all: "groupAll",
  zh: "groupZh",
  en: "groupEn",
  mixed: "groupMixed",
  other: "groupOther",
};

// Operations that are about the server and not the memory: this page asks for most of them itself.
const OWN = new Set([
  "permissions",
  "facets",
  "stats",
  "kpis",
  "metrics",
  "health",
  "ready",
  "openapi",
]);

// Plots of the other operations with the most requests.
const MOST_PLOTS = 6;

/** The figures of the server: the memory, how long requests take, the dual-language memory. */
export function figuresView(app) {
  let request = null;
  const content = el("div", { class: "content" });
  const title = el("h1", { tabindex: "-1", "data-skip": true }, t("figures"));
  const element = el(
    "div",
    { class: "figures" },
    el("div", { class: "head" }, title, el("button", { onclick: load }, t("refresh"))),
    content,
  );

  async function load() {
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    try {
      const [stats, kpis] = await Promise.all([api.stats(signal), api.kpis(signal)]);
      if (!signal.aborted)
        content.replaceChildren(
          memorySection(stats),
          requestsSection(kpis.requests),
          recallsSection(kpis.recall),
        );
    } catch (error) {
      if (signal.aborted) return;
      content.replaceChildren(el("p", { class: "error", role: "alert" }, app.explain(error)));
    }
  }

  return {
    element,
    show() {
      load();
      title.focus();
    },
    leave: () => request?.abort(),
  };
}

function memorySection({ entries, rows, segments, bytes }) {
  const total = Object.values(bytes).reduce((sum, one) => sum + one, 0);
  const values = [
    [t("entries"), number(entries)],
    [t("rows"), number(rows)],
    [t("segments"), number(segments)],
    [t("size"), size(total)],
  ];
  return section(t("memory"), tiles(values));
}

function requestsSection(requests) {
  const operations = Object.entries(requests).sort(([, a], [, b]) => b.count - a.count);
  const columns = ["count", "errors", "median", "p95", "p99"].map((key) => [t(key), "number"]);
  const rows = operations.map(([name, { count, errors, p50_ms, p95_ms, p99_ms }]) => [
    name,
    number(count),
    number(errors),
    ...[p50_ms, p95_ms, p99_ms].map(milliseconds),
  ]);
  const plotted = operations.filter(([name]) => !OWN.has(name)).slice(0, MOST_PLOTS);
  return section(
    t("requests"),
    table(t("requests"), [[t("operation"), "text"], ...columns], rows),
    el("div", { class: "plots" }, plotted.map(plotOf)),
  );
}

function plotOf([name, { p50_ms, p95_ms, buckets }]) {
  const marks = [
    ["p50", p50_ms],
    ["p95", p95_ms],
  ];
  const caption = t("latencyShare");
  return figure(name, distribution(buckets, marks, `${name}: ${caption}`), caption);
}

// The columns about recalls, with how each is made of the records and the queries of a group.
const RECALLS = [
  ["records", (records) => number(records.records)],
  ["textEnRate", (records) => share(records.text_en_rate)],
  ["recalls", (_, queries) => number(queries.queries)],
  ["queryEnRate", (_, queries) => share(queries.query_en_rate)],
  ["fallbackRate", (_, queries) => share(queries.fallback_rate)],
  ["emptyRate", (_, queries) => share(queries.empty_rate)],
  ["lowConfidenceRate", (_, queries) => share(queries.low_confidence_rate)],
  ["mismatches", (_, queries) => number(queries.mismatches)],
  ["latencyWithout", (_, queries) => percentiles(queries.latency_without_fallback)],
  ["latencyWith", (_, queries) => percentiles(queries.latency_with_fallback)],
];

function recallsSection({ records, queries, windows }) {
  const columns = RECALLS.map(([key]) => [t(key), "number"]);
  const rows = Object.entries(GROUPS).map(([group, key]) => [
    t(key),
    ...RECALLS.map(([, value]) => value(records[group], queries[group])),
  ]);
  const title = t("dualTitle");
  const spans = windows
    .map(({ start, queries: { all } }) => ({ start, ...all.latency }))
    .filter(({ count }) => count > 0);
  const caption = t("overTimeTitle");
  const plot = () => timeline(spans, lengthOf(windows[0]), `${title}: ${caption}`);
  return section(
    title,
    table(title, [[t("group"), "text"], ...columns], rows),
    spans.length > 1 ? el("div", { class: "plots" }, figure(t("recalls"), plot(), caption)) : null,
  );
}

function share(value) {
  return value === null ? "–" : percent(value);
}

function percentiles({ p50_ms, p95_ms }) {
  return `${milliseconds(p50_ms)} / ${milliseconds(p95_ms)}`;
}

function lengthOf({ start, end }) {
  return Date.parse(end) - Date.parse(start);
}

function milliseconds(value) {
  return value === null ? "–" : t("milliseconds", number(value));
}

function section(title, ...contents) {
  return el("section", {}, el("h2", {}, title), contents);
}

function figure(title, plot, caption) {
  return el("figure", {}, el("figcaption", {}, el("b", {}, title), " ", caption), plot);
}
