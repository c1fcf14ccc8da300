import * as api from "./api.js";
import { el } from "./dom.js";
import { counted, percent, t } from "./i18n.js";
import { choice, labelled } from "./parts.js";
import { showReport } from "./report.js";

const FORMATS = {
  tmx: "TMX",
  xliff: "XLIFF 1.2",
  xliff2: "XLIFF 2",
  po: "PO",
  mo: "MO",
  csv: "CSV",
  tsv: "TSV",
  jsonl: "JSON Lines",
};
const POLICIES = {
  keep: "duplicatesKeep",
  skip: "duplicatesSkip",
  replace: "duplicatesReplace",
  newest: "duplicatesNewest",
};
// Errors that leave open whether the file was imported.
const UNKNOWN = new Set(["offline", "bad_answer"]);
const LANGUAGES = { source_language: "sourceLanguage", target_language: "targetLanguage" };
const OVERRIDES = { domain: "domain", namespace: "namespace" };

/** Importing a file: the form, its progress and its report. */
export function importView(app) {
  let running = null;

  const file = el("input", { type: "file", name: "file", required: true, onchange: chosen });
  const fileName = el("span", { class: "file-name" }, t("chooseFile"));
  const drop = el("label", { class: "drop", ondragover: over, ondragleave: out, ondrop: dropped }, [
    file,
    fileName,
    el("span", { class: "hint" }, t("importHint")),
  ]);
  const format = choice("format", [["", t("formatAuto")], ...Object.entries(FORMATS)]);
  const duplicates = choice(
    "duplicates",
    Object.entries(POLICIES)
      .filter(([value]) => value === "keep" || app.canCompare())
      .map(([value, key]) => [value, t(key)]),
  );
  const dryRun = el("input", { type: "checkbox", name: "dry_run", onchange: named });
  const languages = textFields(LANGUAGES);
  const overrides = textFields(OVERRIDES);
  const problem = el("p", { class: "error", role: "alert" });
  const submit = el("button", { class: "main" }, t("startImport"));
  const form = el(
    "form",
    { class: "import-form", novalidate: true, onsubmit: start },
    drop,
    el(
      "div",
      { class: "fields" },
      labelled(t("format"), format),
      labelled(t("duplicates"), duplicates),
    ),
    group(t("onlyLanguages"), languages),
    group(t("overrides"), overrides),
    el("label", { class: "check" }, dryRun, t("dryRun")),
    el("div", { class: "buttons" }, submit),
    problem,
  );
  const bar = el("progress", { max: 1, "aria-label": t("import") });
  const phase = el("p", {});
  const stop = el("button", { type: "button", onclick: () => running.abort() }, t("stopImport"));
  const progress = el("div", { class: "progress", hidden: true }, bar, phase, stop);
  const report = el("section", { class: "report", hidden: true });
  const element = el(
    "div",
    { class: "import" },
    el("h1", { tabindex: "-1", "data-skip": true }, t("importTitle")),
    form,
    progress,
    report,
  );

  function chosen() {
    fileName.replaceChildren(file.files[0]?.name ?? t("chooseFile"));
    problem.textContent = "";
  }

  function named() {
    submit.textContent = t(dryRun.checked ? "startDryRun" : "startImport");
  }

  function over(event) {
    event.preventDefault();
    drop.classList.add("over");
  }

  function out() {
    drop.classList.remove("over");
  }

  function dropped(event) {
    event.preventDefault();
    out();
    if (event.dataTransfer.files.length > 0) {
      file.files = event.dataTransfer.files;
      chosen();
    }
  }

  async function start(event) {
    event.preventDefault();
    const [chosenFile] = file.files;
    report.hidden = true;
    problem.textContent = chosenFile ? "" : t("noFile");
    if (!chosenFile) {
      file.focus();
      return;
    }
    const options = { duplicates: duplicates.value, dry_run: dryRun.checked };
    if (format.value) options.format = format.value;
    for (const { name, input } of [...languages, ...overrides])
      if (input.value.trim()) options[name] = input.value.trim();
    begin();
    try {
      const { signal } = running;
      const result = await api.importFile(chosenFile, options, {
        onsent: sent,
        onread: read,
        signal,
      });
      end();
      showReport(report, chosenFile.name, result);
    } catch (error) {
      end();
      submit.focus();
      if (error.name === "AbortError") problem.textContent = t("importStopped");
      else if (UNKNOWN.has(error.code)) problem.textContent = app.explain(error);
      else problem.textContent = `${t("importFailed")} ${app.explain(error)}`;
    }
    // Also after it was stopped, which may have come too late.
    await app.count();
  }

  function begin() {
    running = new AbortController();
    submit.disabled = true;
    progress.hidden = false;
    sent(0);
    stop.focus();
  }

  function end() {
    running = null;
    progress.hidden = true;
    submit.disabled = false;
  }

  function sent(share) {
    bar.value = share;
    phase.textContent = t("uploading", percent(share));
  }

  function read({ bytes_read: done, bytes_total: total, entries }) {
    // Without a value the bar only shows that something is done.
    if (total && done < total) bar.value = done / total;
    else bar.removeAttribute("value");
    phase.textContent = done === total ? t("finishing") : counted("reading", entries);
  }

  return {
    element,
    show: () => file.focus(),
  };
}

function textFields(labels) {
  return Object.entries(labels).map(([name, label]) => {
    const input = el("input", { type: "text", name, dir: "auto", autocomplete: "off" });
    return { name, input, label: labelled(t(label), input) };
  });
}

function group(text, fields) {
  return el(
    "fieldset",
    {},
    el("legend", {}, text),
    el(
      "div",
      { class: "fields" },
      fields.map(({ label }) => label),
    ),
  );
}
