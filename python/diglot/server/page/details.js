import * as api from "./api.js";
import { confirm } from "./dialogs.js";
import { el, newId, replaceContent } from "./dom.js";
import { entryForm } from "./entryform.js";
import { t } from "./i18n.js";
import { indented } from "./metadata.js";
import { shortcutButton } from "./parts.js";
import { nodes, segment } from "./text.js";

const FACTS = [
  ["source_language", "sourceLanguage"],
  ["target_language", "targetLanguage"],
  ["domain", "domain"],
  ["namespace", "namespace"],
  ["source_id", "sourceId"],
  ["created_at", "createdAt"],
  ["notes", "notes"],
];

/**
 * The pane that shows one entry whole, and where it is edited and deleted.
 *
 * `onopen(id)` is called when an entry was opened, `onclose()` when the pane was closed, and
 * `onchange()` when the memory was changed.
 */
export function detailsPane(app, { onopen, onclose, onchange }) {
  const titleId = newId();
  const title = el("h2", { id: titleId, tabindex: "-1" });
  const body = el("div", { class: "body" });
  const closeButton = el(
    "button",
    {
      class: "quiet",
      "aria-label": t("close"),
      title: `${t("close")} (Esc)`,
      onclick: () => pane.close(),
    },
    el("span", { "aria-hidden": "true" }, "✕"),
  );
  const element = el(
    "aside",
    { class: "details", "aria-labelledby": titleId, hidden: true },
    el("div", { class: "head" }, title, closeButton),
    body,
  );
  let open = null; // The entry that is shown: { id, entry }.
  let form = null; // The form in which it is edited.

  function show(id, entry) {
    open = { id, entry };
    form = null;
    element.hidden = false;
    title.textContent = t("entry", String(id));
    replaceContent(
      body,
      labelled(
        t("source"),
        segment("p", entry.source_language, { class: "source" }, nodes(entry.source)),
      ),
      labelled(
        t("target"),
        segment("p", entry.target_language, { class: "target" }, nodes(entry.target)),
      ),
      el("div", { class: "buttons" }, actions(entry)),
      el(
        "dl",
        {},
        FACTS.filter(([name]) => entry[name]).map(([name, label]) => [
          el("dt", {}, t(label)),
          el("dd", { dir: "auto" }, nodes(entry[name])),
        ]),
      ),
      (entry.metadata ?? "{}") !== "{}"
        ? labelled(t("metadata"), el("pre", {}, nodes(indented(entry.metadata))))
        : null,
    );
  }

  function actions(entry) {
    const copy = shortcutButton({ onclick: () => pane.copy() }, t("copyTarget"), "c");
    if (!app.canWrite(entry.namespace)) return [copy];
    return [
      copy,
      shortcutButton({ onclick: () => pane.edit() }, t("edit"), "e"),
      shortcutButton({ class: "dangerous", onclick: () => pane.remove() }, t("delete"), "Delete"),
    ];
  }

  /**
   * Shows an entry as it is now. Returns it with its ETag, or null if the reader wants to keep what
   * was edited, or went on to something else meanwhile.
   */
  async function openAsItIs(hit) {
    if (!(await pane.open(hit.id, hit.entry))) return null;
    const asked = open;
    const found = await api.entry(hit.id);
    if (open !== asked) return null;
    show(hit.id, found.entry);
    // What had the focus is another element now.
    title.focus();
    return found;
  }

  async function mayLeave() {
    return !form?.changed() || confirm(t("discardTitle"), t("discardText"), t("discard"));
  }

  const pane = {
    element,

    /** The id of the entry that is shown, or null. */
    openId: () => open?.id ?? null,

    isEditing: () => form !== null,

    focus: () => title.focus(),

    /** Shows an entry. Returns whether it does: a reader may want to keep what was edited. */
    async open(id, entry) {
      if (!(await mayLeave())) return false;
      show(id, entry);
      element.scrollTop = 0;
      onopen(id);
      return true;
    },

    /** Goes back from the form to the entry, or from the entry to the results. */
    async close() {
      if (!(await mayLeave())) return;
      if (form) {
        show(open.id, open.entry);
        title.focus();
        return;
      }
      open = null;
      element.hidden = true;
      body.replaceChildren();
      onclose();
    },

    /** Copies the translation of an entry, or of the one that is open. */
    async copy(entry = open.entry) {
      app.say(t((await toClipboard(entry.target)) ? "copied" : "copyFailed"));
    },

    /** Edits an entry, or the one that is open, as it is now. */
    async edit(hit = open) {
      if (!app.canWrite(hit.entry.namespace)) return;
      const { id } = hit;
      try {
        const found = await openAsItIs(hit);
        if (!found) return;
        const { entry, etag } = found;
        const mine = (form = entryForm(entry, {
          async onsave(values) {
            await api.replace(id, values, etag);
            if (form === mine) {
              show(id, values);
              title.focus();
            }
            app.say(t("saved", String(id)));
            await onchange();
          },
          oncancel: () => pane.close(),
          explain: app.explain,
        }));
        title.textContent = t("editEntry", String(id));
        body.replaceChildren(form.element);
        form.focus();
      } catch (error) {
        app.say(error.status === 404 ? t("gone") : app.explain(error));
      }
    },

    save: () => form?.save(),

    /** Deletes an entry, or the one that is open, after asking. */
    async remove(hit = open) {
      const { id, entry } = hit;
      if (!app.canWrite(entry.namespace)) return;
      try {
        const found = await openAsItIs(hit);
        if (!found) return;
        if (!(await confirm(t("deleteTitle", String(id)), t("deleteText"), t("delete")))) return;
        await api.remove(id, found.etag);
        app.say(t("deleted", String(id)));
      } catch (error) {
        app.say(error.status === 404 ? t("gone") : app.explain(error));
        if (error.status !== 404) return;
      }
      if (open?.id === id) {
        form = null;
        await pane.close();
      }
      await onchange();
    },
  };
  return pane;
}

function labelled(text, content) {
  return el("section", {}, el("h3", {}, text), content);
}

async function toClipboard(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  // Browsers keep the clipboard from pages that came over plain HTTP from another machine.
  const area = el("textarea", { class: "for-readers" });
  const before = document.activeElement;
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  before?.focus();
  return copied;
}
