import { ApiError } from "./api.js";
import { el, newId, replaceContent } from "./dom.js";
import { t } from "./i18n.js";
import { shortcutButton } from "./parts.js";
import { hiddenCharacters } from "./text.js";

const FIELDS = [
  ["source", "source", 4],
  ["target", "target", 4],
  ["source_language", "sourceLanguage"],
  ["target_language", "targetLanguage"],
  ["domain", "domain"],
  ["source_id", "sourceId"],
  ["notes", "notes", 2],
];

/**
 * A form for an entry. What it has no field for stays as it is: an entry cannot leave its
 * namespace.
 *
 * `onsave(values)` is called with the new entry and `oncancel()` without; `explain(error)` puts
 * an error into words.
 */
export function entryForm(entry, { onsave, oncancel, explain }) {
  const fields = FIELDS.map(([name, label, rows]) => {
    const [id, errorId, hiddenId] = [newId(), newId(), newId()];
    const properties = { id, name, dir: "auto", "aria-describedby": hiddenId };
    const control = rows
      ? el("textarea", { ...properties, rows })
      : el("input", { ...properties, type: "text", autocomplete: "off" });
    control.value = entry[name] ?? "";
    // A control changes some texts as soon as it is given them: line ends, for one.
    const given = control.value;
    const error = el("p", { id: errorId, class: "error", hidden: true });
    const hidden = el("p", { id: hiddenId, class: "hint" });
    const tellHidden = () => {
      const names = hiddenCharacters(control.value).map((name) => [" ", name]);
      hidden.hidden = names.length === 0;
      replaceContent(hidden, hidden.hidden ? null : [t("hiddenCharacters"), names]);
    };
    control.addEventListener("input", tellHidden);
    tellHidden();
    const lines = entry[name]?.includes("\r\n") ? "\r\n" : "\n";
    const value = () =>
      control.value === given ? entry[name] : control.value.replaceAll("\n", lines) || null;
    const changed = () => control.value !== given;
    const element = el(
      "div",
      { class: rows ? "field wide" : "field" },
      el("label", { for: id }, t(label)),
      control,
      hidden,
      error,
    );
    return { name, control, error, errorId, hiddenId, value, changed, element };
  });
  const problem = el("p", { class: "error", role: "alert" });
  const submit = shortcutButton({ class: "main" }, t("save"), "Ctrl+Enter");
  const cancel = shortcutButton({ type: "button", onclick: oncancel }, t("cancel"), "Esc");
  const element = el(
    "form",
    { class: "entry", onsubmit: save },
    fields.map((field) => field.element),
    problem,
    el("div", { class: "buttons" }, submit, cancel),
  );

  async function save(event) {
    event?.preventDefault();
    if (submit.disabled) return;
    point(null, "");
    const values = { ...entry };
    for (const { name, value } of fields) values[name] = value();
    submit.disabled = true;
    try {
      await onsave(values);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) point(null, t("gone"));
      else point(error.field, explain(error));
    } finally {
      submit.disabled = false;
    }
  }

  /** Shows an error where it belongs: at a field, or below all of them. */
  function point(at, text) {
    const place = fields.find(({ name }) => name === at);
    for (const field of fields) {
      field.error.hidden = field !== place;
      field.error.textContent = field === place ? text : "";
      field.control.removeAttribute("aria-invalid");
      field.control.setAttribute("aria-describedby", field.hiddenId);
    }
    problem.textContent = place ? "" : text;
    if (place) {
      place.control.setAttribute("aria-invalid", "true");
      place.control.setAttribute("aria-describedby", `${place.errorId} ${place.hiddenId}`);
      place.control.focus();
    }
  }

  return {
    element,
    save,
    changed: () => fields.some((field) => field.changed()),
    focus: () => fields[1].control.focus(),
  };
}
