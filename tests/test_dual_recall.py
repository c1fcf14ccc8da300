"""What a recall finds, rule by rule; how passes are merged; and the labelled queries."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED
from diglot import InvalidTypeError, InvalidValueError, normalize, similarity, trigrams
from diglot.dual import (
    DualLanguageMemory,
    MemoryRecord,
    RecallMatch,
    RecallPolicy,
    SyncDualLanguageMemory,
    fuse,
)
from diglot.kpi import evaluate, read_labelled


def record(id, text, text_en=None, source="human", status="verified", **fields):
    if text_en is None:
        return MemoryRecord(text, id=id, **fields)
    return MemoryRecord(
        text,
        id=id,
        text_en=text_en,
        translation_source=source,
        translation_status=status,
        **fields,
    )


def ids(result):
    return [hit.record.id for hit in result.hits]


def names(result):
    return [one.name for one in result.passes]


NOTES = [
    record(
        "save", "按下保存按钮以后文件会写到磁盘", "The file is written when the save button is hit"
    ),
    record("open", "打开文件之前要先检查权限"),
    record("english", "Backups are made every night at two"),
    record("mixed", "使用 EmailPolicy 类来设置默认换行符"),
]


@pytest.fixture(scope="module")
def memory():
    return SyncDualLanguageMemory(NOTES)


def test_a_good_primary_match_is_enough(memory):
    result = memory.recall("按下保存按钮以后文件会写到")
    assert ids(result) == ["save"]
    assert names(result) == ["primary"]
    assert (result.fallback_used, result.fallback_reason) == (False, None)
    assert not result.low_confidence
    assert result.lang == "zh"
    hit = result.hits[0]
    assert (hit.field, hit.query) == ("text", "query")
    (match,) = hit.matches
    assert (match.by, match.rank, match.kind, match.weight) == ("primary", 1, "keyword", 1.0)
    assert match.score == similarity("按下保存按钮以后文件会写到", NOTES[0].text)
    assert match.coverage == 1.0
    assert match.strength == pytest.approx(0.7 + 0.3 * match.score)
    assert result.confidence == match.strength
    assert hit.record == memory.get("save")


def test_a_weak_primary_pass_falls_back_on_the_english_query(memory):
    result = memory.recall("怎样储存一份", "file is written when the save button")
    assert ids(result)[0] == "save"
    assert names(result)[:2] == ["primary", "english"]
    assert result.fallback_used
    assert result.fallback_reason == "few_hits"
    assert (result.hits[0].field, result.hits[0].query) == ("text_en", "query_en")
    assert result.query_en == "file is written when the save button"


@pytest.mark.parametrize("query", ["file is written when the save button", "save button 按钮 file"])
def test_english_and_mixed_queries_serve_as_their_own(memory, query):
    result = memory.recall(query)
    assert result.fallback_used
    assert result.passes[1].query == query
    assert ids(result)[0] == "save"
    assert result.hits[0].query == "query"


def test_a_chinese_query_without_an_english_one_has_no_fallback(memory):
    result = memory.recall("完全无关的问题")
    assert not result.fallback_used
    assert result.fallback_reason == "few_hits"
    assert names(result) == ["primary", "broad-primary"]


def test_english_records_take_part_on_both_sides(memory):
    assert ids(memory.recall("Backups are made every night at"))[0] == "english"
    result = memory.recall("每天夜里都做备份吗", "Backups are made every night")
    assert ids(result)[0] == "english"
    assert result.hits[0].field == "text"
    assert result.hits[0].query == "query_en"
    assert result.hits[0].matches[0].weight == 1.0


def test_a_record_without_a_companion_takes_no_part_in_the_fallback():
    memory = SyncDualLanguageMemory([record("a", "保存按钮")])
    result = memory.recall("save button")
    assert result.fallback_used
    assert result.hits == ()
    assert result.low_confidence
    assert result.confidence == 0.0


def test_an_empty_memory_finds_nothing():
    result = SyncDualLanguageMemory().recall("save", "save")
    assert result.hits == ()
    assert result.low_confidence
    assert names(result) == ["primary", "english", "broad-primary", "broad-english"]


@pytest.mark.parametrize(
    ("policy", "reason", "used"),
    [
        (RecallPolicy(fallback_below=0.5), None, False),
        (RecallPolicy(fallback_below=1.0), "low_score", True),
        (RecallPolicy(fallback_below=0.5, fallback_hits=2), "few_hits", True),
        (RecallPolicy(fallback_below=1.0, fallback=False), "low_score", False),
        (RecallPolicy(fallback_below=0.0, fallback_hits=0), None, False),
    ],
)
def test_why_a_fallback_is_used(memory, policy, reason, used):
    result = memory.recall("按下保存按钮以后文件", "save button", policy=policy)
    assert (result.fallback_reason, result.fallback_used) == (reason, used)


def test_a_poor_recall_looks_further_before_it_returns():
    text = "这是一段很长的说明文字，里面讲了许多许多不同的事情，最后才提到了量子纠缠这个词" * 3
    memory = SyncDualLanguageMemory([record("a", text)])
    narrow = RecallPolicy(broaden=False)
    assert memory.recall("提到了量子纠缠", policy=narrow).hits == ()
    result = memory.recall("提到了量子纠缠", policy=RecallPolicy(broaden_min_score=0.01))
    assert ids(result) == ["a"]
    assert names(result) == ["primary", "broad-primary"]
    assert result.hits[0].matches[0].by == "broad-primary"
    assert result.hits[0].matches[0].kind == "keyword"


def test_looking_further_takes_the_place_of_the_first_look(memory):
    result = memory.recall("按下保存按钮", "the save button of nothing", limit=4)
    assert result.low_confidence
    for hit in result.hits:
        assert len({match.field for match in hit.matches}) == len(hit.matches)
        assert all(match.by.startswith("broad-") for match in hit.matches)


def test_low_confidence_still_carries_the_candidates(memory):
    result = memory.recall("打开窗户之前要先检查")
    assert result.low_confidence
    assert ids(result) == ["open"]
    sure = memory.recall("打开窗户之前要先检查", policy=RecallPolicy(confidence=0.1))
    assert not sure.low_confidence


def test_unverified_and_machine_made_companions_weigh_less():
    companion = "The file is written to disk"
    memory = SyncDualLanguageMemory(
        [
            record("llm-draft", "一", companion, "llm", "draft"),
            record("human-draft", "二", companion, "human", "draft"),
            record("llm-verified", "三", companion, "llm", "verified"),
            record("human-verified", "四", companion, "human", "verified"),
        ]
    )
    result = memory.recall("无", companion)
    assert ids(result) == ["human-verified", "llm-verified", "human-draft", "llm-draft"]
    policy = RecallPolicy()
    assert [hit.matches[0].weight for hit in result.hits] == [
        1.0,
        policy.machine_weight,
        policy.draft_weight,
        policy.machine_weight * policy.draft_weight,
    ]
    even = replace(policy, machine_weight=1.0, draft_weight=1.0)
    assert ids(memory.recall("无", companion, policy=even)) == [
        "llm-draft",
        "human-draft",
        "llm-verified",
        "human-verified",
    ]
    for fusion in ("weighted", "rrf"):
        ordered = ids(memory.recall("无", companion, policy=RecallPolicy(fusion=fusion)))
        assert ordered.index("human-verified") < ordered.index("llm-draft")


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_matches_that_contain_the_query_in_the_original_come_first(fusion):
    memory = SyncDualLanguageMemory(
        [
            record("similar", "保存文件的按钮在工具栏", "save button"),
            record("keyword", "点保存按钮就行"),
            record("exact", "保存按钮"),
        ]
    )
    policy = RecallPolicy(
        fusion=fusion, fallback_below=1.0, fallback_hits=9, min_score=0.1, broaden=False
    )
    result = memory.recall("保存按钮", "save button", policy=policy)
    assert ids(result) == ["exact", "keyword", "similar"]
    assert [hit.matches[0].kind for hit in result.hits[:2]] == ["exact", "keyword"]


def test_a_record_that_both_passes_find_is_one_hit():
    memory = SyncDualLanguageMemory(
        [record("a", "set EmailPolicy 默认值", "set EmailPolicy default")]
    )
    policy = RecallPolicy(fallback_below=1.0, broaden=False)
    result = memory.recall("set EmailPolicy 默认", policy=policy)
    (hit,) = result.hits
    assert {(match.by, match.field) for match in hit.matches} == {
        ("primary", "text"),
        ("english", "text_en"),
    }
    best = max(match.strength * match.weight for match in hit.matches)
    assert hit.score == best
    rrf = memory.recall("set EmailPolicy 默认", policy=replace(policy, fusion="rrf", rrf_k=10))
    assert rrf.hits[0].score == pytest.approx(2 / 11)


def test_filters_hold_in_every_pass():
    memory = SyncDualLanguageMemory(
        [
            record("a", "保存按钮的说明", "all about the save button", category="x", namespace="n"),
            record(
                "b", "保存按钮的说明吧", "all about the save button!", category="y", lang="zh-TW"
            ),
            record("c", "all about the save button?", namespace="n"),
            record("d", "保存按钮的说明书", "all about the save button.", "llm", "draft"),
        ]
    )
    policy = RecallPolicy(fallback_below=1.0, fallback_hits=9)

    def found(**filters):
        return set(
            ids(memory.recall("保存按钮的说明", "about the save button", policy=policy, **filters))
        )

    assert found() == {"a", "b", "c", "d"}
    assert found(category="x") == {"a"}
    assert found(namespace="n") == {"a", "c"}
    assert found(lang="zh-tw") == {"b"}
    assert found(lang="en") == {"c"}
    assert found(translation_status="draft") == {"d"}
    assert found(translation_status="missing") == {"c"}
    assert found(translation_status="verified", category="y") == {"b"}
    assert found(namespace="none") == set()


def test_the_limit_is_kept_and_may_exceed_the_candidates():
    memory = SyncDualLanguageMemory(record(f"{n}", f"第{n}个保存按钮的说明") for n in range(60))
    assert len(memory.recall("个保存按钮的说明", limit=3).hits) == 3
    assert len(memory.recall("个保存按钮的说明", limit=40).hits) == 40
    result = memory.recall("个保存按钮的说明", limit=100)
    assert [hit.record.id for hit in result.hits[:3]] == ["0", "1", "2"]
    assert len(result.hits) == 60


@pytest.mark.parametrize(
    ("arguments", "error", "field"),
    [
        ({"query": " "}, InvalidValueError, "query"),
        ({"query": "\ud800"}, InvalidValueError, "query"),
        ({"query": "a", "query_en": ""}, InvalidValueError, "query_en"),
        ({"query": "a", "query_en": 1}, InvalidTypeError, "query_en"),
        ({"query": "a", "limit": 0}, InvalidValueError, "limit"),
        ({"query": "a", "limit": 1.5}, InvalidTypeError, "limit"),
        ({"query": "a", "policy": {}}, InvalidTypeError, "policy"),
        ({"query": "a", "translation_status": "x"}, InvalidValueError, "translation_status"),
        ({"query": "a", "namespace": 1}, InvalidTypeError, "namespace"),
    ],
)
def test_bad_arguments_are_named_by_both_memories(arguments, error, field):
    memory = DualLanguageMemory()
    with pytest.raises(error) as caught:
        memory.sync.recall(**arguments)
    assert caught.value.field == field
    with pytest.raises(error) as caught:
        asyncio.run(memory.recall(**arguments))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"confidence": 1.1}, InvalidValueError),
        ({"min_score": "0.5"}, InvalidTypeError),
        ({"candidates": 0}, InvalidValueError),
        ({"fallback_hits": -1}, InvalidValueError),
        ({"rrf_k": 1.0}, InvalidTypeError),
        ({"fallback": 1}, InvalidTypeError),
        ({"fusion": "sum"}, InvalidValueError),
    ],
)
def test_policies_are_checked(values, error):
    with pytest.raises(error) as caught:
        RecallPolicy(**values)
    assert caught.value.field == next(iter(values))


def test_results_are_plain_data_when_asked(memory):
    result = memory.recall("怎样储存一份", "file is written when the save button")
    data = result.to_dict()
    assert data["hits"][0]["record"]["id"] == "save"
    assert data["hits"][0]["matches"][0]["field"] == "text_en"
    assert data["passes"][0]["name"] == "primary"
    assert data["fallback_reason"] == "few_hits"
    assert result.seconds >= sum(one.seconds for one in result.passes)


texts = st.text(alphabet="ab好文 .", min_size=1, max_size=12).filter(lambda text: text.strip())


@given(st.lists(texts, min_size=1, max_size=8), texts)
def test_scores_and_coverages_are_what_their_definitions_say(stored, query):
    memory = SyncDualLanguageMemory(record(f"{n}", text) for n, text in enumerate(stored))
    policy = RecallPolicy(min_score=0.01, candidates=50, broaden=False, fallback=False)
    result = memory.recall(query, limit=50, policy=policy)
    found = {hit.record.id: hit.matches[0] for hit in result.hits}
    wanted = Counter(trigrams(query))
    for n, text in enumerate(stored):
        score = similarity(query, text)
        assert (f"{n}" in found) == (score >= 0.01)
        if f"{n}" in found:
            match = found[f"{n}"]
            shared = sum((wanted & Counter(trigrams(text))).values())
            assert match.score == score
            assert match.coverage == shared / sum(wanted.values())
            kind = "similar"
            if normalize(query) in normalize(text):
                kind = "exact" if normalize(query) == normalize(text) else "keyword"
            assert match.kind == kind
    order = [
        (-["similar", "keyword", "exact"].index(m.kind), -m.strength, int(id))
        for id, m in found.items()
    ]
    assert order == sorted(order)


def matches():
    unit = st.sampled_from([0.1, 0.25, 0.5, 0.75, 1.0])
    return st.builds(
        RecallMatch,
        by=st.sampled_from(["primary", "english"]),
        field=st.sampled_from(["text", "text_en"]),
        query=st.sampled_from(["query", "query_en"]),
        kind=st.sampled_from(["exact", "keyword", "similar"]),
        rank=st.integers(1, 9),
        score=unit,
        coverage=unit,
        strength=unit,
        weight=st.sampled_from([1.0, 0.95, 0.9]),
    )


@given(
    st.lists(st.tuples(st.integers(0, 6), matches()), max_size=20),
    st.sampled_from(["weighted", "rrf"]),
    st.randoms(),
)
def test_fusion_does_not_depend_on_the_order_and_keeps_every_record_once(found, fusion, random):
    policy = RecallPolicy(fusion=fusion)
    fused = fuse(found, policy)
    shuffled = list(found)
    random.shuffle(shuffled)
    assert fuse(shuffled, policy) == fused
    assert fuse(iter(found), policy) == fused
    keys = [key for key, _, _ in fused]
    assert sorted(keys) == sorted({key for key, _ in found})
    places = []
    for key, score, merged in fused:
        own = [match for other, match in found if other == key]
        assert Counter(merged) == Counter(own)
        if fusion == "weighted":
            assert score == max(match.strength * match.weight for match in own)
        else:
            expected = sum(match.weight / (60 + match.rank) for match in own)
            assert score == pytest.approx(expected)
        originals = [match.kind for match in own if match.field == "text"]
        tier = 2 if "exact" in originals else 1 if "keyword" in originals else 0
        places.append((-tier, -score, key))
    assert places == sorted(places)


@pytest.fixture(scope="module")
def evaluation():
    folder = SHARED / "dual"
    if not folder.is_dir():
        pytest.skip(f"the folder {folder} is missing: no labelled queries to ask")
    memory = SyncDualLanguageMemory.from_jsonl(folder / "records.jsonl")
    return evaluate(memory, read_labelled(folder / "eval.jsonl"))


def test_the_labelled_queries_are_answered_as_well_as_promised(evaluation):
    same = evaluation.of(lambda query: query.kind == "same-language")
    cross = evaluation.of(lambda query: query.kind in ("cross-language", "both"))
    unreachable = evaluation.of(lambda query: query.kind == "unreachable")
    assert (len(same), len(cross), len(unreachable)) == (870, 577, 53)
    assert same.hit_rate(1) >= 0.97
    assert same.hit_rate(5) >= 0.99
    assert cross.hit_rate(1) >= 0.93
    assert cross.hit_rate(5) >= 0.98
    assert evaluation.reachable.recovery_rate >= 0.9
    assert same.fallback_rate <= 0.05
    assert unreachable.low_confidence_rate >= 0.95
    assert same.low_confidence_rate <= 0.03
    assert evaluation.empty_reduction > 0.15


def test_languages_of_real_queries_are_told(evaluation):
    told = [one.query.lang == one.result.lang for one in evaluation.outcomes]
    assert sum(told) >= 0.99 * len(told)
