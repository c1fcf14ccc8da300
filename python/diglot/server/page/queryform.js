import { el, newId } from "./dom.js";
import { counted, number, percent, t } from "./i18n.js";
import { choice, labelled } from "./parts.js";

// The filters that are texts: their names in the API, in the address, and what they are called.
const TEXTS = [
  { field: "source_language", name: "from", label: "sourceLanguage" },
  { field: "target_language", name: "to", label: "targetLanguage" },
  { field: "domain", name: "domain", label: "domain" },
  { field: "namespace", name: "namespace", label: "namespace" },
];
const SCORES = [0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1];
const COUNTS = [5, 10, 20, 50];
const SIDES = { both: "sideBoth", source: "sideSource", target: "sideTarget" };
const DEFAULTS = { min: "0.3", max: "10", side: "both" };

/** What to look for, and where: the text and the filters. `onchange()` hears of every change. */
export function queryForm({ onchange }) {
  const queryId = newId();
  const query = el("textarea", {
    id: queryId,
    rows: 2,
    dir: "auto",
    spellcheck: "false",
    autocapitalize: "off",
    oninput: changed,
  });
  const queryLabel = el("label", { for: queryId });
  const texts = TEXTS.map(({ field, name, label }) => {
    const list = el("datalist", { id: newId() });
    const input = el("input", {
      name,
      type: "text",
      list: list.id,
      dir: "auto",
      placeholder: t("any"),
      autocomplete: "off",
    });
    return { field, name, input, list, label: labelled(t(label), input) };
  });
  const min = choice(
    "min",
    SCORES.map((score) => [score, percent(score)]),
  );
  const max = choice(
    "max",
    COUNTS.map((count) => [count, number(count)]),
  );
  const side = choice(
    "side",
    Object.entries(SIDES).map(([value, key]) => [value, t(key)]),
  );
  const selects = [min, max, side];
  const minLabel = labelled(t("minScore"), min);
  const sideLabel = labelled(t("side"), side);
  const summary = el("summary", {});
  const clear = el(
    "button",
    { type: "button", class: "quiet", onclick: clearTexts },
    t("clearFilters"),
  );
  const filters = el(
    "details",
    { class: "filters", open: matchMedia("(min-width: 64rem)").matches },
    summary,
    el(
      "div",
      { class: "fields", oninput: changed },
      texts.map(({ label }) => label),
      minLabel,
      sideLabel,
      labelled(t("maxHits"), max),
      clear,
    ),
  );
  const element = el(
    "form",
    { role: "search", class: "query", onsubmit: (event) => event.preventDefault() },
    queryLabel,
    query,
    filters,
    texts.map(({ list }) => list),
  );

  function changed() {
    count();
    onchange();
  }

  function count() {
    const set = texts.filter(({ input }) => input.value.trim()).length;
    summary.textContent = set ? counted("filtersSet", set) : t("filters");
    clear.hidden = set === 0;
  }

  function clearTexts() {
    for (const { input } of texts) input.value = "";
    changed();
    query.focus();
  }

  const form = {
    element,
    query,

    /** What is asked for: the text, the filters as the API has them, and the other choices. */
    wanted() {
      const set = texts.filter(({ input }) => input.value.trim());
      return {
        text: query.value,
        filters: Object.fromEntries(set.map(({ field, input }) => [field, input.value.trim()])),
        min: Number(min.value),
        max: Number(max.value),
        side: side.value,
      };
    },

    /** The same for the address of the page. */
    params() {
      const values = [
        ["q", query.value],
        ...[...texts.map(({ input }) => input), ...selects].map(({ name, value }) => [
          name,
          value.trim(),
        ]),
      ];
      return new URLSearchParams(
        values.filter(([name, value]) => value !== (DEFAULTS[name] ?? "")),
      );
    },

    /** Asks for what an address says. */
    restore(params) {
      query.value = params.get("q") ?? "";
      for (const { name, input } of texts) input.value = params.get(name) ?? "";
      for (const select of selects) {
        select.value = params.get(select.name) ?? DEFAULTS[select.name];
        if (select.selectedIndex < 0) select.value = DEFAULTS[select.name];
      }
      count();
    },

    /** Becomes the form of a kind of search. */
    become(mode) {
      queryLabel.textContent = t(`${mode}Label`);
      query.placeholder = t(`${mode}Hint`);
      minLabel.hidden = mode !== "search";
      sideLabel.hidden = mode === "search";
    },

    /** Suggests the values that entries have. */
    suggest(facets) {
      for (const { field, list } of texts) {
        const values = facets[`${field}s`].filter(({ value }) => value !== null);
        list.replaceChildren(
          ...values.map(({ value, entries }) =>
            el("option", { value }, counted("entriesInMemory", entries)),
          ),
        );
      }
    },
  };
  form.restore(new URLSearchParams());
  return form;
}
