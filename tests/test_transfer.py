"""Files into memories and out of them: reports, policies, dry runs, what is stopped."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from diglot import (
    InMemoryTranslationMemoryStore,
    TranslationMemory,
    TranslationMemoryEntry,
)
from diglot.errors import AbortedError, FormatError, InvalidTypeError, InvalidValueError
from diglot.stores.sqlite import SqliteTranslationMemory, SqliteTranslationMemoryStore

KINDS = ["memory", "sqlite"]
UNITS = [
    ("Save", "저장", "ko", "20240101T000000Z"),
    ("Save", "保存", "ja", "20240101T000000Z"),
    ("Open", "열기", "ko", "20240101T000000Z"),
    ("", "열기", "ko", "20240101T000000Z"),
    ("Save", "저장하기", "ko", "20240301T000000Z"),
    ("Save", "저장", "KO", "20240201T000000Z"),
]


def tmx(units, *, srclang="en") -> str:
    body = "".join(
        f'<tu changedate="{date}"><tuv xml:lang="en"><seg>{escape(source)}</seg></tuv>\n'
        f'<tuv xml:lang="{language}"><seg>{escape(target)}</seg></tuv></tu>\n'
        for source, target, language, date in units
    )
    header = (
        f'<header creationtool="t" creationtoolversion="1" segtype="sentence" o-tmf="x" '
        f'adminlang="en" srclang="{srclang}" datatype="plaintext"/>'
    )
    return f'<?xml version="1.0"?>\n<tmx version="1.4">{header}\n<body>\n{body}</body></tmx>\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "units.tmx"
    path.write_text(tmx(UNITS), "utf-8")
    return path


@pytest.fixture(params=KINDS)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TranslationMemory]:
    if request.param == "memory":
        yield TranslationMemory()
    else:
        with SqliteTranslationMemory.open(tmp_path / "memory.db") as store:
            yield store


def test_namespaces_that_entries_may_be_in(memory, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    names = ["a", None, "b", "A", "", "c"]
    entries = [TranslationMemoryEntry(f"s{n}", "t", namespace=ns) for n, ns in enumerate(names)]
    path.write_text("".join(json.dumps(entry.to_dict()) + "\n" for entry in entries), "utf-8")

    def left_out(**options) -> tuple[list[tuple[str, str | None]], list[tuple[int, str]]]:
        before = len(memory)
        dry = memory.import_file(path, dry_run=True, **options)
        assert len(memory) == before
        report = memory.import_file(path, **options)
        assert (report.pairs, report.problems) == (dry.pairs, dry.problems)
        added = list(memory)[before:]
        assert report.added == len(added)
        problems = [(problem.line, problem.code) for problem in report.problems]
        return [(entry.source, entry.namespace) for entry in added], problems

    foreign, missing = "foreign_namespace", "missing_namespace"
    assert left_out(namespaces=["a"]) == (
        [("s0", "a"), ("s1", "a")],
        [(3, foreign), (4, foreign), (5, foreign), (6, foreign)],
    )
    assert left_out(namespaces=("b", "", "a")) == (
        [("s0", "a"), ("s2", "b"), ("s4", "")],
        [(2, missing), (4, foreign), (6, foreign)],
    )
    assert left_out(namespaces={"a", "x"}, namespace="x") == (
        [(f"s{n}", "x") for n in range(6)],
        [],
    )
    assert left_out(namespaces=[])[0] == []
    with pytest.raises(FormatError, match=r"line 2: namespace is missing; allowed are") as caught:
        memory.import_file(path, namespaces=["a", "b"], strict=True)
    assert caught.value.line == 2
    with pytest.raises(FormatError, match='line 3: namespace is "b"; allowed are "a"'):
        memory.import_file(path, namespaces=["a"], strict=True)
    long = tmp_path / "long.jsonl"
    long.write_text(json.dumps({"source": "s", "target": "t", "namespace": "n" * 100_000}))
    (problem,) = memory.import_file(long, namespaces=["a"]).problems
    assert problem.code == "foreign_namespace"
    assert len(problem.reason) < 300
    for wrong in ("a", 1, [1], b"a", iter(["a"])):
        with pytest.raises(InvalidTypeError) as type_error:
            memory.import_file(path, namespaces=wrong)
        assert type_error.value.field == "namespaces"
    with pytest.raises(InvalidValueError) as value_error:
        memory.import_file(path, namespaces=["\ud800"])
    assert (value_error.value.code, value_error.value.field) == ("lone_surrogate", "namespaces")


def shown(memory) -> list[str]:
    return [f"{entry.source} {entry.target}" for entry in memory]


def pairs(report) -> dict[str, tuple[int, int, int, int]]:
    return {
        f"{pair.source_language} {pair.target_language}": (
            pair.added,
            pair.duplicate,
            pair.replaced,
            pair.removed,
        )
        for pair in report.pairs
    }


@pytest.mark.parametrize(
    ("policy", "expected", "counts"),
    [
        (
            "keep",
            ["Save 저장", "Save 保存", "Open 열기", "Save 저장하기", "Save 저장"],
            {"en ja": (1, 0, 0, 0), "en ko": (4, 0, 0, 0)},
        ),
        (
            "skip",
            ["Save 저장", "Save 保存", "Open 열기", "Save 저장하기"],
            {"en ja": (1, 0, 0, 0), "en ko": (3, 1, 0, 0)},
        ),
        (
            "replace",
            ["Save 저장", "Save 保存", "Open 열기"],
            {"en ja": (1, 0, 0, 0), "en ko": (2, 0, 2, 0)},
        ),
        (
            "newest",
            ["Save 저장하기", "Save 保存", "Open 열기"],
            {"en ja": (1, 0, 0, 0), "en ko": (2, 1, 1, 0)},
        ),
    ],
)
def test_policies(memory, file: Path, policy, expected, counts) -> None:
    report = memory.import_file(file, duplicates=policy)
    assert shown(memory) == expected
    assert pairs(report) == counts
    assert (report.path, report.format, report.duplicates) == (str(file), "tmx", policy)
    assert (report.units, report.read, report.skipped) == (6, 5, 1)
    [problem] = report.problems
    assert (problem.line, problem.code) == (11, "empty_text")
    assert "source is empty" in problem.reason

    # Once more: what is there is there already.
    again = memory.import_file(file, duplicates=policy)
    if policy == "keep":
        assert (again.added, again.duplicate, again.replaced) == (5, 0, 0)
    elif policy == "replace":
        # Each of the three for Korean takes the place of the one before.
        assert (again.added, again.duplicate, again.replaced) == (0, 2, 3)
    else:
        assert (again.added, again.duplicate, again.replaced) == (0, 5, 0)
        assert shown(memory) == expected


def test_a_dry_run_reports_the_same_and_changes_nothing(memory, file: Path) -> None:
    memory.add(TranslationMemoryEntry("Save", "저장해", "EN", "ko", created_at="2024-02-15"))
    memory.add(TranslationMemoryEntry("Save", "保存", "en", "ja"))
    before = list(memory.items())
    for policy in ("skip", "newest", "replace", "keep"):
        dry = memory.import_file(file, duplicates=policy, dry_run=True)
        assert list(memory.items()) == before
        copy = TranslationMemory(entry for _, entry in before)
        done = copy.import_file(file, duplicates=policy)
        assert dry.dry_run
        assert not done.dry_run
        assert {**dry.to_dict(), "dry_run": False} == done.to_dict()


def test_what_is_only_counted_need_not_fit_into_memory(tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    text = "word " * 20_000
    with file.open("w", encoding="utf-8") as out:
        for number in range(600):
            # Two spellings of a language, of which the rarer comes first.
            language = "EN" if number < 200 else "en"
            entry = {"source": f"{number} {text}", "target": "b", "source_language": language}
            out.write(json.dumps(entry) + "\n")
    script = (
        "import resource, sys\n"
        "from diglot import TranslationMemory\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "seen = []\n"
        "report = TranslationMemory().import_file(\n"
        "    sys.argv[1], dry_run=True, progress=lambda *told: seen.append(told))\n"
        "[pair] = report.pairs\n"
        "assert seen[-1] == (seen[-1][1], seen[-1][1], 600), seen[-1]\n"
        "print(pair.source_language, pair.added)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, timeout=100
    )
    language, added, more = done.stdout.split()
    assert (language, added) == ("en", "600"), done.stderr
    # In KiB, or in bytes on macOS.
    assert int(more) * (1 if sys.platform == "darwin" else 1024) < file.stat().st_size / 3


@pytest.mark.parametrize(
    ("date", "known"),
    [
        ("2024-06-01", True),
        ("2024-06-01T10:15:00+09:00", True),
        ("20240601T011500Z", True),
        ("2024-W23", False),
        ("2024-153", False),
        ("2024-06", False),
        ("2024-06-01T24:00:00", False),
    ],
)
def test_dates_that_are_known(tmp_path: Path, date: str, known: bool) -> None:
    memory = TranslationMemory([TranslationMemoryEntry("a", "undated")])
    path = tmp_path / "dated.jsonl"
    path.write_text(json.dumps({"source": "a", "target": "dated", "created_at": date}))
    report = memory.import_file(path, duplicates="newest")
    assert (report.replaced, report.duplicate) == (int(known), int(not known))


def test_strict_takes_nothing_of_a_file_that_cannot_be_used_entirely(memory, file: Path) -> None:
    with pytest.raises(FormatError, match="line 11: source is empty") as caught:
        memory.import_file(file, strict=True)
    assert (caught.value.path, caught.value.line) == (str(file), 11)
    assert len(memory) == 0
    file.write_text(tmx(UNITS[:3]), "utf-8")
    assert memory.import_file(file, strict=True).added == 3


def test_a_file_that_is_not_well_formed_adds_nothing(memory, file: Path) -> None:
    file.write_text(tmx(UNITS).replace("</body>", "</bod>"), "utf-8")
    with pytest.raises(FormatError, match=r"units\.tmx, line 16"):
        memory.import_file(file)
    assert len(memory) == 0


def test_domain_and_namespace_are_those_given(memory, file: Path) -> None:
    memory.import_file(file, domain="app", namespace="acme")
    assert {(entry.domain, entry.namespace) for entry in memory} == {("app", "acme")}
    # The same texts elsewhere are no duplicates.
    assert memory.import_file(file, domain="app", duplicates="skip").added == 4


def test_many_problems_are_counted_and_the_first_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "bad.tmx"
    path.write_text(tmx([("", "x", "ko", "20240101T000000Z")] * 100_500), "utf-8")
    memory = TranslationMemory()
    report = memory.import_file(path)
    assert (report.skipped, len(report.problems), report.pairs) == (100_500, 100_000, ())
    assert report.problems[-1].line == 5 + 2 * 99_999


def test_progress(memory, tmp_path: Path) -> None:
    path = tmp_path / "large.tmx"
    path.write_text(
        tmx((f"text {number}", "x", "ko", "20240101T000000Z") for number in range(30_000)), "utf-8"
    )
    calls: list[tuple[int, int | None, int]] = []
    memory.import_file(path, progress=lambda *call: calls.append(call))
    size = path.stat().st_size
    assert len(calls) > 1
    assert calls == sorted(calls)
    assert {total for _, total, _ in calls} == {size}
    assert calls[-1] == (size, size, 30_000)

    written: list[tuple[int, int]] = []
    memory.export_file(tmp_path / "out.tmx", progress=lambda *call: written.append(call))
    assert len(written) > 1
    assert written == sorted(written)
    assert written[-1] == (30_000, 30_000)

    def stop(*_: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        memory.import_file(path, progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        memory.export_file(tmp_path / "stopped.tmx", progress=stop)
    assert len(memory) == 30_000
    assert not list(tmp_path.glob("*stopped*"))


def test_what_is_aborted_changes_nothing(memory, file: Path, tmp_path: Path) -> None:
    signal = threading.Event()
    signal.set()
    memory.add(TranslationMemoryEntry("Save", "저장"))
    memory.add(TranslationMemoryEntry("Save", "저장"))
    out = tmp_path / "out.tmx"
    out.write_text("as it was")
    with pytest.raises(AbortedError):
        memory.import_file(file, signal=signal)
    with pytest.raises(AbortedError):
        memory.export_file(out, signal=signal)
    with pytest.raises(AbortedError):
        memory.dedupe(signal=signal)
    # When all is read, or written, but before it is shown.
    late = threading.Event()
    with pytest.raises(AbortedError):
        memory.import_file(file, duplicates="skip", progress=lambda *_: late.set(), signal=late)
    late.clear()
    with pytest.raises(AbortedError):
        memory.import_file(file, progress=lambda *_: late.set(), signal=late)
    late.clear()
    with pytest.raises(AbortedError):
        memory.export_file(out, progress=lambda *_: late.set(), signal=late)
    assert len(memory) == 2
    assert out.read_text() == "as it was"
    assert {path.name for path in tmp_path.iterdir()} <= {
        "units.tmx",
        "out.tmx",
        "memory.db",
        "memory.db-wal",
        "memory.db-shm",
        "memory.db-snapshot",
    }


def test_exports_round_trip_and_filter(memory, file: Path, tmp_path: Path) -> None:
    memory.import_file(file, domain="app")
    memory.import_file(file, namespace="acme")
    out = tmp_path / "out.tmx"
    report = memory.export_file(out)
    assert (report.path, report.format, report.written, report.skipped) == (str(out), "tmx", 10, 0)
    copy = TranslationMemory()
    copy.import_file(out)
    fields = ("source", "target", "source_language", "target_language", "domain", "namespace")
    assert [[getattr(entry, name) for name in fields] for entry in copy] == [
        [getattr(entry, name) for name in fields] for entry in memory
    ]
    for filters, count in [
        ({"target_language": "JA"}, 2),
        ({"target_language": "ko", "domain": "app"}, 4),
        ({"namespace": "acme"}, 5),
        ({"source_language": "de"}, 0),
    ]:
        assert memory.export_file(out, **filters).written == count


def test_a_header_names_the_source_language_if_it_is_that_of_all(memory, tmp_path: Path) -> None:
    pairs = [("en", "ko"), ("en", "ja"), ("EN", "de"), ("ko", "en"), (None, "fr")]
    memory.add_many([TranslationMemoryEntry("a", "b", source, target) for source, target in pairs])
    out = tmp_path / "out.tmx"
    for filters, header, written in [
        ({}, "*all*", pairs),
        ({"source_language": "ko"}, "ko", [("ko", "en")]),
        ({"target_language": "ja"}, "en", [("en", "ja")]),
        # A language has one case for a filter, and two for a file.
        ({"source_language": "en"}, "*all*", pairs[:3]),
        ({"target_language": "fr"}, "*all*", [(None, "fr")]),
        ({"domain": "none"}, "*all*", []),
    ]:
        memory.export_file(out, **filters)
        root = etree.parse(out).getroot()
        assert root.find("header").get("srclang") == header
        assert [unit.get("srclang") for unit in root.iter("tu")] == [
            None if source == header else source or "und" for source, _ in written
        ]
        copy = TranslationMemory()
        copy.import_file(out)
        assert [(entry.source_language, entry.target_language) for entry in copy] == written


def test_dedupe(memory) -> None:
    old, new = (
        TranslationMemoryEntry("Save", target, "en", "ko", created_at=date)
        for target, date in [("저장", "2024-01-01"), ("저장하기", "2024-02-01")]
    )
    other = TranslationMemoryEntry("Save", "저장", "en", "ja")
    memory.add_many([old, new, other, old, new])
    for policy, ids in [("skip", {0, 1, 2}), ("replace", {2, 4}), ("newest", {1, 2})]:
        dry = memory.dedupe(policy, dry_run=True)
        assert (dry.dry_run, dry.removed) == (True, 5 - len(ids))
        if policy == "newest":
            assert memory.dedupe(policy).to_dict() == {**dry.to_dict(), "dry_run": False}
            assert {id for id, _ in memory.items()} == ids
    assert memory.dedupe().removed == 0


def test_racing_imports_leave_no_duplicates(memory, file: Path) -> None:
    reports = []

    def work() -> None:
        for _ in range(5):
            reports.append(memory.import_file(file, duplicates="skip"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(report.added for report in reports) == len(memory) == 4
    assert sum(report.duplicate for report in reports) == 4 * 5 * 5 - 4


@pytest.mark.parametrize("kind", KINDS)
def test_the_asynchronous_twins_do_the_same(kind: str, file: Path, tmp_path: Path) -> None:
    async def work() -> None:
        if kind == "memory":
            store = InMemoryTranslationMemoryStore()
        else:
            store = await SqliteTranslationMemoryStore.open(tmp_path / "twin.db")
        expected = TranslationMemory()
        for policy in ("keep", "skip", "replace", "newest"):
            dry = await store.import_file(file, duplicates=policy, dry_run=True)
            done = await store.import_file(file, duplicates=policy)
            assert done == expected.import_file(file, duplicates=policy)
            assert {**dry.to_dict(), "dry_run": False} == done.to_dict()
            assert [entry async for entry in store] == list(expected)
        assert await store.dedupe("skip") == expected.dedupe("skip")
        one, other = tmp_path / "one.tmx", tmp_path / "other.tmx"
        assert (await store.export_file(one)).written == expected.export_file(other).written
        assert one.read_bytes() == other.read_bytes()

        # Other tasks run meanwhile.
        turns = 0

        async def tick() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        await store.import_file(file, duplicates="skip")
        await store.export_file(one)
        ticking.cancel()
        assert turns > 3

        # A task that is cancelled has changed nothing.
        count = len(store)
        task = asyncio.create_task(store.import_file(file, duplicates="skip", namespace="other"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(store) == count
        if kind == "sqlite":
            await store.close()

    asyncio.run(work())


entries = st.builds(
    TranslationMemoryEntry,
    st.sampled_from(["Save", "save", "Open"]),
    st.sampled_from(["x", "y"]),
    target_language=st.sampled_from([None, "ko", "KO"]),
    created_at=st.sampled_from([None, "2024-01-01", "2024-01-01T00:00:00+09:00"]),
)


@given(st.lists(entries, max_size=8), st.lists(st.lists(entries, max_size=8), max_size=4))
def test_a_store_does_what_the_memory_does(tmp_path_factory, first, batches) -> None:
    path = tmp_path_factory.mktemp("stores")
    memory = TranslationMemory(first)
    with SqliteTranslationMemory.open(path / "a.db") as store:
        store.add_many(first)
        for number, batch in enumerate(batches):
            TranslationMemory(batch).export_file(path / "batch.tmx")
            policy = ("skip", "newest", "replace", "keep")[number % 4]
            expected = memory.import_file(path / "batch.tmx", duplicates=policy)
            assert store.import_file(path / "batch.tmx", duplicates=policy) == expected
            assert list(store.items()) == list(memory.items())
        policy = ("skip", "newest", "replace")[len(batches) % 3]
        assert store.dedupe(policy) == memory.dedupe(policy)
        expected = list(memory.items())
    # What is on disk is the same.
    with SqliteTranslationMemory.open(path / "a.db") as store:
        assert list(store.items()) == expected
        store.verify()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"path": 5}, InvalidTypeError, "path must be a str or os.PathLike, not int"),
        ({"format": "xyz"}, InvalidValueError, "xyz"),
        ({"format": 5}, InvalidTypeError, "format must be a str or None, not int"),
        ({"domain": 5}, InvalidTypeError, "domain must be a str or None, not int"),
        ({"namespace": b"a"}, InvalidTypeError, "namespace must be a str or None, not bytes"),
        ({"namespace": "\ud800"}, InvalidValueError, "namespace has a lone surrogate"),
        ({"duplicates": "all"}, InvalidValueError, "allowed are keep, skip, replace, newest"),
        ({"duplicates": None}, InvalidTypeError, "duplicates must be a str"),
        ({"progress": 5}, InvalidTypeError, "progress must be callable"),
        ({"signal": 5}, InvalidTypeError, "signal must be None or have a method"),
        ({"no_such_option": 5}, InvalidValueError, "no_such_option"),
    ],
)
def test_wrong_arguments(file: Path, arguments, error, message) -> None:
    memory = TranslationMemory()
    path = arguments.pop("path", file)
    with pytest.raises(error, match=message):
        memory.import_file(path, **arguments)
    if "duplicates" not in arguments:
        with pytest.raises(error, match=message):
            memory.export_file(path, **arguments)
    assert len(memory) == 0


def test_files_that_are_not_there(memory, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        memory.import_file(tmp_path / "none.tmx")
    with pytest.raises(FileNotFoundError):
        memory.export_file(tmp_path / "none" / "out.tmx")
