import * as api from "./api.js";
import { askForKey, showShortcuts } from "./dialogs.js";
import { el } from "./dom.js";
import { explain } from "./errors.js";
import { figuresView } from "./figures.js";
import { choose, counted, language, languages, t } from "./i18n.js";
import { importView } from "./import.js";
import { retryButton } from "./parts.js";
import { searchView } from "./search.js";
import { shortcut } from "./shortcuts.js";

document.documentElement.lang = language;

const said = el("p", { role: "status", class: "said" });
const main = el("main", { id: "main" });
const total = el("span", { class: "total" });
const nav = el("nav", { "aria-label": t("views") });
const keyButton = el("button", { hidden: true, onclick: () => changeKey() }, t("changeKey"));

const header = el(
  "header",
  {},
  el("a", { class: "skip", href: "#results", onclick: skip }, t("skipToResults")),
  el("span", { class: "name" }, "diglot"),
  nav,
  total,
  el(
    "div",
    { class: "tools" },
    keyButton,
    Object.entries(languages)
      .filter(([tag]) => tag !== language)
      .map(([tag, strings]) =>
        el("button", { lang: tag, onclick: () => speak(tag) }, strings.language),
      ),
    el("button", { onclick: showShortcuts, title: t("shortcuts") }, [
      el("span", { class: "for-readers" }, t("shortcuts")),
      el("kbd", { "aria-hidden": "true" }, "?"),
    ]),
  ),
);

/** What the views share. */
const app = {
  /** What `api.permissions` says. */
  permissions: null,

  /**
   * Whether entries of a namespace may be changed; entries without one are of the namespace
   * null.
   */
  canWrite(namespace) {
    return app.permissions.write?.includes(namespace) ?? true;
  },

  canImport: () => app.permissions.write?.length !== 0,

  /** Whether an import may look at what is there: it may read wherever it may write. */
  canCompare() {
    const { read, write } = app.permissions;
    return read === null || (write?.every((namespace) => read.includes(namespace)) ?? false);
  },

  /** Says something that happened, to be seen and heard. */
  say(text) {
    // The same text twice would not be heard twice.
    said.replaceChildren(el("span", {}, text));
  },

  /** What went wrong, for the reader. Asks for a key if the server wants another one. */
  explain(error) {
    if (error.status === 401) changeKey({ wrong: api.key.get() !== null });
    return explain(error);
  },

  /** How many entries there are now. */
  async count() {
    const asked = (counts += 1);
    const { entries } = await (app.permissions.admin ? api.stats() : api.facets());
    // An answer that comes late tells of what was.
    if (asked === counts) total.textContent = counted("entriesInMemory", entries);
    return entries;
  },
};

let counts = 0;
let views = {};
let shown = null;

async function start() {
  try {
    app.permissions = await permissions();
  } catch (error) {
    const problem = el("p", { class: "error", role: "alert" }, explain(error));
    main.replaceChildren(el("div", { class: "failed" }, problem, retryButton(error, start)));
    return;
  }
  keyButton.hidden = app.permissions.name === null;
  const search = searchView(app);
  views = { search, concordance: search };
  if (app.canImport()) views.import = importView(app);
  if (app.permissions.admin) views.figures = figuresView(app);
  nav.replaceChildren(
    ...Object.keys(views).map((name) => el("a", { href: `#${name}`, "data-view": name }, t(name))),
  );
  addEventListener("hashchange", show);
  show();
  // Not awaited: nothing on the page waits for it, and it must not end what works without it.
  app.count();
}

/** What we may do, after asking for a key where one is wanted, as often as it takes. */
async function permissions() {
  for (let wrong = false; ;) {
    try {
      return await api.permissions();
    } catch (error) {
      if (error.status !== 401) throw error;
      wrong = api.key.get() !== null;
      api.key.forget();
      await askForKey({ wrong });
    }
  }
}

let asking = false;

async function changeKey({ wrong = false } = {}) {
  if (asking) return;
  asking = true;
  const changed = await askForKey({ wrong });
  asking = false;
  if (changed && !(await maysTheSame())) location.reload();
}

/** Whether what is on the page, and what was typed into it, is of use with the key of now. */
async function maysTheSame() {
  const [before, now] = [app.permissions, await api.permissions().catch(() => null)].map(
    (permissions) => JSON.stringify({ ...permissions, name: null }),
  );
  return before === now;
}

/** Shows the view that the address names. */
function show() {
  const [, name, query] = /^#?([^?]*)\??(.*)$/s.exec(location.hash);
  const current = Object.hasOwn(views, name) ? name : "search";
  for (const link of nav.children) {
    if (link.dataset.view === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${t(current)} · diglot`;
  if (shown !== views[current]) {
    shown?.leave?.();
    main.replaceChildren(views[current].element);
  }
  shown = views[current];
  shown.show(current, new URLSearchParams(query));
}

/** Shows the same in another language. */
function speak(tag) {
  shown?.keep?.();
  choose(tag);
}

function skip(event) {
  event.preventDefault();
  main.querySelector("[data-skip]")?.focus();
}

addEventListener("keydown", (event) => {
  const key = shortcut(event);
  if (key === null || !shown) return;
  const names = Object.keys(views);
  if (shown.key?.(key, event)) event.preventDefault();
  else if (key === "?") showShortcuts();
  else if (key === "/") {
    event.preventDefault();
    if (shown !== views.search) location.hash = "#search";
    else shown.focus();
  } else if (/^[1-9]$/.test(key) && names[key - 1]) nav.children[key - 1].click();
});

addEventListener("unhandledrejection", (event) => {
  app.say(app.explain(event.reason));
  event.preventDefault();
});

main.append(el("p", { class: "waiting" }, t("waiting")));
document.body.append(header, main, said);
start();
