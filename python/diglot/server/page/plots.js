/** Small plots, drawn as SVG. The style sheet gives them their colours. */

import { svg } from "./dom.js";
import { language, number, percent, t } from "./i18n.js";

const WIDTH = 420;
const HEIGHT = 220;
const LEFT = 44;
const RIGHT = 44;
const TOP = 12;
const BOTTOM = 38;

const across = (share) => LEFT + share * (WIDTH - LEFT - RIGHT);
const down = (share) => HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);

/**
 * The share of requests that took at most so long.
 *
 * `histogram` has pairs of a duration in milliseconds and how many took that long and longer
 * than the one before; `marks` has pairs of a name and a duration.
 */
export function distribution(histogram, marks, label) {
  const total = histogram.reduce((sum, [, count]) => sum + count, 0);
  const durations = histogram.filter(([, count]) => count > 0).map(([upper]) => upper);
  const least = 10 ** Math.floor(Math.log10(Math.max(Math.min(...durations), 1e-3)));
  const most = 10 ** Math.ceil(Math.log10(Math.max(...durations, least * 10)));
  const decades = Math.round(Math.log10(most / least));
  const x = (ms) => across(Math.min(Math.max(Math.log10(ms / least) / decades, 0), 1));
  let sum = 0;
  let path = `M${x(least)},${down(0)}`;
  for (const [upper, count] of histogram) {
    sum += count;
    path += `H${x(upper)}V${down(sum / total)}`;
  }
  path += `H${across(1)}`;
  const ticks = Array.from({ length: decades + 1 }, (_, i) => least * 10 ** i);
  return plot(
    label,
    [0, 0.25, 0.5, 0.75, 1].map((share) => [down(share), percent(share)]),
    ticks.map((ms) => [x(ms), number(Number(ms.toPrecision(1)))]),
    t("latencyAxis"),
    marks.map(([name, ms], index) => [
      svg("path", { class: "mark", d: `M${x(ms)},${down(0)}V${down(1)}` }),
      svg("text", { class: "mark-name", x: x(ms) + 4, y: down(0.08 + 0.1 * index) }, name),
    ]),
    svg("path", { class: "line p50", d: path }),
  );
}

/**
 * Median and 95th percentile of some spans of time, each `{ start, p50_ms, p95_ms }`. Where nothing
 * happened, the lines have a gap.
 */
export function timeline(spans, milliseconds, label) {
  const first = Date.parse(spans[0].start);
  const last = Math.max(Date.parse(spans.at(-1).start), first + milliseconds);
  const most = ceiling(Math.max(...spans.map(({ p95_ms }) => p95_ms)));
  const x = (time) => across((time - first) / (last - first));
  const y = (ms) => down(ms / most);
  const line = (name) => {
    let path = "";
    let before = -Infinity;
    const dots = [];
    for (const span of spans) {
      const time = Date.parse(span.start);
      const point = `${x(time)},${y(span[name])}`;
      path += `${time - before > 1.5 * milliseconds ? "M" : "L"}${point}`;
      dots.push(svg("circle", { class: "dot", cx: x(time), cy: y(span[name]), r: 2.5 }));
      before = time;
    }
    return [path, dots];
  };
  const clock = (time) =>
    new Date(time).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
  const named = [
    ["p50", "p50_ms"],
    ["p95", "p95_ms"],
  ].map(([name, field]) => {
    const [path, dots] = line(field);
    return svg(
      "g",
      { class: name },
      svg("path", { class: `line ${name}`, d: path }),
      dots,
      svg("text", { class: "line-name", x: across(1) + 6, y: y(spans.at(-1)[field]) + 4 }, name),
    );
  });
  return plot(
    label,
    [0, 0.5, 1].map((share) => [down(share), number(share * most)]),
    [first, last].map((time) => [x(time), clock(time)]),
    "",
    named,
  );
}

/** The next number with one digit that is not zero. */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value);
}

function plot(label, rows, columns, axis, ...contents) {
  return svg(
    "svg",
    { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    rows.map(([y, text]) => [
      svg("path", { class: "grid", d: `M${LEFT},${y}H${WIDTH - RIGHT}` }),
      svg("text", { class: "tick row", x: LEFT - 6, y: y + 4 }, text),
    ]),
    columns.map(([x, text]) =>
      svg("text", { class: "tick column", x, y: HEIGHT - BOTTOM + 16 }, text),
    ),
    svg("text", { class: "tick column", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4 }, axis),
    contents,
  );
}
