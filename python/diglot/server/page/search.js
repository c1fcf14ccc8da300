import * as api from "./api.js";
import { detailsPane } from "./details.js";
import { areSame } from "./diff.js";
import { el } from "./dom.js";
import { counted, t } from "./i18n.js";
import { retryButton } from "./parts.js";
import { queryForm } from "./queryform.js";
import { resultList } from "./results.js";

// Milliseconds without typing before a search begins, before the address follows (a browser allows
// only so many changes of it), and before the outcome is read out.
const PAUSE = 60;
const KEPT = 400;
const SPOKEN = 700;

/** Search as you type: for similar sources, or for a text within sources and translations. */
export function searchView(app) {
  let mode = "search";
  let timer = null;
  let keeper = null;
  let speaker = null;
  let entering = false;
  let request = new AbortController();

  const wide = matchMedia("(min-width: 64rem)");
  const title = el("h1", { class: "for-readers" });
  const form = queryForm({ onchange: changed });
  const { query } = form;
  const outcome = el("p", { class: "outcome" });
  const spoken = el("p", { class: "for-readers", role: "status" });
  const more = el("button", { hidden: true }, t("more"));
  const results = resultList({
    onopen: open,
    onmove: follow,
    onleave: () => query.focus(),
  });
  const details = detailsPane(app, {
    onopen: opened,
    onclose: closed,
    onchange: refresh,
  });
  const element = el(
    "div",
    { class: "search" },
    title,
    form.element,
    el(
      "section",
      { class: "results", "aria-label": t("results") },
      outcome,
      spoken,
      el("p", { class: "waiting" }, t("waiting")),
      results.element,
      more,
    ),
    details.element,
  );

  api.facets().then(form.suggest);

  function show(name, params) {
    if (params.size > 0) form.restore(params);
    mode = name;
    title.textContent = t(mode);
    form.become(mode);
    results.clear();
    changed();
    query.focus();
  }

  /** Whatever is typed ends the search for what was there before. */
  function changed() {
    leave();
    results.element.setAttribute("aria-busy", "true");
    entering = false;
    timer = setTimeout(run, PAUSE);
    keeper = setTimeout(keep, KEPT);
  }

  /** Puts what is asked for into the address, so that it can be kept, shared and gone back to. */
  function keep() {
    clearTimeout(keeper);
    const params = form.params().toString();
    history.replaceState(null, "", `#${mode}${params && `?${params}`}`);
  }

  function leave() {
    request.abort();
    for (const one of [timer, speaker, keeper]) clearTimeout(one);
  }

  /** Searches for what is in the form now. The result in a place is the one to focus first. */
  async function run(place = 0) {
    const wanted = form.wanted();
    await ask(async (signal) => {
      if (wanted.text.trim() === "") {
        const entries = await app.count();
        return () => showNothing(entries);
      }
      if (mode === "search") {
        const answer = await api.search(wanted, signal);
        return () => showMatches(wanted, answer, place);
      }
      const answer = await api.concordance(wanted, null, signal);
      return () => showFound(wanted, answer, place);
    });
  }

  /** Does what `find` returns when it is done, unless something else is asked for by then. */
  async function ask(find) {
    request.abort();
    request = new AbortController();
    const { signal } = request;
    try {
      const finish = await find(signal);
      if (!signal.aborted) finish();
    } catch (error) {
      if (signal.aborted) return;
      results.clear();
      more.hidden = true;
      tell("error", app.explain(error));
      outcome.append(retryButton(error, () => run()));
    }
    if (entering) enter();
  }

  function showNothing(entries) {
    results.clear();
    more.hidden = true;
    tell("note", ...(entries === 0 ? [t("empty"), t("emptyHint")] : []));
  }

  function showMatches({ text }, { hits: found, milliseconds }, place) {
    const hits = found.map((hit) => ({ ...hit, score: scoreToShow(hit, text) }));
    results.showMatches(text, hits, place);
    results.mark(details.openId());
    more.hidden = true;
    if (hits.length > 0) tell("count", counted("matches", hits.length), took(milliseconds));
    else tell("note", t("noMatches"), t("noMatchesHint"), took(milliseconds));
    if (hits.some(({ score }) => score < 1)) outcome.append(legend());
  }

  function showFound(wanted, { hits, next, milliseconds }, place) {
    results.showFound(wanted.text, wanted.side, hits, place);
    results.mark(details.openId());
    more.hidden = next === null;
    more.onclick = () => {
      entering = true;
      ask(async (signal) => {
        const answer = await api.concordance(wanted, next, signal);
        const all = { ...answer, hits: [...hits, ...answer.hits] };
        return () => showFound(wanted, all, hits.length);
      });
    };
    if (hits.length === 0) {
      tell("note", t("nothingFound"), t("nothingFoundHint"), took(milliseconds));
    } else {
      const count = counted(next === null ? "found" : "foundFirst", hits.length);
      tell("count", count, took(milliseconds));
    }
  }

  /** Goes to the results, as soon as they are those of what is asked for. */
  function enter() {
    entering = results.element.hasAttribute("aria-busy");
    if (!entering) results.focus();
    return true;
  }

  function took(milliseconds) {
    return counted("tookMs", Math.max(1, Math.round(milliseconds)));
  }

  function tell(kind, ...texts) {
    results.element.removeAttribute("aria-busy");
    if (outcome.contains(document.activeElement)) query.focus();
    outcome.className = `outcome ${kind}`;
    outcome.replaceChildren(...texts.map((text) => el("span", {}, text)));
    clearTimeout(speaker);
    speaker = setTimeout(() => spoken.replaceChildren(texts[0] ?? ""), SPOKEN);
  }

  async function open(hit, focus) {
    // Where the pane covers all else, nothing else can keep the focus.
    if ((await details.open(hit.id, hit.entry)) && (focus || !wide.matches)) details.focus();
  }

  /** Keeps an open entry in step with the result that has the focus. */
  function follow(hit) {
    if (details.openId() !== null && !details.isEditing()) open(hit, false);
  }

  function opened(id) {
    element.classList.add("with-details");
    results.mark(id);
  }

  function closed() {
    element.classList.remove("with-details");
    results.mark(null);
    if (!results.focus()) query.focus();
  }

  async function refresh() {
    clearTimeout(timer);
    await run(results.place());
    await app.count();
  }

  function key(name, { target, shiftKey }) {
    const inList = results.element.contains(target);
    if (name === "Escape") return escape(inList);
    if (target === query) {
      const down = (name === "ArrowDown" && atEnd(query)) || (name === "Enter" && !shiftKey);
      return down && enter();
    }
    if (inList && results.key(name)) return true;
    if (details.isEditing()) return name === "Ctrl+Enter" && details.save();
    if (!inList && !details.element.contains(target)) return false;
    const hit = inList ? results.current() : undefined;
    if (name === "c") return details.copy(hit?.entry);
    if (name === "e") return details.edit(hit);
    if (name === "Delete") return details.remove(hit);
    return false;
  }

  function escape(inList) {
    if (details.openId() !== null) details.close();
    else if (!inList && document.activeElement === query && query.value) {
      query.value = "";
      changed();
    } else query.focus();
    return true;
  }

  return { element, show, leave, keep, key, focus: () => query.focus() };
}

/** The score of a hit, below 1 where a text differs only in what the metric is blind to. */
function scoreToShow({ score, entry }, text) {
  return score < 1 || areSame(entry.source, text) ? score : 0.99;
}

/** What the marks of differences mean. */
function legend() {
  const [removed, added] = [el("del", {}, t("legendRemoved")), el("ins", {}, t("legendAdded"))];
  return el("span", { class: "legend" }, t("legend"), " ", removed, " ", added);
}

function atEnd({ value, selectionStart, selectionEnd }) {
  return selectionStart === selectionEnd && !value.slice(selectionEnd).includes("\n");
}
