//! Translation Memory eXchange 1.4b.

mod read;
mod write;

pub(crate) use read::TmxReader;
pub(crate) use write::TmxWriter;

use crate::inline::{Dialect, Element, Foreign, Kind};

/// The type of the property that holds the domain.
const DOMAIN: &str = "x-diglot-domain";

/// The type of the property that holds the namespace.
const NAMESPACE: &str = "x-diglot-namespace";

/// The type of the property that holds what nothing else in a unit can hold: a JSON object.
const REST: &str = "x-diglot";

/// The types of all these properties.
const OURS: [&str; 3] = [DOMAIN, NAMESPACE, REST];

/// The attributes that TMX allows on `tu` and `tuv`, but for those that fields of an entry hold.
const TU_ATTRIBUTES: [&str; 10] = [
    "o-encoding",
    "datatype",
    "usagecount",
    "lastusagedate",
    "creationtool",
    "creationtoolversion",
    "creationid",
    "segtype",
    "changeid",
    "o-tmf",
];
const TUV_ATTRIBUTES: [&str; 11] = [
    "o-encoding",
    "datatype",
    "usagecount",
    "lastusagedate",
    "creationtool",
    "creationtoolversion",
    "creationdate",
    "creationid",
    "changedate",
    "changeid",
    "o-tmf",
];

static DIALECT: Dialect = Dialect {
    elements: &[
        code("bpt", &["i"], &["x", "type"]),
        code("ept", &["i"], &[]),
        code("ph", &[], &["x", "assoc", "type"]),
        code("it", &["pos"], &["x", "type"]),
        code("ut", &[], &["x"]),
        Element { name: "hi", kind: Kind::Span, required: &[], optional: &["x", "type"] },
        Element { name: "sub", kind: Kind::Flow, required: &[], optional: &["datatype", "type"] },
    ],
    values: &[("pos", &["begin", "end"])],
    characters: false,
    foreign: Foreign::Content { attribute: "i", numbered: false },
};

const fn code(
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> Element {
    Element { name, kind: Kind::Code, required, optional }
}

/// Whether a file begins as TMX does.
pub(crate) fn is_likely(head: &[u8]) -> bool {
    crate::xml::has_tag(head, "tmx")
}
