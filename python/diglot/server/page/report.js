import { el, replaceContent } from "./dom.js";
import { counted, number, t } from "./i18n.js";
import { table, tiles } from "./parts.js";
import { nodes } from "./text.js";

const COUNTS = {
  units: "units",
  added: "added",
  duplicate: "duplicatesFound",
  replaced: "replaced",
  removed: "removed",
  skipped: "skipped",
};

/** What the codes of problems mean, in the words of the page. */
export const REASONS = {
  empty_text: "reasonEmpty",
  foreign_namespace: "reasonForeign",
  fuzzy: "reasonFuzzy",
  invalid_attribute: "reasonSyntax",
  invalid_character: "reasonCharacter",
  invalid_encoding: "reasonEncoding",
  invalid_reference: "reasonSyntax",
  invalid_value: "reasonValue",
  missing_language: "reasonLanguage",
  missing_namespace: "reasonNamespace",
  missing_segment: "reasonSyntax",
  missing_source: "reasonSource",
  missing_target: "reasonTarget",
  not_translatable: "reasonNotTranslatable",
  obsolete: "reasonObsolete",
  quotation_marks: "reasonSyntax",
  ragged_row: "reasonSyntax",
  repeated_segment: "reasonSyntax",
  repeated_source: "reasonRepeated",
  syntax: "reasonSyntax",
  text_too_long: "reasonLarge",
  undefined_entity: "reasonSyntax",
  unit_too_large: "reasonLarge",
  untranslated: "reasonUntranslated",
};

/** Shows what an import did, or would have done, in `section`. */
export function showReport(section, fileName, report) {
  const title = t(report.dry_run ? "reportDryTitle" : "reportTitle", fileName);
  const heading = el("h2", { tabindex: "-1" }, nodes(title));
  replaceContent(
    section,
    heading,
    tiles(Object.entries(COUNTS).map(([field, label]) => [t(label), number(report[field])])),
    report.pairs.length > 1 ? pairs(report.pairs) : null,
    report.problems.length > 0 ? problems(report) : null,
  );
  section.hidden = false;
  heading.focus();
}

function pairs(outcomes) {
  const fields = ["added", "duplicate", "replaced", "removed"];
  const columns = fields.map((field) => [t(COUNTS[field]), "number"]);
  const total = (outcome) => fields.reduce((sum, field) => sum + outcome[field], 0);
  const ordered = outcomes.toSorted((a, b) => total(b) - total(a));
  const rows = ordered.map((outcome) => [
    nodes(`${outcome.source_language ?? "?"} → ${outcome.target_language ?? "?"}`),
    ...fields.map((field) => number(outcome[field])),
  ]);
  return [
    el("h3", {}, t("pairs")),
    table(t("pairs"), [[t("languages"), "text"], ...columns], rows),
  ];
}

function problems({ problems: some, skipped }) {
  const columns = [
    [t("line"), "number"],
    [t("unit"), "text"],
    [t("reason"), "text"],
  ];
  const rows = some.map(({ line, unit, code, reason }) => [
    number(line),
    nodes(unit ?? ""),
    [
      Object.hasOwn(REASONS, code) ? el("div", {}, t(REASONS[code])) : null,
      el("div", { class: "hint", lang: "en" }, nodes(reason)),
    ],
  ]);
  const more = skipped - some.length;
  return [
    el("h3", {}, t("skippedTitle")),
    table(t("skippedTitle"), columns, rows),
    more > 0 ? el("p", {}, counted("skippedMore", more)) : null,
  ];
}
