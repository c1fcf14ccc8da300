"""What a dual-language memory holds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field, fields
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from diglot.errors import InvalidTypeError, InvalidValueError
from diglot.model import TranslationMemoryEntry, name_table, snake_case_keys
from diglot.store import WHITE_SPACE, check_score

if TYPE_CHECKING:
    from diglot._engine import _Row

__all__ = ["MemoryRecord", "TranslationSource", "TranslationStatus", "detect_language"]

TranslationSource = Literal["human", "llm", "none"]
TranslationStatus = Literal["missing", "draft", "verified"]

SOURCES: tuple[TranslationSource, ...] = ("human", "llm", "none")
STATUSES: tuple[TranslationStatus, ...] = ("missing", "draft", "verified")

# Scripts of one language, or nearly so. Kana is looked for before Han, which Japanese has, too.
_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")),
    ("ko", re.compile(r"[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")),
    ("zh", re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")),
)
_ASCII = re.compile("[A-Za-z]")
# One letter alone is a variable, a size or a vitamin rather than English.
_ENGLISH = re.compile("[A-Za-z]{2}")
_LETTER = re.compile(r"[^\W\d_]")

# Characters that tell the language of a text; more of them say the same.
_TELLING = 2000


def detect_language(text: str) -> str:
    """The language that the letters of a text suggest: `zh`, `en`, `mixed` (Chinese with Latin
    words in it), `ja`, `ko`, or `und` for what letters alone do not tell.

    Only scripts are looked at, of the first 2,000 characters: any text in unaccented Latin letters
    counts as English. Declare the language of others.

    Raises:
        InvalidTypeError: `text` is no `str`.
    """
    if not isinstance(text, str):
        raise InvalidTypeError(f"text must be a str, not {type(text).__name__}", field="text")
    text = text[:_TELLING]
    if text.isascii():
        return "en" if _ASCII.search(text) else "und"
    for language, script in _SCRIPTS:
        if script.search(text):
            return "mixed" if language == "zh" and _ENGLISH.search(text) else language
    letters = len(_LETTER.findall(text))
    # Loan words and names have an accent here and there.
    return "en" if letters and len(_ASCII.findall(text)) >= 0.9 * letters else "und"


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One note in the language it was written in, with an English companion if there is one.

    A record is checked when it is made. What is not given is filled in.

    Attributes:
        text: The note itself. It needs at least one character that is not white space.
        id: What it is known by in its memory; made if not given.
        text_en: Its English companion.
        lang: Language tag of `text`; `detect_language` tells it if not given.
        translation_source: Who made the companion: `human` or `llm`; `none` without one. A
            companion of which this is not said counts as made by a machine.
        translation_status: `draft` or `verified`; `missing` without a companion. A companion of
            which this is not said is a draft.
        created_at: When it was made, in ISO 8601; now if not given.
        updated_at: When it was last changed, in ISO 8601; `created_at` if not given.
        category: What kind of note it is.
        importance: From 0 to 1.
        embedding_version: What an embedding of it, kept elsewhere, was made with.
        namespace: The tenant, project or agent that it belongs to.
        metadata: Anything that JSON can hold, under `str` keys. The record keeps a copy.

    Raises:
        InvalidTypeError: A field has a wrong type.
        InvalidValueError: A text is empty (`empty_text`) or not valid Unicode (`lone_surrogate`), a
            value is not allowed, or `text_en`, `translation_source` and `translation_status` do
            not agree (`inconsistent_fields`).
    """

    text: str
    _: KW_ONLY
    id: str = None  # type: ignore[assignment]
    text_en: str | None = None
    lang: str = None  # type: ignore[assignment]
    translation_source: TranslationSource = None  # type: ignore[assignment]
    translation_status: TranslationStatus = None  # type: ignore[assignment]
    created_at: str = None  # type: ignore[assignment]
    updated_at: str = None  # type: ignore[assignment]
    category: str | None = None
    importance: float | None = None
    embedding_version: str | None = None
    namespace: str | None = None
    metadata: dict[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        fill = object.__setattr__
        check_text("text", self.text)
        if self.text_en is not None:
            check_text("text_en", self.text_en)
        if self.id is None:
            fill(self, "id", uuid4().hex)
        if self.lang is None:
            fill(self, "lang", detect_language(self.text))
        if self.translation_source is None:
            fill(self, "translation_source", "none" if self.text_en is None else "llm")
        if self.translation_status is None:
            fill(self, "translation_status", "missing" if self.text_en is None else "draft")
        for name in ("created_at", "updated_at"):
            if getattr(self, name) is not None:
                moment(name, getattr(self, name))
        if self.created_at is None:
            fill(self, "created_at", now() if self.updated_at is None else self.updated_at)
        if self.updated_at is None:
            fill(self, "updated_at", self.created_at)
        if self.importance is not None:
            fill(self, "importance", check_score("importance", self.importance))
        for name in ("id", "lang"):
            check_text(name, getattr(self, name))
        for name in ("category", "embedding_version", "namespace"):
            if getattr(self, name) is not None:
                check_str(name, getattr(self, name))
        check_choice("translation_source", self.translation_source, SOURCES)
        check_choice("translation_status", self.translation_status, STATUSES)
        self._check_agreement()
        if self.metadata is not None:
            # An entry checks and copies metadata, so that both kinds of memory allow the same.
            checked = TranslationMemoryEntry("-", "-", metadata=self.metadata)
            fill(self, "metadata", checked.metadata)

    def _check_agreement(self) -> None:
        source, status = self.translation_source, self.translation_status
        if self.text_en is None and (source, status) != ("none", "missing"):
            name, value = (
                ("translation_status", status)
                if status != "missing"
                else ("translation_source", source)
            )
            expected = "missing" if name == "translation_status" else "none"
            raise InvalidValueError(
                f"{name} is {value!r} without text_en; it must be {expected!r}",
                code="inconsistent_fields",
                field=name,
            )
        if self.text_en is not None and status == "missing":
            raise InvalidValueError(
                "translation_status is 'missing' with a text_en; it must be 'draft' or 'verified'",
                code="inconsistent_fields",
                field="translation_status",
            )
        if self.text_en is not None and source == "none":
            raise InvalidValueError(
                "translation_source is 'none' with a text_en; it must be 'human' or 'llm'",
                code="inconsistent_fields",
                field="translation_source",
            )

    @property
    def english(self) -> str | None:
        """The record in English: its companion, or the text itself of an English record."""
        if self.text_en is not None:
            return self.text_en
        return self.text if is_english(self.lang) else None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> MemoryRecord:
        """Makes a record from a mapping with snake_case (`text_en`) or camelCase (`textEn`) keys.

        Raises:
            InvalidTypeError: `values` is no mapping, or a field has a wrong type.
            InvalidValueError: A key is unknown (`unknown_field`), `text` is missing
                (`missing_field`), a field is given under both names, or has a value that is not
                allowed.
        """
        if not isinstance(values, Mapping):
            raise InvalidTypeError(
                f"a record must be made from a mapping, not {type(values).__name__}",
                field="values",
            )
        arguments = snake_case_keys(values, _KEYS)
        if "text" not in arguments:
            raise InvalidValueError("text is missing", code="missing_field", field="text")
        return cls(**arguments)

    def to_dict(self) -> dict[str, Any]:
        """The fields that are not None, under their snake_case names, the id first. The metadata is
        a copy.
        """
        values = {"id": self.id, **{name: getattr(self, name) for name in RECORD_FIELDS}}
        values["metadata"] = deepcopy(self.metadata)
        return {name: value for name, value in values.items() if value is not None}


RECORD_FIELDS = tuple(field.name for field in fields(MemoryRecord))
_KEYS = name_table(RECORD_FIELDS)


def is_english(lang: str) -> bool:
    """Whether a language tag is `en`, or `en` with a region or script."""
    return lang[:2].lower() == "en" and lang[2:3] in {"", "-", "_"}


def check_str(name: str, value: Any) -> None:
    """Raises an error that names the field for anything but a `str` that UTF-8 can hold."""
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} must be a str, not {type(value).__name__}", field=name)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            message = (
                f"{name} has a lone surrogate at character {error.start}; "
                "only text that UTF-8 can hold is allowed"
            )
            raise InvalidValueError(message, code="lone_surrogate", field=name) from None


def check_text(name: str, value: Any) -> None:
    """As `check_str`, and `empty_text` for white space."""
    check_str(name, value)
    if not value.strip(WHITE_SPACE):
        message = f"{name} is empty; it needs at least one character that is not white space"
        raise InvalidValueError(message, code="empty_text", field=name)


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Raises an error that lists what is allowed for anything else."""
    if not isinstance(value, str):
        raise InvalidTypeError(f"{name} must be a str, not {type(value).__name__}", field=name)
    if value not in allowed:
        raise InvalidValueError(
            f"{name} is {value!r}; it must be one of {', '.join(allowed)}", field=name
        )


def now() -> str:
    """The time in ISO 8601, to the microsecond."""
    return _iso(datetime.now(timezone.utc))


def later_than(previous: str) -> str:
    """The time, or just after `previous` where the clock has not passed that yet."""
    return _iso(
        max(datetime.now(timezone.utc), moment("updated_at", previous) + timedelta(microseconds=1))
    )


def _iso(time: datetime) -> str:
    return time.astimezone(timezone.utc).isoformat(timespec="microseconds")[:-6] + "Z"


def moment(name: str, value: Any) -> datetime:
    """The time that an ISO 8601 text says; in UTC if it does not say.

    Raises:
        InvalidTypeError: It is no `str`.
        InvalidValueError: It is not such a text.
    """
    check_str(name, value)
    try:
        time = datetime.fromisoformat(value[:-1] + "+00:00" if value[-1:] in "Zz" else value)
    except ValueError:
        raise InvalidValueError(
            f"{name} is {value!r}; it must be a time in ISO 8601, such as 2026-01-31T12:00:00Z",
            field=name,
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


# How a record is kept in the engine: one entry for its text, and one for its English side. Filters
# look at the same fields of both. What the engine has no field for is JSON in the target, which is
# read for records that are returned and not for all that are compared.


def text_entry(record: MemoryRecord) -> TranslationMemoryEntry:
    """The entry for a record's text. It holds the whole record."""
    more = (
        record.translation_source,
        record.updated_at,
        record.importance,
        record.embedding_version,
    )
    return TranslationMemoryEntry(
        record.text,
        json.dumps(more, ensure_ascii=False),
        record.lang,
        record.translation_status,
        record.category,
        record.namespace,
        record.id,
        record.created_at,
        record.text_en,
        record.metadata,
    )


def english_row(record: MemoryRecord, number: int) -> _Row:
    """The entry for the English side of a record that has one, under the number of its text, as a
    row of a database.
    """
    assert record.english is not None
    return (
        number,
        record.english,
        # Not looked at, but every entry has a target.
        "-",
        record.lang,
        record.translation_status,
        record.category,
        record.namespace,
        None,
        None,
        record.translation_source,
        None,
    )


_new = object.__new__
_set = {name: MemoryRecord.__dict__[name].__set__ for name in RECORD_FIELDS}


def record_from_entry(entry: TranslationMemoryEntry) -> MemoryRecord:
    """The record that the entry for its text holds."""
    record = _new(MemoryRecord)
    source, updated_at, importance, embedding_version = json.loads(entry.target)
    _set["text"](record, entry.source)
    _set["id"](record, entry.source_id)
    _set["text_en"](record, entry.notes)
    _set["lang"](record, entry.source_language)
    _set["translation_source"](record, source)
    _set["translation_status"](record, entry.target_language)
    _set["created_at"](record, entry.created_at)
    _set["updated_at"](record, updated_at)
    _set["category"](record, entry.domain)
    _set["importance"](record, importance)
    _set["embedding_version"](record, embedding_version)
    _set["namespace"](record, entry.namespace)
    _set["metadata"](record, entry.metadata)
    return record


def record_from_row(row: _Row) -> MemoryRecord:
    """The record that a row of a database holds.

    Raises:
        InvalidTypeError: A value has a wrong type.
        InvalidValueError: A value is not allowed.
    """
    number, text, more, lang, status, category, namespace, id, created_at, text_en, metadata = row
    try:
        source, updated_at, importance, embedding_version = json.loads(more)
        if None in (id, lang, source, status, created_at, updated_at):
            raise TypeError("a field that all records have is missing")
        return MemoryRecord(
            text,
            id=id,  # type: ignore[arg-type]
            text_en=text_en,
            lang=lang,  # type: ignore[arg-type]
            translation_source=source,
            translation_status=status,  # type: ignore[arg-type]
            created_at=created_at,  # type: ignore[arg-type]
            updated_at=updated_at,
            category=category,
            importance=importance,
            embedding_version=embedding_version,
            namespace=namespace,
            metadata=None if metadata is None else json.loads(metadata),
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(f"the entry with the id {number} is no record: {error}") from error
