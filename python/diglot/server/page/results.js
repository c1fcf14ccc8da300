import { areSame, changes } from "./diff.js";
import { el } from "./dom.js";
import { occurrences } from "./find.js";
import { scored, t } from "./i18n.js";
import { beginning, nodes, segment } from "./text.js";

// Characters of a text that a result shows; an open entry shows all.
const MOST = 1500;

/**
 * The list of results. One of them can be reached with Tab, the others with the arrow keys.
 *
 * `onopen(hit, focus)` is called for one to be opened, `onmove(hit)` for one that got the focus,
 * and `onleave()` for going up from the first one.
 */
export function resultList({ onopen, onmove, onleave }) {
  const element = el("ol", { id: "results", "data-skip": true, tabindex: "-1" });
  let hits = [];
  let at = 0;

  function show(items, texts, start = 0) {
    hits = items;
    at = Math.max(0, Math.min(start, hits.length - 1));
    const focused = element.contains(document.activeElement);
    element.removeAttribute("aria-busy");
    element.replaceChildren(
      ...hits.map((hit, index) => el("li", {}, item(hit, index, texts(hit)))),
    );
    if (focused && !focus()) onleave();
  }

  function item(hit, index, { source, target }) {
    const { entry, score } = hit;
    const name = [
      score === undefined ? null : t("score", scored(score)),
      beginning(entry.source, 200),
      beginning(entry.target, 200),
    ];
    const open = el(
      "button",
      { class: "open", tabindex: "-1", "aria-label": t("openEntry"), title: t("openEntry") },
      el("span", { "aria-hidden": "true" }, "›"),
    );
    return el(
      "article",
      {
        class: "hit",
        tabindex: index === at ? "0" : "-1",
        "aria-label": name.filter(Boolean).join(". "),
        onfocus: () => moved(index),
        onclick: () => {
          if (getSelection().isCollapsed) onopen(hit, false);
        },
      },
      score === undefined ? null : el("p", { class: ["score", band(score)] }, scored(score)),
      el("div", { class: "pair" }, source, target, about(entry)),
      open,
    );
  }

  function moved(index) {
    article(at).setAttribute("tabindex", "-1");
    at = index;
    article(at).setAttribute("tabindex", "0");
    onmove(hits[at]);
  }

  function article(index) {
    return element.children[index]?.firstElementChild;
  }

  function focus(index = at) {
    article(index)?.focus();
    return hits.length > 0;
  }

  function key(name) {
    if (name === "ArrowDown") return focus(Math.min(at + 1, hits.length - 1));
    if (name === "ArrowUp" && at === 0) onleave();
    else if (name === "ArrowUp") focus(at - 1);
    else if (name === "Home") focus(0);
    else if (name === "End") focus(hits.length - 1);
    else if (name === "Enter") onopen(hits[at], true);
    else return false;
    return true;
  }

  return {
    element,
    focus,
    key,

    /** The result that has the focus, or gets it first. */
    current: () => hits[at],

    /** Its place in the list. */
    place: () => at,

    clear: () => show([], null),

    /** Shows what is most like a text, and how it differs. */
    showMatches(query, items, start) {
      const older = beginning(query, MOST);
      show(
        items,
        ({ entry }) => ({
          source: shown(entry, "source", compare(older, beginning(entry.source, MOST))),
          target: shown(entry, "target", nodes(beginning(entry.target, MOST))),
        }),
        start,
      );
    },

    /** Shows where a text is in others: on a side of them, or on both. */
    showFound(query, side, items, start) {
      const marked = (text, here) =>
        here ? mark(query, beginning(text, MOST)) : nodes(beginning(text, MOST));
      show(
        items,
        ({ entry }) => ({
          source: shown(entry, "source", marked(entry.source, side !== "target")),
          target: shown(entry, "target", marked(entry.target, side !== "source")),
        }),
        start,
      );
    },

    /** Marks the result that is open. */
    mark(id) {
      hits.forEach((hit, index) => {
        if (hit.id === id) article(index).setAttribute("aria-current", "true");
        else article(index).removeAttribute("aria-current");
      });
    },
  };
}

function shown(entry, side, children) {
  const rest = entry[side].length > MOST ? "…" : null;
  return segment("p", entry[`${side}_language`], { class: side }, children, rest);
}

const ELEMENTS = { same: null, added: "ins", removed: "del" };

function compare(older, newer) {
  // White space around a text is no difference either.
  if (areSame(older, newer)) return nodes(newer);
  return changes(older, newer).map(({ change, text }) =>
    change === "same" ? nodes(text) : el(ELEMENTS[change], {}, nodes(text)),
  );
}

function mark(query, text) {
  return occurrences(text, query).map(({ found, text: piece }) =>
    found ? el("mark", {}, nodes(piece)) : nodes(piece),
  );
}

/** Where an entry belongs, in one line. */
function about({ source_language, target_language, domain, namespace, source_id }) {
  const languages = [source_language, target_language].map((tag) => tag ?? "?").join(" → ");
  const facts = [
    source_language || target_language ? languages : null,
    domain,
    namespace,
    source_id,
  ];
  return el(
    "p",
    { class: "about" },
    facts.filter(Boolean).map((fact) => el("span", { dir: "auto" }, nodes(beginning(fact, 80)))),
  );
}

function band(score) {
  if (score >= 1) return "exact";
  return score >= 0.75 ? "high" : "low";
}
