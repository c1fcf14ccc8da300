"""A store for LangGraph over a dual-language memory. Needs `diglot[langgraph]`."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count, takewhile
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeVar

from diglot._extras import extra
from diglot.dual import DualLanguageStore, MemoryRecord, SyncDualLanguageMemory, detect_language
from diglot.dual.record import moment
from diglot.errors import InvalidTypeError, InvalidValueError, UnknownRecordError
from diglot.store import WHITE_SPACE, check_integer

with extra("langgraph", "diglot.adapters.langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        validate_op_namespace,
    )

__all__ = ["DualMemoryStore"]

_T = TypeVar("_T")

# An operation is written once, as a generator. It yields calls of the memory's methods, name and
# arguments, and is sent what they return.
_Calls = Generator[tuple[str, tuple[Any, ...], dict[str, Any]], Any, _T]

# What places an item among those of other namespaces, and the item.
_Ranked = tuple[tuple[float, float], SearchItem]

# What records that were put here keep in their metadata, and under which key.
_OURS = "langgraph"
_KEPT = {"value", "derived", "indexed"}

# A character for private use, which no text is like: all records of a namespace have the score 0,
# and so come in order of insertion.
_NOTHING = "\ue000"

# Fields of records that others wrote, which their items' values show.
_SHOWN = (
    "text",
    "text_en",
    "lang",
    "translation_source",
    "translation_status",
    "category",
    "importance",
    "metadata",
)


class DualMemoryStore(BaseStore):
    """A LangGraph store that keeps its items as records of a dual-language memory.

    A search with a query is a recall: across languages where items have an English companion. A
    namespace is kept as its labels with periods between them, so records that others wrote into the
    namespace `docs.zh` are items of `("docs", "zh")`, under their ids as keys.

    The text that an item is found by is what its value has at `fields`; the value as JSON if it has
    nothing there. `text_en` in a value is its English companion. `index=False` keeps an item out of
    searches with a query; a list of paths takes the place of `fields`.

    Values must be what JSON can hold. Searches without a query, and those of equal score, are in
    order of namespaces, then of insertion. Items do not expire: a TTL is refused. The operations of
    a batch are done one by one; those that read see what was before those that write.

    Args:
        memory: The memory, in this process or durable. `batch`, and all that is synchronous, needs
            one with a synchronous twin as its `sync`.
        fields: Paths of texts in values, such as `text` or `content.title`.

    Raises:
        InvalidTypeError: `memory` is no `DualLanguageStore`, or `fields` are no paths.
    """

    supports_ttl = False

    __slots__ = ("_fields", "_memory")

    def __init__(self, memory: DualLanguageStore, *, fields: Sequence[str] = ("text",)) -> None:
        if not callable(getattr(memory, "recall", None)):
            raise InvalidTypeError(
                f"memory must be a DualLanguageStore; {type(memory).__name__} has no method recall",
                field="memory",
            )
        if isinstance(fields, str) or not all(isinstance(field, str) for field in fields):
            raise InvalidTypeError("fields must be a sequence of str", field="fields")
        self._memory = memory
        self._fields = tuple(fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does operations, one by one, in this thread.

        Raises:
            InvalidTypeError: The memory has no synchronous twin, or a value is not what JSON can
                hold.
            InvalidNamespaceError: A namespace is not allowed.
            NotImplementedError: An item is to expire.
        """
        memory: SyncDualLanguageMemory | None = getattr(self._memory, "sync", None)
        if memory is None:
            raise InvalidTypeError(
                f"{type(self._memory).__name__} has no synchronous twin; await the methods whose "
                "names begin with a",
                field="memory",
            )
        calls = self._batch(ops)
        result: Any = None
        failed = False
        while True:
            try:
                name, args, keywords = calls.throw(result) if failed else calls.send(result)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                result, failed = getattr(memory, name)(*args, **keywords), False
            except Exception as error:
                result, failed = error, True

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, for event loops and any memory."""
        calls = self._batch(ops)
        result: Any = None
        failed = False
        while True:
            try:
                name, args, keywords = calls.throw(result) if failed else calls.send(result)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                result, failed = await getattr(self._memory, name)(*args, **keywords), False
            except Exception as error:
                result, failed = error, True

    def _batch(self, ops: Iterable[Op]) -> _Calls[list[Result]]:
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        all_ops = list(ops)
        for op in all_ops:
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                if op.ttl is not None:
                    # LangGraph's own error: `BaseStore.put` raises it where `supports_ttl` is
                    # False, and what is given to `batch` does not come by there.
                    raise NotImplementedError("items do not expire; put them without a ttl")
                puts[op.namespace, op.key] = op
        for op in all_ops:
            result: Result = None
            if isinstance(op, GetOp):
                record = yield from _find(op.namespace, op.key)
                result = None if record is None else _item(record)
            elif isinstance(op, SearchOp):
                result = yield from self._search(op)
            elif isinstance(op, ListNamespacesOp):
                result = yield from _list_namespaces(op)
            results.append(result)
        for put in puts.values():
            yield from self._delete(put) if put.value is None else self._put(put, put.value)
        return results

    def _delete(self, op: PutOp) -> _Calls[None]:
        record = yield from _find(op.namespace, op.key)
        if record is not None:
            # Somebody else may have been faster.
            with suppress(UnknownRecordError):
                yield "remove", (record.id,), {}

    def _put(self, op: PutOp, value: Mapping[str, Any]) -> _Calls[None]:
        fields = self._record_fields(op, value)
        namespace = ".".join(op.namespace)
        new = MemoryRecord(**fields, id=_id(op.namespace, op.key), namespace=namespace)
        while True:
            record = yield from _find(op.namespace, op.key)
            try:
                if record is None:
                    yield "add", (new,), {}
                else:
                    yield "update", (record.id,), fields
                return
            except UnknownRecordError:
                continue  # It was removed just now.
            except InvalidValueError as error:
                if error.code != "duplicate_id":
                    raise
                with suppress(UnknownRecordError):
                    other = yield "get", (new.id,), {}
                    if other.namespace != namespace:
                        # Somebody moved the item's record to another namespace, with its id.
                        raise
                # It was added just now.

    def _record_fields(self, op: PutOp, given: Mapping[str, Any]) -> dict[str, Any]:
        """What a record has of an item."""
        # The checks of metadata say what JSON cannot hold, and where it is.
        value = MemoryRecord("-", metadata=dict(given)).metadata or {}
        paths = self._fields if op.index is None or op.index is False else op.index
        found = [text for path in paths for text in get_text_at_path(value, path)]
        text = "\n".join(found)
        indexed = op.index is not False
        if not text.strip(WHITE_SPACE):
            indexed = indexed and op.index is None
            text = json.dumps(value, ensure_ascii=False)
        text_en = value.get("text_en")
        if not (isinstance(text_en, str) and text_en.strip(WHITE_SPACE)):
            text_en = None
        # What is a field of the record follows it when others change it; the rest is metadata.
        derived = value.get("text") != text
        if not derived:
            del value["text"]
        if text_en is not None:
            del value["text_en"]
        ours = {"value": value, "derived": derived, "indexed": indexed}
        return {
            "text": text,
            "text_en": text_en,
            "lang": detect_language(text),
            "metadata": {_OURS: ours},
        }

    def _search(self, op: SearchOp) -> _Calls[list[SearchItem]]:
        check_integer("limit", op.limit, least=0)
        check_integer("offset", op.offset, least=0)
        prefix = ".".join(op.namespace_prefix)
        within: list[str | None] = [None]
        if prefix:
            names: list[str] = yield "namespaces", (prefix,), {}
            within = [name for name in names if name == prefix or name.startswith(prefix + ".")]
        wanted = op.offset + op.limit
        found: list[_Ranked] = []
        for namespace in within:
            if op.query and op.query.strip(WHITE_SPACE):
                found += yield from _recalled(op, op.query, namespace, wanted)
            else:
                found += yield from _kept(op, namespace, wanted)
        # Each namespace is in order, and the sort is stable.
        found.sort(key=lambda one: one[0])
        return [item for _, item in found[op.offset : wanted]]


def _recalled(
    op: SearchOp, query: str, namespace: str | None, wanted: int
) -> _Calls[list[_Ranked]]:
    """The first items of a namespace, or of all, that answer the query and pass the filter."""
    for limit in _more(wanted):
        result = yield "recall", (query,), {"limit": limit, "namespace": namespace}
        found: list[_Ranked] = []
        for hit in result.hits:
            item = _search_item(hit.record, hit.score)
            if _is_indexed(hit.record) and _passes(item.value, op.filter):
                # As the memory itself orders: those that contain the query come first.
                kinds = [match.kind for match in hit.matches if match.field == "text"]
                tier = 2 if "exact" in kinds else 1 if "keyword" in kinds else 0
                found.append(((-tier, -hit.score), item))
        if len(found) >= wanted or len(result.hits) < limit:
            return found[:wanted]
    raise AssertionError("unreachable")


def _kept(op: SearchOp, namespace: str | None, wanted: int) -> _Calls[list[_Ranked]]:
    """The first items of a namespace, or of all, that pass the filter."""
    for limit in _more(wanted):
        options = {"limit": limit, "min_score": 0.0, "namespace": namespace}
        hits = yield "search", (_NOTHING,), options
        items = [_search_item(hit.record, None) for hit in hits]
        found = [item for item in items if _passes(item.value, op.filter)]
        if len(found) >= wanted or len(hits) < limit:
            return [((0, 0), item) for item in found[:wanted]]
    raise AssertionError("unreachable")


def _more(wanted: int) -> Iterable[int]:
    """How many hits to ask for, until enough of them pass a filter."""
    return (max(wanted, 1) << 2 * step for step in count())


def _find(namespace: tuple[str, ...], key: str) -> _Calls[MemoryRecord | None]:
    """The record of an item: one that was put here, or one that another wrote there."""
    for id in (_id(namespace, key), key):
        try:
            record = yield "get", (id,), {}
        except UnknownRecordError:
            continue
        if _namespace(record) == namespace and _key(record) == key:
            return record  # type: ignore[no-any-return]
    return None


def _id(namespace: tuple[str, ...], key: str) -> str:
    return json.dumps([*namespace, key], ensure_ascii=False)


def _namespace(record: MemoryRecord) -> tuple[str, ...]:
    return () if record.namespace is None else tuple(record.namespace.split("."))


def _is_indexed(record: MemoryRecord) -> bool:
    ours = _ours(record)
    return ours is None or ours["indexed"]


def _ours(record: MemoryRecord) -> dict[str, Any] | None:
    """What `_record_fields` put into the metadata; None for a record that another wrote."""
    ours = (record.metadata or {}).get(_OURS)
    return ours if isinstance(ours, dict) and ours.keys() == _KEPT else None


def _own_key(record: MemoryRecord) -> str | None:
    """The key in an id that `_id` made."""
    if not record.id.startswith("["):
        return None
    try:
        *namespace, key = json.loads(record.id)
    except (ValueError, RecursionError):
        return None
    return key if isinstance(key, str) and _namespace(record) == tuple(namespace) else None


def _key(record: MemoryRecord) -> str:
    own = _own_key(record)
    return record.id if own is None else own


def _item(record: MemoryRecord) -> Item:
    return Item(
        value=_value(record),
        key=_key(record),
        namespace=_namespace(record),
        created_at=moment("created_at", record.created_at),
        updated_at=moment("updated_at", record.updated_at),
    )


def _search_item(record: MemoryRecord, score: float | None) -> SearchItem:
    item = _item(record)
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _value(record: MemoryRecord) -> dict[str, Any]:
    ours = _ours(record)
    if ours is None:
        every = record.to_dict()
        return {name: every[name] for name in _SHOWN if name in every}
    value: dict[str, Any] = ours["value"]
    if not ours["derived"]:
        value["text"] = record.text
    if record.text_en is not None:
        value["text_en"] = record.text_en
    return value


def _list_namespaces(op: ListNamespacesOp) -> _Calls[list[tuple[str, ...]]]:
    heads = [
        ".".join(takewhile(lambda label: label != "*", condition.path))
        for condition in op.match_conditions or ()
        if condition.match_type == "prefix"
    ]
    names: list[str] = yield "namespaces", (max(heads, key=len, default=""),), {}
    found = {
        namespace[: op.max_depth]
        for namespace in (tuple(name.split(".")) for name in names)
        if all(_matches(condition, namespace) for condition in op.match_conditions or ())
    }
    return sorted(found)[op.offset : op.offset + op.limit]


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    if condition.match_type == "prefix":
        part = namespace[: len(path)]
    elif condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    else:
        raise InvalidValueError(
            f"match_type is {condition.match_type!r}; it must be 'prefix' or 'suffix'",
            field="match_type",
        )
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": eq,
    "$ne": ne,
    "$gt": gt,
    "$gte": ge,
    "$lt": lt,
    "$lte": le,
}


def _passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(_fits(value.get(name), one) for name, one in (wanted or {}).items())


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a part of a value is as a filter wants it."""
    if isinstance(wanted, Mapping):
        if any(isinstance(name, str) and name.startswith("$") for name in wanted):
            return all(_compares(value, name, other) for name, other in wanted.items())
        return isinstance(value, Mapping) and _passes(value, wanted)
    if isinstance(wanted, (list, tuple)):
        return (
            isinstance(value, list) and len(value) == len(wanted) and all(map(_fits, value, wanted))
        )
    return bool(value == wanted)


def _compares(value: Any, name: str, other: Any) -> bool:
    compare = _COMPARISONS.get(name)
    if compare is None:
        raise InvalidValueError(
            f"{name!r} is not a known operator; allowed are {', '.join(_COMPARISONS)}",
            field="filter",
        )
    try:
        return compare(value, other)
    except TypeError:
        # A number is neither more nor less than a text, or than nothing.
        return False
