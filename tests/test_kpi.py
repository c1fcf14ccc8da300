"""Counting and timing recalls, evaluating labelled queries, and the command that does it."""

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED
from diglot import FormatError, InvalidTypeError, InvalidValueError
from diglot.dual import MemoryRecord, RecallPolicy, RecallResult, SyncDualLanguageMemory
from diglot.kpi import (
    HistogramRecorder,
    KpiRecorder,
    LabelledQuery,
    evaluate,
    read_labelled,
)

RECORDS = [
    MemoryRecord(
        "按下保存按钮以后文件会写到磁盘",
        id="save",
        text_en="The file is written when the save button is hit",
        translation_source="human",
        translation_status="verified",
    ),
    MemoryRecord("打开文件之前要先检查权限", id="open"),
    MemoryRecord("Backups are made every night at two", id="backup"),
]
QUERIES = [
    LabelledQuery("按下保存按钮以后文件会写到", ["save"], kind="same-language"),
    LabelledQuery("written when the save button is hit", ["save"], kind="cross-language"),
    LabelledQuery("怎样储存一份", ["save"], "file is written when the save button", "both"),
    LabelledQuery("check permissions first", ["open"], kind="unreachable"),
]


def result(
    lang="zh", seconds=0.001, fallback=False, reason=None, hits=(), low=False, query_en=None
):
    return RecallResult("q", query_en, lang, tuple(hits), 0.5, low, fallback, reason, (), seconds)


def test_a_memory_counts_its_records_and_recalls():
    memory = SyncDualLanguageMemory(RECORDS)
    memory.recall("按下保存按钮以后文件会写到")
    memory.recall("怎样储存一份", "file is written when the save button")
    memory.recall("完全无关的问题")
    memory.recall("written when the save button is hit")
    memory.recall("EmailPolicy 完全无关的问题")
    memory.recall("Сохранить")
    memory.search("not recorded")
    kpis = memory.kpis()
    assert kpis.records["zh"].to_dict() == {
        "records": 2,
        "with_text_en": 1,
        "text_en_rate": 0.5,
    }
    assert kpis.records["all"].records == 3
    assert kpis.records["mixed"].to_dict()["text_en_rate"] is None
    zh = kpis.queries["zh"]
    assert (zh.queries, zh.with_query_en, zh.fallbacks, zh.fallbacks_missed) == (3, 1, 1, 1)
    assert (zh.empty, zh.low_confidence) == (1, 1)
    assert zh.fallback_rate == pytest.approx(1 / 3)
    assert zh.latency_with_fallback.count == 1
    assert zh.latency_without_fallback.count == 2
    assert [kpis.queries[group].queries for group in ("en", "mixed", "other")] == [1, 1, 1]
    assert kpis.queries["all"].queries == 6
    assert kpis.queries["all"].fallbacks == 3
    (window,) = kpis.windows
    assert window.queries == kpis.queries
    assert json.loads(json.dumps(kpis.to_dict())) == kpis.to_dict()


def test_an_empty_recorder_has_no_rates():
    kpis = SyncDualLanguageMemory().kpis()
    everything = kpis.queries["all"]
    assert everything.fallback_rate is None
    assert everything.latency.p95_ms is None
    assert kpis.windows == ()


def test_mismatches_are_counted_and_the_last_are_kept():
    memory = SyncDualLanguageMemory(
        RECORDS, recorder=HistogramRecorder(mismatches=2, clock=lambda: 0.0)
    )
    for note in ("tense", "number", "name"):
        memory.report_mismatch("save", note)
    kpis = memory.kpis()
    assert kpis.queries["zh"].mismatches == 3
    assert [mismatch.to_dict() for mismatch in kpis.mismatches] == [
        {"id": "save", "at": "1970-01-01T00:00:00Z", "note": note} for note in ("number", "name")
    ]
    with pytest.raises(InvalidValueError, match="no text_en"):
        memory.report_mismatch("open")
    with pytest.raises(InvalidTypeError, match="note"):
        memory.report_mismatch("save", 1)


def test_windows_are_weeks_from_monday_and_the_oldest_go():
    clock = [datetime(2026, 11, 29, 23, 59, tzinfo=timezone.utc).timestamp()]
    recorder = HistogramRecorder(windows=2, clock=lambda: clock[0])
    recorder.record(result())
    clock[0] += 120
    recorder.record(result())
    recorder.record(result("en"))
    windows = recorder.kpis({}).windows
    assert [(window.start, window.queries["all"].queries) for window in windows] == [
        ("2026-11-23T00:00:00Z", 1),
        ("2026-11-30T00:00:00Z", 2),
    ]
    assert windows[0].end == windows[1].start
    clock[0] += timedelta(weeks=5).total_seconds()
    recorder.record(result())
    kpis = recorder.kpis({})
    assert [window.start for window in kpis.windows] == [
        "2026-11-30T00:00:00Z",
        "2027-01-04T00:00:00Z",
    ]
    assert kpis.queries["all"].queries == 4
    clock[0] -= timedelta(weeks=50).total_seconds()
    recorder.record(result())
    assert len(recorder.kpis({}).windows) == 2
    assert recorder.kpis({}).queries["all"].queries == 5


@given(st.lists(st.floats(1e-6, 10), min_size=1, max_size=50), st.data())
def test_percentiles_are_those_of_all_values_within_a_hundredth(seconds, data):
    recorder = HistogramRecorder()
    used = [data.draw(st.booleans()) for _ in seconds]
    for value, fallback in zip(seconds, used, strict=True):
        recorder.record(result(seconds=value, fallback=fallback))
    kpis = recorder.kpis({}).queries["all"]
    for figures, values in (
        (kpis.latency, seconds),
        (kpis.latency_with_fallback, [v for v, u in zip(seconds, used, strict=True) if u]),
        (kpis.latency_without_fallback, [v for v, u in zip(seconds, used, strict=True) if not u]),
    ):
        assert figures.count == len(values)
        if values:
            ordered = sorted(values)
            for at, told in ((50, figures.p50_ms), (95, figures.p95_ms)):
                # A rank that falls between two values may be rounded to either.
                rank = at * len(ordered) / 100
                near = {max(int(rank + half), 1) - 1 for half in (0, 0.5, 0.99)}
                assert any(
                    told
                    == pytest.approx(ordered[min(n, len(ordered) - 1)] * 1e3, rel=0.02, abs=2e-3)
                    for n in near
                )
            assert figures.max_ms == max(values) * 1e3


def test_the_memory_it_takes_is_bounded():
    recorder = HistogramRecorder(windows=3, mismatches=5, clock=iter(range(10**9)).__next__)
    for n in range(5000):
        recorder.record(result(seconds=n * 1e-5, fallback=n % 2 == 0))
        recorder.record_mismatch(RECORDS[0], "note")
    assert len(recorder._windows) <= 3
    assert len(recorder._mismatches) == 5
    many = recorder._total["zh"].with_fallback.histogram
    one = HistogramRecorder()
    one.record(result(fallback=True))
    assert many.counts_len == one._total["zh"].with_fallback.histogram.counts_len


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"window": 7}, InvalidTypeError),
        ({"window": timedelta(0)}, InvalidValueError),
        ({"windows": 0}, InvalidValueError),
        ({"mismatches": -1}, InvalidValueError),
        ({"clock": 5}, InvalidTypeError),
    ],
)
def test_bad_options_of_the_recorder(options, error):
    with pytest.raises(error) as caught:
        HistogramRecorder(**options)
    assert caught.value.field == next(iter(options))


def test_a_recorder_of_ones_own():
    class Mine:
        def __init__(self):
            self.seen = Counter()

        def record(self, result):
            self.seen[result.query] += 1

        def record_mismatch(self, record, note):
            self.seen[record.id, note] += 1

        def kpis(self, records):
            return dict(records)

    mine = Mine()
    assert isinstance(mine, KpiRecorder)
    memory = SyncDualLanguageMemory(RECORDS, recorder=mine)
    memory.recall("保存")
    memory.report_mismatch("save", "no")
    assert mine.seen == {"保存": 1, ("save", "no"): 1}
    assert memory.kpis() == {("zh", True): 1, ("zh", False): 1, ("en", False): 1}


def test_an_evaluation_by_hand():
    memory = SyncDualLanguageMemory(RECORDS)
    counted = []
    evaluation = evaluate(memory, QUERIES, rounds=2, progress=counted.append)
    assert counted == [1, 2, 3, 4]
    assert [one.rank for one in evaluation.outcomes] == [1, 1, 1, None]
    assert [one.rank_alone for one in evaluation.outcomes] == [1, None, None, None]
    assert evaluation.hit_rate(1) == 0.75
    assert evaluation.reachable.hit_rate(1) == 1.0
    assert evaluation.recovery_rate == pytest.approx(2 / 3)
    assert evaluation.reachable.recovery_rate == 1.0
    assert evaluation.fallback_rate == 0.75
    before = sum(not one.alone.hits for one in evaluation.outcomes)
    after = sum(not one.result.hits for one in evaluation.outcomes)
    assert before == 3
    assert evaluation.empty_reduction == (before - after) / before
    figures = evaluation.to_dict()
    assert set(figures["kinds"]) == {"same-language", "cross-language", "both", "unreachable"}
    assert figures["kinds"]["unreachable"]["hit_rate_5"] == 0.0
    assert figures["languages"]["en"]["queries"] == 2
    assert memory.kpis().queries["all"].queries == 0
    off = evaluate(memory, QUERIES, policy=replace(RecallPolicy(), fallback=False))
    assert off.recovery_rate == 0.0
    assert off.fallback_rate == 0.0
    nothing = evaluate(memory, [])
    assert nothing.hit_rate(1) is None
    assert nothing.p95_increase is None
    assert nothing.to_dict()["all"]["p95_ms"] is None


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('{"query": "a"}', "relevant"),
        ('{"relevant": ["a"]}', "query"),
        ('{"query": "", "relevant": ["a"]}', "query"),
        ('{"query": "a", "relevant": []}', "relevant"),
        ('{"query": "a", "relevant": "m-1"}', "relevant"),
        ('{"query": "a", "relevant": [1]}', "relevant"),
        ('{"query": "a", "relevant": ["a"], "kind": 1}', "kind"),
        ('{"query": "a", "relevant": ["a"], "answer": 1}', "answer"),
        ('"query"', None),
    ],
)
def test_labelled_queries_that_are_wrong_are_refused(tmp_path, line, field):
    path = tmp_path / "eval.jsonl"
    path.write_text('{"query": "a", "relevant": ["b"]}\n' + line, "utf-8")
    with pytest.raises(FormatError) as caught:
        read_labelled(path)
    assert (caught.value.line, caught.value.field) == (2, field)
    assert f"{path}:2: " in str(caught.value)


def test_prometheus_metrics():
    prometheus = pytest.importorskip(
        "prometheus_client", reason="diglot[prometheus] is not installed"
    )
    from diglot.kpi.prometheus import KpiCollector

    memory = SyncDualLanguageMemory(RECORDS)
    memory.recall("按下保存按钮以后文件会写到")
    memory.recall("written when the save button is hit")
    registry = prometheus.CollectorRegistry()
    registry.register(KpiCollector(memory))
    assert registry.get_sample_value("diglot_records", {"lang": "zh"}) == 2
    assert registry.get_sample_value("diglot_records_with_text_en", {"lang": "zh"}) == 1
    assert registry.get_sample_value("diglot_recall_queries_total", {"lang": "en"}) == 1
    assert registry.get_sample_value("diglot_recall_fallbacks_total", {"lang": "en"}) == 1
    assert registry.get_sample_value("diglot_recall_fallbacks_total", {"lang": "zh"}) == 0
    labels = {"lang": "en", "fallback": "true", "quantile": "0.95"}
    value = registry.get_sample_value("diglot_recall_latency_seconds", labels)
    assert value == pytest.approx(memory.kpis().queries["en"].latency_with_fallback.p95_ms / 1e3)
    assert "diglot_recall_empty_total" in prometheus.generate_latest(registry).decode()


def command(*arguments, **environment):
    inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(
        [sys.executable, "-m", "diglot", "kpi", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=inherited | environment,
        timeout=100,
    )


def test_only_the_recorder_needs_a_package():
    code = """
import sys
sys.modules["hdrh"] = None
from diglot import DiglotError
from diglot.dual import MemoryRecord, SyncDualLanguageMemory
try:
    SyncDualLanguageMemory()
except DiglotError as error:
    print(error.code, error)

class Recorder:
    def record(self, result):
        print(len(result.hits))

memory = SyncDualLanguageMemory([MemoryRecord("save")], recorder=Recorder())
memory.recall("save")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    said, found = done.stdout.splitlines()
    assert said.startswith("missing_package the recorder of a dual-language memory needs the")
    assert said.endswith("install it with: pip install 'diglot[dual]'")
    assert (found, done.stderr) == ("1", "")


@pytest.fixture
def files(tmp_path):
    pytest.importorskip("rich", reason="diglot[cli] is not installed")
    records, queries = tmp_path / "records.jsonl", tmp_path / "eval.jsonl.gz"
    SyncDualLanguageMemory(RECORDS).to_jsonl(records)
    lines = [
        {"query": q.query, "relevant": sorted(q.relevant), "query_en": q.query_en, "kind": q.kind}
        for q in QUERIES
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    queries.write_bytes(gzip.compress(text.encode()))
    return records, queries


def test_the_command_prints_targets_and_marks_what_misses(files, tmp_path):
    done = command(*files, "--json", tmp_path / "kpi.json", "--rounds", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 records, 1 of them with an English companion; 4 queries" in done.stdout
    (missed,) = [line for line in done.stdout.splitlines() if "Fallback-trigger" in line]
    assert "75.0%" in missed
    assert "MISSED" in missed
    (recovered,) = [line for line in done.stdout.splitlines() if "recovery rate" in line]
    assert "100.0%" in recovered
    assert "ok" in recovered
    report = json.loads((tmp_path / "kpi.json").read_text("utf-8"))
    assert report["evaluation"]["all"]["queries"] == 4
    assert report["evaluation"]["all"]["hit_rate_1"] == 0.75
    met = {target["name"]: target["met"] for target in report["targets"]}
    assert met["Fallback-trigger rate"] is False
    assert met["Cross-language recovery rate"] is True
    assert report["records"]["zh"]["with_text_en"] == 1


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_command_draws(files, tmp_path, suffix):
    pytest.importorskip("matplotlib", reason="diglot[plot] is not installed")
    picture = tmp_path / f"latency.{suffix}"
    done = command(*files, "--plot", picture, "--rounds", "1")
    assert done.returncode == 0, done.stderr
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    assert len(content) > 5000


def test_without_the_extra_it_says_how_to_install_it_before_it_measures(files, tmp_path):
    # What is found first raises what Python raises where nothing is found.
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    (shadow / "matplotlib.py").write_text("raise ModuleNotFoundError(name='matplotlib')")
    path = os.pathsep.join(filter(None, (str(shadow), os.environ.get("PYTHONPATH"))))
    done = command(*files, "--plot", tmp_path / "latency.png", PYTHONPATH=path)
    assert (done.returncode, done.stdout) == (5, "")
    assert "pip install 'diglot[plot]'" in done.stderr


def test_the_command_says_what_is_wrong(files, tmp_path):
    records, queries = files
    for arguments, status, said in (
        ((tmp_path / "none", queries), 3, "No such file"),
        ((queries, queries), 4, "eval.jsonl.gz:1: 'query' is not a known field"),
        ((records, records), 4, "records.jsonl:1: 'id' is not a known field"),
        ((records, queries, "--rounds", "0"), 2, "not a whole number"),
        ((records, queries, "--plot", "latency.txt"), 2, ".png, .svg or .pdf"),
        ((records, queries, "--json", tmp_path / "no" / "kpi.json"), 3, "No such file"),
        ((), 2, "RECORDS"),
    ):
        done = command(*arguments)
        assert done.returncode == status, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_the_command_on_the_labelled_queries(tmp_path):
    pytest.importorskip("rich", reason="diglot[cli] is not installed")
    folder = SHARED / "dual"
    if not folder.is_dir():
        pytest.skip(f"the folder {folder} is missing: no labelled queries to ask")
    path = tmp_path / "kpi.json"
    done = command(folder / "records.jsonl", folder / "eval.jsonl", "--json", path, "--rounds", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "20,000 records, 10,964 of them" in done.stdout
    figures = json.loads(path.read_text("utf-8"))["evaluation"]
    assert figures["all"]["recovery_rate_reachable"] >= 0.9
    assert figures["kinds"]["same-language"]["hit_rate_1"] >= 0.97
