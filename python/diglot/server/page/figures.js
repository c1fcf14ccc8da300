import * as api from "./api.js";
import { el } from "./dom.js";
import { number, percent, size, t } from "./i18n.js";
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
  const tiles = [
    [t("entries"), number(entries)],
    [t("rows"), number(rows)],
    [t("segments"), number(segments)],
    [t("size"), size(Object.values(bytes).reduce((sum, one) => sum + one, 0))],
  ];
  return section(
    t("memory"),
    el(
      "dl",
      { class: "tiles" },
      tiles.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
    ),
  );
}

function requestsSection(requests) {
  const operations = Object.entries(requests).sort(([, a], [, b]) => b.count - a.count);
  const plotted = operations.filter(([name]) => !OWN.has(name));
  const rows = operations.map(([name, one]) => [
    name,
    number(one.count),
    number(one.errors),
    ...[one.p50_ms, one.p95_ms, one.p99_ms].map(milliseconds),
  ]);
  const head = [t("operation"), t("count"), t("errors"), t("median"), t("p95"), t("p99")];
  return section(
    t("requests"),
    table(t("requests"), head, rows),
    el(
      "div",
      { class: "plots" },
      plotted.slice(0, MOST_PLOTS).map(([name, one]) => plotOf(name, one)),
    ),
  );
}

function plotOf(name, { p50_ms, p95_ms, buckets }) {
  const marks = [
    ["p50", p50_ms],
    ["p95", p95_ms],
  ];
  const caption = t("latencyShare");
  return figure(name, distribution(buckets, marks, `${name}: ${caption}`), caption);
}

function recallsSection({ records, queries, windows }) {
  const share = (value) => (value === null ? "–" : percent(value));
  const rows = Object.entries(GROUPS).map(([group, label]) => {
    const [held, asked] = [records[group], queries[group]];
    return [
      t(label),
      number(held.records),
      share(held.text_en_rate),
      number(asked.queries),
      share(asked.query_en_rate),
      share(asked.fallback_rate),
      share(asked.empty_rate),
      share(asked.low_confidence_rate),
      number(asked.mismatches),
      ...[asked.latency_without_fallback, asked.latency_with_fallback].map(
        ({ p50_ms, p95_ms }) => `${milliseconds(p50_ms)} / ${milliseconds(p95_ms)}`,
      ),
    ];
  });
  const head = [
    "group",
    "records",
    "textEnRate",
    "recalls",
    "queryEnRate",
    "fallbackRate",
    "emptyRate",
    "lowConfidenceRate",
    "mismatches",
    "latencyWithout",
    "latencyWith",
  ].map((name) => t(name));
  const spans = windows
    .map(({ start, queries }) => ({ start, ...queries.all.latency }))
    .filter(({ count }) => count > 0);
  const caption = t("overTimeTitle");
  const title = t("dualTitle");
  return section(
    title,
    table(title, head, rows),
    spans.length > 1
      ? el(
          "div",
          { class: "plots" },
          figure(
            t("recalls"),
            timeline(spans, lengthOf(windows[0]), `${title}: ${caption}`),
            caption,
          ),
        )
      : null,
  );
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

function table(label, head, rows) {
  return el(
    "div",
    { class: "table", tabindex: "0", role: "group", "aria-label": label },
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((name, index) => el("th", { scope: "col", class: index > 0 && "number" }, name)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map(([first, ...others]) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, first),
            others.map((value) => el("td", { class: "number" }, value)),
          ),
        ),
      ),
    ),
  );
}
