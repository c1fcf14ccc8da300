import en from "./i18n/en.js";
import ko from "./i18n/ko.js";
import { ofBrowser } from "./storage.js";

/** The languages of the page: their strings, under their tags. */
export const languages = { en, ko };

const CHOICE = "diglot.language";

/** The tag of the language in use: the chosen one, else the first one that the reader knows. */
export const language =
  [ofBrowser.getItem(CHOICE), ...navigator.languages]
    .map((tag) => tag?.split("-")[0])
    .find((tag) => Object.hasOwn(languages, tag ?? "")) ?? "en";

/**
 * A string of the page. Some take arguments; a first argument that is a number decides the form
 * and is followed by how it is written.
 */
export function t(key, ...values) {
  const string = languages[language][key];
  return typeof string === "function" ? string(...values) : string;
}

/** A string that counts something. */
export function counted(key, count) {
  return t(key, count, number(count));
}

/** Uses another language from now on. */
export function choose(tag) {
  ofBrowser.setItem(CHOICE, tag);
  location.reload();
}

/** A number with at most three significant digits, or all digits of its whole part. */
export function number(value) {
  return value.toLocaleString(language, {
    maximumSignificantDigits: Math.max(3, Math.floor(Math.abs(value)).toString().length),
  });
}

/** A share as a percentage without decimals. */
export function percent(share) {
  return share.toLocaleString(language, { style: "percent" });
}

/** A score, rounded down, so that only what is the same is 100 %. */
export function scored(score) {
  return percent(Math.floor(score * 100 + 1e-9) / 100);
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"];

/** A size in bytes, in the unit that suits it. */
export function size(bytes) {
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return (bytes / 1000 ** step).toLocaleString(language, {
    style: "unit",
    unit: UNITS[step],
    maximumFractionDigits: step === 0 ? 0 : 1,
  });
}
