/**
 * Makes elements. A string given as a child becomes text and an attribute is set as one, so nothing
 * that an entry holds is ever read as HTML.
 *
 * `properties` are attributes; `null` and `false` leave one out, `true` sets it without a value. A
 * function is a listener of the event that follows `on`, a `class` may be a list.
 */
export function el(name, properties = {}, ...children) {
  return fill(document.createElement(name), properties, children);
}

/** The same for SVG. */
export function svg(name, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (Array.isArray(value)) {
      element.setAttribute(name, value.filter(Boolean).join(" "));
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  return replaceContent(element, ...children);
}

/** Gives an element other children: nodes, strings, lists of them; `null` is none. */
export function replaceContent(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null));
  return element;
}

let made = 0;

/** An id that no other element has. */
export function newId() {
  made += 1;
  return `made-${made}`;
}
