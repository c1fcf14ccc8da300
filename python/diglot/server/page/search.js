import * as api from "./api.js";
import { detailsPane } from "./details.js";
import { el, newId } from "./dom.js";
import { counted, number, percent, t } from "./i18n.js";
import { resultList } from "./results.js";

// Milliseconds without typing before a search begins, and before its outcome is read out.
const PAUSE = 60;
const SPOKEN = 700;

// The filters that are texts: their names here and in the address.
const TEXTS = {
  source_language: ["from", "sourceLanguage"],
  target_language: ["to", "targetLanguage"],
  domain: ["domain", "domain"],
  namespace: ["namespace", "namespace"],
};
const SCORES = [0.2, 0.5, 0.7, 0.8, 0.9, 1];
const COUNTS = [5, 10, 20, 50];
const DEFAULTS = { min: "0.5", max: "10", side: "both" };

/** Search as you type: for similar sources, or for a text within sources and translations. */
export function searchView(app) {
  let mode = "search";
  let timer = null;
  let speaker = null;
  let request = null;

  const ids = { query: newId(), languages: { from: newId(), to: newId() } };
  const query = el("textarea", {
    id: ids.query,
    rows: 2,
    dir: "auto",
    spellcheck: "false",
    autocapitalize: "off",
    oninput: changed,
  });
  const queryLabel = el("label", { for: ids.query });
  const texts = Object.entries(TEXTS).map(([field, [name, label]]) => {
    const list = ids.languages[name];
    const input = el("input", { name, type: "text", list, placeholder: t("any"), autocomplete: "off" });
    return { field, name, input, label: labelled(t(label), input) };
  });
  const min = choice("min", SCORES, percent);
  const max = choice("max", COUNTS, number);
  const sides = { both: "sideBoth", source: "sideSource", target: "sideTarget" };
  const side = choice("side", Object.keys(sides), (value) => t(sides[value]));
  const minLabel = labelled(t("minScore"), min);
  const sideLabel = labelled(t("side"), side);
  const summary = el("summary", {}, t("filters"));
  const clear = el("button", { type: "button", class: "quiet", onclick: clearFilters }, t("clearFilters"));
  const filters = el(
    "details",
    { class: "filters" },
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
  const datalists = Object.values(ids.languages).map((id) => el("datalist", { id }));
  const form = el(
    "form",
    { role: "search", class: "query", onsubmit: (event) => event.preventDefault() },
    queryLabel,
    query,
    filters,
    datalists,
  );
  const outcome = el("p", { class: "outcome" });
  const spoken = el("p", { class: "for-readers", role: "status" });
  const results = resultList({ onopen: (hit, focus) => open(hit, focus), onmove: follow, onleave: focusQuery });
  const details = detailsPane(app, { onclose: closed, onchange: refresh });
  const element = el(
    "div",
    { class: "search" },
    form,
    el("section", { class: "results", "aria-label": t("results") }, outcome, spoken, results.element),
    details.element,
  );

  const wide = matchMedia("(min-width: 64rem)");
  filters.open = wide.matches;
  suggestLanguages();

  function state() {
    const values = { q: query.value };
    for (const { name, input } of texts) values[name] = input.value.trim();
    return { ...values, min: min.value, max: max.value, side: side.value };
  }

  /** The address of this view as it is, so that it can be kept, shared and gone back to. */
  function address() {
    const kept = Object.entries(state()).filter(([name, value]) => value !== (DEFAULTS[name] ?? ""));
    const params = new URLSearchParams(kept).toString();
    return `#${mode}${params && `?${params}`}`;
  }

  function show(name, params) {
    const switched = mode !== name;
    mode = name;
    // From one kind of search to the other, the text and the filters come along.
    if (!switched || params.size > 0) {
      query.value = params.get("q") ?? "";
      for (const one of texts) one.input.value = params.get(one.name) ?? "";
      for (const select of [min, max, side]) {
        select.value = params.get(select.name) ?? DEFAULTS[select.name];
        if (select.selectedIndex < 0) select.value = DEFAULTS[select.name];
      }
    }
    queryLabel.textContent = t(`${mode}Label`);
    query.placeholder = t(`${mode}Hint`);
    minLabel.hidden = mode !== "search";
    sideLabel.hidden = mode === "search";
    outcome.replaceChildren();
    results.clear();
    changed();
    focusQuery();
  }

  function changed() {
    const set = texts.filter(({ input }) => input.value.trim()).length;
    summary.textContent = set ? counted("filtersSet", set) : t("filters");
    clear.hidden = set === 0;
    history.replaceState(null, "", address());
    request?.abort();
    clearTimeout(timer);
    clearTimeout(speaker);
    results.element.setAttribute("aria-busy", "true");
    timer = setTimeout(() => run(), PAUSE);
  }

  /** Searches for what is in the form now. Whatever is typed meanwhile ends it. */
  async function run(start = 0) {
    const wanted = state();
    const searching = mode === "search";
    request = new AbortController();
    const { signal } = request;
    try {
      if (wanted.q.trim() === "") {
        showNothing(await app.count());
      } else {
        const options = optionsOf(wanted, searching);
        const answer = await (searching ? api.search : api.concordance)(wanted.q, options, signal);
        if (!signal.aborted) showAnswer(wanted, searching, answer, start);
      }
    } catch (error) {
      if (signal.aborted) return;
      results.clear();
      tell("error", app.explain(error));
    }
  }

  function optionsOf(wanted, searching) {
    const options = { max_hits: Number(wanted.max) };
    for (const { field, name } of texts) if (wanted[name]) options[field] = wanted[name];
    return searching ? { ...options, min_score: Number(wanted.min) } : { ...options, side: wanted.side };
  }

  function showNothing(entries) {
    results.clear();
    if (entries === 0) tell("note", t("empty"), t("emptyHint"));
    else tell("note");
  }

  function showAnswer(wanted, searching, { hits, complete = true, milliseconds }, start) {
    const took = counted("tookMs", Math.max(1, Math.round(milliseconds)));
    if (hits.length === 0) {
      results.clear();
      const [text, hint] = searching ? ["noMatches", "noMatchesHint"] : ["nothingFound", "nothingFoundHint"];
      tell("note", t(text), complete ? t(hint) : t("stoppedEarly"), took);
      return;
    }
    if (searching) results.showMatches(wanted.q, hits, start);
    else results.showFound(wanted.q, wanted.side, hits, start);
    results.mark(details.openId());
    const full = hits.length === Number(wanted.max);
    const count = counted(searching ? "matches" : full ? "foundFirst" : "found", hits.length);
    tell("count", count, complete || full ? null : t("stoppedEarly"), took);
    if (searching && hits.some(({ score }) => score < 1)) outcome.append(legend());
  }

  function tell(kind, ...texts) {
    results.element.removeAttribute("aria-busy");
    const shown = texts.filter(Boolean);
    outcome.className = `outcome ${kind}`;
    outcome.replaceChildren(...shown.map((text) => el("span", {}, text)));
    clearTimeout(speaker);
    speaker = setTimeout(() => spoken.replaceChildren(shown.slice(0, 2).join(" ")), SPOKEN);
  }

  async function suggestLanguages() {
    const found = await api.languages();
    [found.source_languages, found.target_languages].forEach((tags, index) => {
      datalists[index].replaceChildren(...tags.map((value) => el("option", { value })));
    });
  }

  function clearFilters() {
    for (const { input } of texts) input.value = "";
    changed();
    focusQuery();
  }

  function focusQuery() {
    query.focus();
  }

  async function open(hit, focus) {
    if (await details.open(hit.id, hit.entry)) {
      element.classList.add("with-details");
      results.mark(hit.id);
      if (focus) details.focus();
    }
  }

  /** Keeps an open entry in step with the result that has the focus. */
  function follow(hit) {
    if (details.openId() !== null && !details.isEditing()) open(hit, false);
  }

  function closed() {
    element.classList.remove("with-details");
    results.mark(null);
    if (!results.focus()) focusQuery();
  }

  async function refresh() {
    clearTimeout(timer);
    request?.abort();
    await run(results.place());
    await app.count();
  }

  function key(name, event) {
    const inList = results.element.contains(event.target);
    const inDetails = details.element.contains(event.target);
    if (name === "Escape") return escape(inList);
    if (name === "ArrowDown" && event.target === query && atEnd(query)) return results.focus();
    if (name === "Enter" && event.target === query && !event.shiftKey) return results.focus();
    if (inList && results.key(name)) return true;
    if (details.isEditing()) return name === "Ctrl+Enter" && details.save();
    if (!inList && !inDetails) return false;
    const hit = inList ? results.current() : undefined;
    if (name === "c") return details.copy(hit?.entry);
    if (name === "e") return details.edit(hit);
    if (name === "Delete") return details.remove(hit);
    return false;
  }

  function escape(inList) {
    if (details.openId() !== null) details.close();
    else if (inList) focusQuery();
    else if (document.activeElement === query && query.value) {
      query.value = "";
      changed();
    } else focusQuery();
    return true;
  }

  return { element, show, key, focus: focusQuery };
}

/** What the marks of differences mean. */
function legend() {
  return el("span", { class: "legend" }, t("legend"), " ", el("del", {}, t("legendRemoved")), " ", el("ins", {}, t("legendAdded")));
}

function labelled(text, control) {
  return el("label", {}, el("span", {}, text), control);
}

function choice(name, values, text) {
  return el("select", { name }, values.map((value) => el("option", { value }, text(value))));
}

function atEnd({ value, selectionStart, selectionEnd }) {
  return selectionStart === selectionEnd && !value.slice(selectionEnd).includes("\n");
}
