import { key } from "./api.js";
import { el, newId } from "./dom.js";
import { t } from "./i18n.js";
import { SHORTCUTS, singleKeys } from "./shortcuts.js";

/** Shows a dialog and returns what it was closed with: the value of a button, or "" for Esc. */
function ask(title, contents, buttons, { onshow = () => {}, role = null } = {}) {
  const titleId = newId();
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: titleId }, title),
    contents,
    el("div", { class: "buttons" }, buttons),
  );
  const dialog = el("dialog", { "aria-labelledby": titleId, role }, form);
  const before = document.activeElement;
  document.body.append(dialog);
  dialog.showModal();
  onshow(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(dialog.returnValue);
    });
  });
}

function button(value, text, properties = {}) {
  return el("button", { value, ...properties }, text);
}

/** Asks whether something is to be done that cannot be undone. */
export async function confirm(title, text, action) {
  const buttons = [
    button("", t("cancel"), { autofocus: true }),
    button("yes", action, { class: "dangerous" }),
  ];
  return (await ask(title, el("p", {}, text), buttons, { role: "alertdialog" })) === "yes";
}

/** Asks for an API key and keeps it. Returns whether it was changed. */
export async function askForKey({ wrong = false } = {}) {
  const inputId = newId();
  const errorId = newId();
  const input = el("input", {
    id: inputId,
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    autofocus: true,
    "aria-invalid": wrong ? "true" : null,
    "aria-describedby": wrong ? errorId : null,
  });
  const contents = [
    el("p", {}, t("keyText")),
    el("label", { for: inputId }, t("keyLabel")),
    input,
    wrong ? el("p", { id: errorId, class: "error" }, t("keyWrong")) : null,
  ];
  const buttons = [
    button("use", t("useKey"), { class: "main" }),
    key.get() === null ? null : button("forget", t("forgetKey")),
    button("", t("cancel")),
  ];
  const choice = await ask(t("keyTitle"), contents, buttons);
  if (choice === "forget") key.forget();
  if (choice === "use" && input.value.trim()) key.set(input.value.trim());
  return choice === "forget" || (choice === "use" && input.value.trim() !== "");
}

/** Shows the keyboard shortcuts. */
export async function showShortcuts() {
  const rows = SHORTCUTS.map(({ keys, text }) =>
    el(
      "div",
      {},
      el(
        "dt",
        {},
        keys.map((one) => el("kbd", {}, one)),
      ),
      el("dd", {}, t(text)),
    ),
  );
  const checkbox = el("input", { type: "checkbox" });
  checkbox.checked = singleKeys.get();
  checkbox.addEventListener("change", () => singleKeys.set(checkbox.checked));
  const contents = [
    el("dl", { class: "shortcuts" }, rows),
    el("label", { class: "check" }, checkbox, t("singleKeys")),
  ];
  await ask(t("shortcuts"), contents, button("", t("close"), { autofocus: true }));
}
