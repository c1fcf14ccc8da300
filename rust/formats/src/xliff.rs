//! XLIFF 1.2 and what there was before it, and XLIFF 2.0 to 2.2.

mod read;
mod write;
mod write1;
mod write2;

pub(crate) use read::XliffReader;
pub(crate) use write1::Xliff1Writer;
pub(crate) use write2::Xliff2Writer;

use crate::inline::{Dialect, Element, Foreign, Kind};

/// The element that holds what nothing else in a unit can hold: a JSON object.
const REST: &str = "diglot:entry";

/// The namespace of that element.
const NAMESPACE: &str = "urn:diglot";

/// The key of the metadata of entries that come from XLIFF 1.
const XLIFF_1: &str = "xliff";

/// The key of the metadata of entries that come from XLIFF 2.
const XLIFF_2: &str = "xliff2";

const YES_NO: &[&str] = &["yes", "no"];

static DIALECT_1: Dialect = Dialect {
    elements: &[
        element("g", Kind::Span, &["id"], &["ctype", "ts", "clone", "xid", "equiv-text"]),
        element("mrk", Kind::Span, &["mtype"], &["mid", "ts", "comment"]),
        element("x", Kind::Empty, &["id"], &["ctype", "ts", "clone", "xid", "equiv-text"]),
        element("bx", Kind::Empty, &["id"], &["rid", "ctype", "ts", "clone", "xid", "equiv-text"]),
        element("ex", Kind::Empty, &["id"], &["rid", "ts", "xid", "equiv-text"]),
        element("ph", Kind::Code, &["id"], &["ctype", "ts", "crc", "assoc", "xid", "equiv-text"]),
        element("it", Kind::Code, &["id", "pos"], &["rid", "ctype", "ts", "crc", "xid", "equiv-text"]),
        element("bpt", Kind::Code, &["id"], &["rid", "ctype", "ts", "crc", "xid", "equiv-text"]),
        element("ept", Kind::Code, &["id"], &["rid", "ts", "crc", "xid", "equiv-text"]),
        element("sub", Kind::Flow, &[], &["datatype", "ctype", "xid"]),
    ],
    values: &[("pos", &["open", "close"]), ("assoc", &["preceding", "following", "both"]), ("clone", YES_NO)],
    characters: false,
    foreign: Foreign::Content { attribute: "id", numbered: true },
};

static DIALECT_2: Dialect = Dialect {
    elements: &[
        element(
            "pc",
            Kind::Span,
            &["id"],
            &[
                "canCopy",
                "canDelete",
                "canOverlap",
                "canReorder",
                "copyOf",
                "dataRefEnd",
                "dataRefStart",
                "dir",
                "dispEnd",
                "dispStart",
                "equivEnd",
                "equivStart",
                "subFlowsEnd",
                "subFlowsStart",
                "subType",
                "type",
            ],
        ),
        element("mrk", Kind::Span, &["id"], &["ref", "translate", "type", "value"]),
        element(
            "ph",
            Kind::Empty,
            &["id"],
            &[
                "canCopy",
                "canDelete",
                "canReorder",
                "copyOf",
                "dataRef",
                "disp",
                "equiv",
                "subFlows",
                "subType",
                "type",
            ],
        ),
        element(
            "sc",
            Kind::Empty,
            &["id"],
            &[
                "canCopy",
                "canDelete",
                "canOverlap",
                "canReorder",
                "copyOf",
                "dataRef",
                "dir",
                "disp",
                "equiv",
                "isolated",
                "subFlows",
                "subType",
                "type",
            ],
        ),
        element(
            "ec",
            Kind::Empty,
            &[],
            &[
                "canCopy",
                "canDelete",
                "canOverlap",
                "canReorder",
                "copyOf",
                "dataRef",
                "dir",
                "disp",
                "equiv",
                "id",
                "isolated",
                "startRef",
                "subFlows",
                "subType",
                "type",
            ],
        ),
        element("sm", Kind::Empty, &["id"], &["ref", "translate", "type", "value"]),
        element("em", Kind::Empty, &["startRef"], &[]),
    ],
    values: &[
        ("canCopy", YES_NO),
        ("canDelete", YES_NO),
        ("canOverlap", YES_NO),
        ("canReorder", &["yes", "no", "firstNo"]),
        ("dir", &["ltr", "rtl", "auto"]),
        ("isolated", YES_NO),
        ("translate", YES_NO),
    ],
    characters: true,
    foreign: Foreign::Attribute,
};

const fn element(
    name: &'static str,
    kind: Kind,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> Element {
    Element { name, kind, required, optional }
}

/// Whether a file begins as XLIFF does.
pub(crate) fn is_likely(head: &[u8]) -> bool {
    crate::xml::has_tag(head, "xliff")
}
