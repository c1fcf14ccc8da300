/** Parts that several views are made of. */

import { el } from "./dom.js";
import { t } from "./i18n.js";

/** A control with its name above it. */
export function labelled(text, control) {
  return el("label", {}, el("span", {}, text), control);
}

/** A button with the key that does the same. */
export function shortcutButton(properties, text, key) {
  return el("button", properties, text, " ", el("kbd", { "aria-hidden": "true" }, key));
}

/**
 * A button to do once more what failed, as soon as the server allows it. While the server reads its
 * memory, it is asked again without being told to.
 */
export function retryButton({ code, retryAfter }, onretry) {
  const wait = (retryAfter ?? 0) * 1000; // Milliseconds.
  const button = el("button", { type: "button", disabled: wait > 0, onclick: onretry }, t("retry"));
  setTimeout(() => {
    button.disabled = false;
    if (code === "loading" && button.isConnected) onretry();
  }, wait);
  return button;
}

/** A choice between `[value, text]` pairs. */
export function choice(name, options) {
  return el(
    "select",
    { name },
    options.map(([value, text]) => el("option", { value }, text)),
  );
}

/** Figures that stand for themselves: `[name, value]` pairs. */
export function tiles(values) {
  const tile = ([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  return el("dl", { class: "tiles" }, values.map(tile));
}

/**
 * A table that can be scrolled. `columns` are pairs of a name and "number" or "text", which says
 * how a column is set; the first cell of a row is its head.
 */
export function table(label, columns, rows) {
  const head = columns.map(([name, kind]) => el("th", { scope: "col", class: kind }, name));
  const row = ([first, ...others]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", class: columns[0][1] }, first),
      others.map((value, index) => el("td", { class: columns[index + 1][1], dir: "auto" }, value)),
    );
  return el(
    "div",
    { class: "table", tabindex: "0", role: "group", "aria-label": label },
    el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows.map(row))),
  );
}
