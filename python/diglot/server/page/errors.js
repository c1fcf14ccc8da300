import { ApiError } from "./api.js";
import { counted, t } from "./i18n.js";

/** What went wrong, for the reader. */
export function explain(error) {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "offline") return t("offline");
  if (error.code === "bad_answer") return t("badAnswer");
  if (error.code === "loading") return t("loading");
  if (error.status === 412) return t("changedMeanwhile");
  if (error.status === 403) return t("forbidden");
  if (error.status === 429) return counted("tooManyRequests", error.retryAfter ?? 1);
  return t("failed", error.message);
}
