"""The shapes of requests and answers. Requests are checked against them, and the OpenAPI document
is made of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from diglot.formats import FORMATS
from diglot.server.errors import ErrorDetail
from diglot.store import WHITE_SPACE

__all__ = [
    "MOST_ID",
    "READ",
    "WRITTEN",
    "Added",
    "AddedMany",
    "Batch",
    "BatchHits",
    "Concordance",
    "ConcordanceRequest",
    "Entry",
    "ExportRequest",
    "Facets",
    "FacetsRequest",
    "Format",
    "Health",
    "Hit",
    "Hits",
    "ImportLine",
    "ImportReport",
    "ImportRequest",
    "Kpis",
    "Mismatch",
    "Permissions",
    "RecallAnswer",
    "RecallHit",
    "RecallRequest",
    "Record",
    "RecordBatch",
    "RecordChanges",
    "RecordIds",
    "SearchBatch",
    "SearchRequest",
    "Stats",
    "StoredEntry",
    "StoredRecord",
]

MOST_ID = 2**53 - 1
"""The highest id that an entry may have: JavaScript holds whole numbers up to this one."""

READ = [name for name in FORMATS if name != "text"]
"""The formats of one file that can be read."""

WRITTEN = [name for name in READ if name != "mo"]
"""Those that can be written, too."""

# Control characters and the like are written as escapes.
_BLANK = "".join(f"\\u{ord(character):04x}" for character in WHITE_SPACE)

Text = Annotated[
    str,
    Meta(
        description="At least one character that is not white space.",
        extra_json_schema={"pattern": f"[^{_BLANK}]"},
    ),
]
Time = Annotated[str, Meta(description="ISO 8601.", extra_json_schema={"format": "date-time"})]
Score = Annotated[float, Meta(ge=0, le=1)]
# To JSON Schema, 5.0 is a whole number, too.
Count = Annotated[int, Meta(ge=1)] | Annotated[float, Meta(ge=1, multiple_of=1)]
Id = Annotated[int, Meta(ge=0, le=MOST_ID)]
Metadata = Annotated[dict[str, Any], Meta(description="Anything that JSON can hold.")]


class Entry(Struct, forbid_unknown_fields=True, kw_only=True):
    """A source text with its translation."""

    source: Text
    target: Text
    source_language: str | None = None
    target_language: str | None = None
    domain: str | None = None
    namespace: str | None = None
    source_id: str | None = None
    created_at: str | None = None
    notes: str | None = None
    metadata: Metadata | None = None


class StoredEntry(Struct, kw_only=True):
    """An entry and its id."""

    id: Id
    entry: Entry


class Batch(Struct, forbid_unknown_fields=True):
    """Entries to add, all or none."""

    entries: list[Entry]


class Added(Struct):
    """The id of what was added."""

    id: Id


class AddedMany(Struct):
    """The ids of what was added, in order."""

    ids: list[Id]


class _Filters(Struct, forbid_unknown_fields=True, kw_only=True):
    source_language: str | None = None
    target_language: str | None = None
    domain: str | None = None
    namespace: str | None = None
    max_hits: Count = 5
    min_score: Score = 0.2


class SearchRequest(_Filters, kw_only=True):
    """A text to look up. Languages are compared without regard to case, domain and namespace
    exactly.
    """

    query: Text


class SearchBatch(_Filters, kw_only=True):
    """Texts to look up with the same filters, over one state of the memory."""

    queries: list[Text]


class Hit(Struct, kw_only=True):
    """An entry that is like the query. The score is 1 if the texts are the same but for case, width
    and white space.
    """

    id: Id
    score: Score
    entry: Entry


class Hits(Struct):
    """What was found, best first; among equals in order of insertion."""

    hits: list[Hit]


class BatchHits(Struct):
    """What was found for each query, in order."""

    results: list[Hits]


_Status = Literal["missing", "draft", "verified"]
_Origin = Literal["human", "llm", "none"]


class Record(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A note in the language it was written in, with an English companion if there is one."""

    text: Text
    id: Text | UnsetType = UNSET
    text_en: Text | None = None
    lang: Text | UnsetType = UNSET
    translation_source: _Origin | UnsetType = UNSET
    translation_status: _Status | UnsetType = UNSET
    created_at: Time | UnsetType = UNSET
    updated_at: Time | UnsetType = UNSET
    category: str | None = None
    importance: Score | None = None
    embedding_version: str | None = None
    namespace: str | None = None
    metadata: Metadata | None = None


class StoredRecord(Struct, kw_only=True):
    """A record as it is kept: what was not given is filled in."""

    id: str
    text: str
    lang: str
    translation_source: _Origin
    translation_status: _Status
    created_at: str
    updated_at: str
    text_en: str | None
    category: str | None
    importance: float | None
    embedding_version: str | None
    namespace: str | None
    metadata: Metadata | None


class RecordBatch(Struct, forbid_unknown_fields=True):
    """Records to add, all or none."""

    records: list[Record]


class RecordIds(Struct):
    """The ids of what was added, in order."""

    ids: list[str]


class RecordChanges(Struct, forbid_unknown_fields=True, kw_only=True):
    """The fields of a record that change. A new `text_en` is a draft by a machine unless something
    else is said.
    """

    text: Text | UnsetType = UNSET
    text_en: Text | UnsetType | None = UNSET
    lang: Text | UnsetType = UNSET
    translation_source: _Origin | UnsetType = UNSET
    translation_status: _Status | UnsetType = UNSET
    category: str | UnsetType | None = UNSET
    importance: Score | UnsetType | None = UNSET
    embedding_version: str | UnsetType | None = UNSET
    metadata: Metadata | UnsetType | None = UNSET


class Mismatch(Struct, forbid_unknown_fields=True):
    """A report that a companion does not say what its text says."""

    note: str = ""


class RecallRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """A question to the dual-language memory, and the same in English. A key that may read several
    namespaces names the one to look into.
    """

    query: Text
    query_en: Text | None = None
    limit: Count = 5
    lang: str | None = None
    category: str | None = None
    namespace: str | None = None
    translation_status: _Status | None = None


class RecallMatch(Struct, kw_only=True):
    """How one pass found a record."""

    by: str
    field: Literal["text", "text_en"]
    query: Literal["query", "query_en"]
    kind: Literal["exact", "keyword", "similar"]
    rank: int
    score: Score
    coverage: Score
    strength: Score
    weight: Score


class RecallHit(Struct, kw_only=True):
    """A record that was recalled, and how each pass found it, best first."""

    score: float
    record: StoredRecord
    matches: list[RecallMatch]


class RecallPass(Struct, kw_only=True):
    """One look at one side of the memory."""

    name: str
    query: str
    hits: int
    top: float
    seconds: float


class RecallAnswer(Struct, kw_only=True):
    """What was recalled, best first, and how sure that is."""

    query: str
    query_en: str | None
    lang: str
    hits: list[RecallHit]
    confidence: float
    low_confidence: bool
    fallback_used: bool
    fallback_reason: Literal["low_score", "few_hits"] | None
    passes: list[RecallPass]
    seconds: float


class ImportRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """How to read a file. Its format, if it is not given, is what its name or its first bytes
    tell. `docs/formats.md` says which formats have use for the other options.
    """

    filename: str = ""
    format: Annotated[str, Meta(extra_json_schema={"enum": READ})] | None = None
    domain: str | None = None
    namespace: str | None = None
    duplicates: Annotated[
        Literal["keep", "skip", "replace", "newest"],
        Meta(description="Others than `keep` need the right to read, too."),
    ] = "keep"
    strict: bool = False
    dry_run: bool = False
    source_language: str | None = None
    target_language: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    fuzzy: bool | None = None


class Outcome(Struct, kw_only=True):
    """What became of the entries with a pair of languages."""

    source_language: str | None
    target_language: str | None
    added: int
    duplicate: int
    replaced: int
    removed: int


class Problem(Struct, kw_only=True):
    """Something that was left out, where it is and why."""

    line: int
    unit: str | None
    code: str
    reason: str


class ImportReport(Struct, kw_only=True):
    """What an import did, or a dry run would have done. `path` is the `filename` that was given;
    `problems` are the first thousand.
    """

    path: str
    format: str
    duplicates: str
    dry_run: bool
    units: int
    read: int
    added: int
    duplicate: int
    replaced: int
    removed: int
    skipped: int
    pairs: list[Outcome]
    problems: list[Problem]


class Progress(Struct, kw_only=True):
    """How much of a file was read."""

    bytes_read: int
    bytes_total: int | None
    entries: int


class ImportLine(Struct, kw_only=True, omit_defaults=True):
    """One of: the progress of an import, again and again; in the end its report, or an error."""

    progress: Progress | UnsetType = UNSET
    report: ImportReport | UnsetType = UNSET
    error: ErrorDetail | UnsetType = UNSET


class ExportRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """Which entries to write, and how. A key that may read several namespaces names one."""

    format: Annotated[str, Meta(extra_json_schema={"enum": WRITTEN})]
    source_language: str | None = None
    target_language: str | None = None
    domain: str | None = None
    namespace: str | None = None


class Format(Struct, kw_only=True):
    """A format of files, and how their names end, the usual ending first."""

    name: str
    endings: list[str]


class Permissions(Struct, kw_only=True):
    """What the key of the request may do. `null` stands for all namespaces."""

    name: str | None
    read: list[str] | None
    write: list[str] | None
    admin: bool


class ConcordanceRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """A text that entries contain, but for case and for the length of runs of white space."""

    text: Annotated[Text, Meta(max_length=1000)]
    side: Literal["source", "target", "both"] = "both"
    source_language: str | None = None
    target_language: str | None = None
    domain: str | None = None
    namespace: str | None = None
    limit: Count = 20
    after: (
        Annotated[Id, Meta(description="The last result's `next`, to go on after it.")] | None
    ) = None


class Concordance(Struct, kw_only=True):
    """What was found. `next` goes on; it is null if there is no more."""

    entries: list[StoredEntry]
    next: Id | None


class FacetsRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """Which entries to count."""

    namespace: str | None = None


class Facet(Struct, kw_only=True):
    """How many entries have a value; null are those that have none."""

    value: str | None
    entries: int


class Facets(Struct, kw_only=True):
    """How many entries there are that the key may read, in all and by some fields: the most
    frequent values first, a thousand at the most.
    """

    entries: int
    source_languages: list[Facet]
    target_languages: list[Facet]
    domains: list[Facet]
    namespaces: list[Facet]


class Stats(Struct, kw_only=True):
    """Counts and sizes of the memories. `rows` are the distinct sources of each segment, removed
    ones too; `bytes` those in use, by what for.
    """

    entries: int
    records: int
    rows: int
    segments: int
    live: int
    removed: int
    bytes: dict[str, int]


class Latency(Struct, kw_only=True):
    """How long the requests of one operation took, in milliseconds, to about a tenth; by status
    class how many there were. `buckets` counts those that took at most so many milliseconds and
    more than the one before.
    """

    count: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    buckets: list[tuple[float, int]]


class Kpis(Struct, kw_only=True):
    """The figures of the dual-language memory, as `docs/kpi.md` defines them, and of the requests
    since the memories were read, by operation.
    """

    recall: dict[str, Any]
    requests: dict[str, Latency]


class Health(Struct):
    """The server's state."""

    status: Literal["ok", "ready"]
