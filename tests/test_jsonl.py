"""Reading JSON Lines. The format itself is tested beside the engine's reader."""

import asyncio
import gzip
import json
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diglot import (
    AbortedError,
    DiglotError,
    FormatError,
    InMemoryTranslationMemoryStore,
    InvalidTypeError,
    InvalidValueError,
    TranslationMemory,
    TranslationMemoryEntry,
)

EXAMPLE = Path(__file__).parents[1] / "examples" / "memory.jsonl"

Read = Callable[..., TranslationMemory]


def read_async(path: Any, **options: Any) -> TranslationMemory:
    return asyncio.run(InMemoryTranslationMemoryStore.from_jsonl(path, **options)).memory


@pytest.fixture(params=[TranslationMemory.from_jsonl, read_async], ids=["sync", "async"])
def read(request: pytest.FixtureRequest) -> Read:
    return request.param


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes long enough to read for several calls of progress."""
    path = tmp_path_factory.mktemp("large") / "large.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(60_000):
            text = f"Sentence number {number} of a file that is long enough."
            file.write(json.dumps({"source": text, "target": text, "notes": "x" * 200}) + "\n")
    return path


def test_a_file_holds_what_from_dict_makes_of_its_lines(read: Read) -> None:
    memory = read(EXAMPLE)
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    assert list(memory) == [TranslationMemoryEntry.from_dict(json.loads(line)) for line in lines]
    assert memory.search("This cannot be undone.")[0].score == 1


def test_the_example_is_rich_enough() -> None:
    memory = TranslationMemory.from_jsonl(EXAMPLE)
    pairs = [(entry.source_language, entry.target_language) for entry in memory]
    assert set(pairs) == {("en", "ko"), ("en", "ja"), ("en", "zh-CN"), ("zh-CN", "en")}
    assert len(pairs) >= 60


def test_compressed_files_are_known_by_their_contents(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "memory.txt"
    path.write_bytes(gzip.compress(EXAMPLE.read_bytes()))
    assert list(read(str(path))) == list(read(EXAMPLE))


@pytest.mark.parametrize(
    "number", [12345678901234567890123456789, -(2**64), 0.1, 1e300, -0.0, 2.0, 5e-324], ids=repr
)
def test_numbers_in_metadata_come_back_as_they_were(
    read: Read, tmp_path: Path, number: float
) -> None:
    path = tmp_path / "memory.jsonl"
    metadata = {"number": number, "nested": [{"a": None}, True, '\u20ac😀\\"\n']}
    path.write_text(json.dumps({"source": "a", "target": "b", "metadata": metadata}))
    (entry,) = read(path)
    assert entry.metadata == metadata
    assert type(entry.metadata["number"]) is type(number)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('{"source": "a"}', "target"),
        ('{"source": "a", "target": 1}', "target"),
        ('{"source": " ", "target": "b"}', "source"),
        ('{"source": "a", "target": "b", "createdAt": false}', "created_at"),
        ('{"source": "a", "target": "b", "metadata": {"a": 1e999}}', "metadata"),
        ('{"source": "a", "target": "b", "colour": "red"}', None),
        ("not JSON", None),
        ("\udcff", None),
    ],
)
def test_errors_say_where(read: Read, tmp_path: Path, line: str, field: str | None) -> None:
    path = tmp_path / "memory.jsonl"
    text = f'{{"source": "a", "target": "b"}}\n\n{line}\n'
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FormatError) as caught:
        read(path)
    error = caught.value
    assert isinstance(error, DiglotError)
    assert isinstance(error, ValueError)
    assert error.code == "invalid_format"
    assert (error.path, error.line, error.field) == (str(path), 3, field)
    assert str(error).startswith(f"{path}, line 3: ")
    assert field is None or field in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (FormatError, str(error), vars(error))


OPTIONAL = {
    "source_language": "sourceLanguage",
    "target_language": "targetLanguage",
    "domain": "domain",
    "namespace": "namespace",
    "source_id": "sourceId",
    "created_at": "createdAt",
    "notes": "notes",
}
CHARACTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from(' \t\u3000"\\')
TEXTS = st.text(CHARACTERS, max_size=8)


def values(**floats: bool) -> st.SearchStrategy[Any]:
    return st.recursive(
        TEXTS | st.none() | st.booleans() | st.integers() | st.floats(**floats),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=8,
    )


METADATA = st.dictionaries(TEXTS, values(allow_nan=False, allow_infinity=False), max_size=3)
ENTRIES, CAMEL_CASE_ENTRIES = (
    st.fixed_dictionaries(
        {"source": TEXTS.map("a{}".format), "target": TEXTS.map("{}b".format)},
        optional=dict.fromkeys(names, TEXTS | st.none()) | {"metadata": METADATA | st.none()},
    )
    for names in (OPTIONAL.keys(), OPTIONAL.values())
)
# What may be no entry, in any of the ways that JSON allows.
OBJECTS = st.dictionaries(
    st.sampled_from(["source", "target", "metadata", "other", *OPTIONAL, *OPTIONAL.values()]),
    values(),
)
LINES = st.builds(
    list.__add__,
    st.lists(ENTRIES | CAMEL_CASE_ENTRIES, max_size=5),
    st.just([]) | OBJECTS.map(lambda line: [line]),
)


@given(lines=LINES, escaped=st.booleans(), packed=st.booleans())
def test_lines_are_read_as_json_and_from_dict_read_them(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[dict[str, Any]],
    escaped: bool,
    packed: bool,
) -> None:
    def refuse(constant: str) -> None:
        raise InvalidValueError(f"{constant} is no JSON")

    text = "\n".join(json.dumps(line, ensure_ascii=escaped) for line in lines)
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    expected = []
    for number, line in enumerate(text.split("\n") if text else [], start=1):
        try:
            values = json.loads(line, parse_constant=refuse)
            expected.append(TranslationMemoryEntry.from_dict(values))
        except DiglotError:
            with pytest.raises(FormatError) as caught:
                TranslationMemory.from_jsonl(path)
            assert caught.value.line == number
            return
    assert list(TranslationMemory.from_jsonl(path)) == expected


def test_damaged_files_are_refused(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl.gz"
    path.write_bytes(gzip.compress(EXAMPLE.read_bytes())[:-10])
    with pytest.raises(FormatError, match="the compressed data is damaged or ends too early"):
        read(path)


def test_what_the_system_refuses_is_an_os_error(read: Read, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        read(tmp_path / "missing.jsonl")
    assert caught.value.filename == str(tmp_path / "missing.jsonl")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)


@pytest.mark.parametrize(
    ("path", "options"),
    [(5, {}), (b"x", {}), (EXAMPLE, {"progress": 5}), (EXAMPLE, {"signal": 5})],
)
def test_wrong_types(read: Read, path: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidTypeError):
        read(path, **options)


def test_progress_goes_up_to_the_end(read: Read, large: Path) -> None:
    heard: list[tuple[int, int | None, int]] = []
    memory = read(large, progress=lambda *now: heard.append(now))
    size = large.stat().st_size
    assert heard[-1] == (size, size, len(memory)) == (size, size, 60_000)
    assert heard == sorted(heard)
    assert len(heard) >= 2


def test_what_progress_raises_comes_out(read: Read, large: Path) -> None:
    class StopError(Exception):
        pass

    calls = 0

    def progress(*_: object) -> None:
        nonlocal calls
        calls += 1
        raise StopError

    with pytest.raises(StopError):
        read(large, progress=progress)
    assert calls == 1


def test_a_signal_stops_the_reading(read: Read, large: Path) -> None:
    signal = threading.Event()
    signal.set()
    with pytest.raises(AbortedError):
        read(large, signal=signal)
    signal.clear()
    with pytest.raises(AbortedError):
        read(large, signal=signal, progress=lambda *_: signal.set())


def test_cancelling_stops_the_reading(large: Path) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        cancelled = threading.Event()

        def progress(*_: int) -> None:
            loop.call_soon_threadsafe(task.cancel)
            # Nothing is read before that has come to the task.
            assert cancelled.wait(timeout=60)

        task = asyncio.create_task(
            InMemoryTranslationMemoryStore.from_jsonl(large, progress=progress)
        )
        task.add_done_callback(lambda _: cancelled.set())
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_the_loop_runs_while_a_file_is_read(large: Path) -> None:
    async def main() -> None:
        ticks = 0
        reading = asyncio.create_task(InMemoryTranslationMemoryStore.from_jsonl(large))
        while not reading.done():
            ticks += 1
            await asyncio.sleep(0)
        assert len(await reading) == 60_000
        # A loop that is held up until the file is read turns a few times at the most.
        assert ticks > 100

    asyncio.run(main())
