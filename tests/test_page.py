"""The page of a real server in a real browser."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from browser import MISSING, browser
from diglot.server.keys import new_key
from serving import Server, serving

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "python/diglot/server/page"
MEMORY = ROOT / "examples/memory.jsonl"

HOSTILE = [
    "<script>window.attacked = 1</script>",
    "<img src=x onerror='window.attacked = 1'>",
    "\"><svg onload='window.attacked = 1'>",
    "{{constructor.constructor('window.attacked = 1')()}} ${window.attacked = 1}",
    "</pre></textarea></title><script>window.attacked = 1</script>",
    "javascript:window.attacked = 1",
    "photo_\u202egnp.exe \u2066\u2067\u200b\ufeff\x00\x1b[31m \U000e0041",
    "<b>bold</b>&lt;&#x3c;script&#x3e;",
]


# A shared machine can be slow at any time, which is no reason for a test to fail.
PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        if found is None:
            pytest.skip(MISSING)
        yield found


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(MEMORY) as server:
        yield server


class Opened:
    """A page in a tab of its own, and what went wrong in it."""

    def __init__(self, context: BrowserContext, server: Server, key: str | None = None) -> None:
        self.server = server
        self.page: Page = context.new_page()
        self.problems: list[str] = []
        self.requested: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.set_default_timeout(PATIENCE)

    def _console(self, message: Any) -> None:
        # Chromium tells of each answer that is an error.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.problems.append(message.text)

    def go(self, address: str = "") -> Page:
        # Another fragment alone would not load the page again.
        self.page.goto("about:blank")
        self.page.goto(f"{self.server.url}/{address}")
        return self.page

    def fetch(self, code: str, *values: Any) -> Any:
        """What a function gives that a module of the page exports: `file.js name`."""
        file, name = code.split()
        script = f"async (values) => (await import('/page/{file}')).{name}(...values)"
        return self.page.evaluate(script, values)


@pytest.fixture
def open_page(chromium: Browser, server: Server) -> Iterator[Callable[..., Opened]]:
    """Opens tabs. After the test, none of them may have had a problem."""
    with ExitStack() as stack:
        tabs: list[Opened] = []

        def open_page(on: Server = server, **options: Any) -> Opened:
            options = {"viewport": {"width": 1280, "height": 900}, "locale": "en-US", **options}
            context = chromium.new_context(**options)
            stack.callback(context.close)
            tabs.append(Opened(context, on))
            return tabs[-1]

        yield open_page
        for tab in tabs:
            assert tab.problems == []
            assert [url for url in tab.requested if not url.startswith(tab.server.url)] == []


@pytest.fixture
def tab(open_page: Callable[..., Opened]) -> Opened:
    return open_page()


def add(server: Server, **fields: Any) -> int:
    with server.client() as client:
        answer = client.post("/api/v1/entries", json=fields)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]


def stored(server: Server, id: int) -> dict[str, Any] | None:
    with server.client() as client:
        answer = client.get(f"/api/v1/entries/{id}")
        return answer.json()["entry"] if answer.status_code == 200 else None


def results(page: Page) -> Any:
    """The results, once they are those of what is typed."""
    return page.locator("#results:not([aria-busy]) .hit")


def until(page: Page, done: Callable[[], bool]) -> None:
    """Lets the browser go on until something has come of it here."""
    while not done():
        page.evaluate("new Promise(requestAnimationFrame)")


# The files


def test_every_file_comes_with_a_policy_that_forbids_all_but_this_server(server: Server) -> None:
    with server.client() as client:
        for file in FOLDER.rglob("*.*"):
            name = file.relative_to(FOLDER).as_posix()
            answer = client.get(f"/page/{name}")
            if file.suffix not in {".css", ".html", ".js", ".svg"} or name == "index.html":
                assert answer.status_code == 404
                continue
            assert answer.content == file.read_bytes()
            check_headers(client, f"/page/{name}", answer)
        check_headers(client, "/", client.get("/"))
        for method, path, status in [("POST", "/", 405), ("GET", "/page/%2e%2e/app.py", 404)]:
            answer = client.request(method, path)
            assert answer.status_code == status
            assert set(answer.json()["error"]) >= {"code", "message"}


def check_headers(client: httpx.Client, path: str, answer: httpx.Response) -> None:
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    head = client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(answer.content))
    again = client.get(path, headers={"if-none-match": f'"x", W/{answer.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    old = client.get(path, headers={"if-none-match": '"x"'})
    assert old.content == answer.content


def test_all_strings_are_there_in_both_languages(tab: Opened) -> None:
    tab.go()
    script = """async (tag) => {
      const strings = (await import(`/page/i18n/${tag}.js`)).default;
      return Object.entries(strings).map(([key, value]) =>
        [key, typeof value === "string" ? value : value(2, "2"), value.length, typeof value]);
    }"""
    english, korean = (tab.page.evaluate(script, tag) for tag in ("en", "ko"))
    assert [(one[0], one[3]) for one in english] == [(one[0], one[3]) for one in korean]
    keys = {key for key, *_ in english}
    for _, text, _, kind in [*english, *korean]:
        assert text.strip() == text != ""
        # What is counted, or named, is told.
        assert kind == "string" or "2" in text
    for key, text, *_ in korean:
        assert re.search("[가-힣]", text) or key in {"tookMs", "milliseconds"}, key
    used = set()
    for file in FOLDER.glob("*.js"):
        text = file.read_text("utf-8")
        used |= set(re.findall(r'\b(?:t|counted)\(\s*"(\w+)"', text))
        unknown = {
            word
            for word in re.findall(r'"([a-z]+[A-Z]\w*)"', text)
            if word not in keys and word not in NOT_STRINGS
        }
        assert not unknown, file.name
    assert used <= keys
    texts = "".join(file.read_text("utf-8") for file in FOLDER.glob("*.js"))
    unused = {key for key in keys if not re.search(rf"\b{key}\b", texts)}
    assert unused == {"searchHint", "searchLabel", "concordanceHint", "concordanceLabel"}


# Words in camel case that are no strings of the page.
NOT_STRINGS = {"viewBox"}


# Search


def test_searches_as_one_types_and_shows_how_texts_differ(tab: Opened) -> None:
    page = tab.go("#search?min=0.5")
    box = page.get_by_label("Text to translate")
    expect(box).to_be_focused()
    page.keyboard.type("Save your changes before you close the app.")
    first = results(page).first
    expect(first.locator(".score")).to_have_text("87%")
    expect(first.locator(".source")).to_have_text(
        "Save your changes before you close the appwindow."
    )
    expect(first.locator(".source del")).to_have_text("app")
    expect(first.locator(".source ins")).to_have_text("window")
    expect(first.locator(".target")).to_have_text("창을 닫기 전에 변경 사항을 저장하세요.")
    expect(first.locator(".about")).to_have_text("en → koappexampleexample/1")
    expect(page.locator(".outcome")).to_contain_text("8 matches")
    expect(page.get_by_role("status").first).to_contain_text("8 matches")
    with tab.server.client() as client:
        query = {"query": box.input_value(), "min_score": 0.5, "max_hits": 10}
        hits = client.post("/api/v1/search", json=query).json()["hits"]
    shown = results(page).locator(".target").all_text_contents()
    assert shown == [hit["entry"]["target"] for hit in hits]

    # What is shown can be kept, and gone back to.
    expect(page).to_have_url(re.compile(r"#search\?q=Save\+your.*app\."))
    page.reload()
    expect(box).to_have_value("Save your changes before you close the app.")
    expect(results(page)).to_have_count(8)
    box.fill("Save your changes before you close the window.")
    expect(results(page).first.locator(".score")).to_have_text("100%")
    expect(results(page).first.locator("ins, del")).to_have_count(0)
    box.fill("zzzzqqqq")
    expect(page.locator(".outcome")).to_contain_text("Nothing is similar enough.")
    expect(results(page)).to_have_count(0)
    box.fill("  ")
    expect(page.locator(".outcome")).to_have_text("")


def test_only_what_is_the_same_is_shown_as_100_percent(tab: Opened) -> None:
    add(tab.server, source="Save the file to disk?!", target="gleich?!", namespace="same")
    with tab.server.client() as client:
        query = {"query": "Save the file to disk?? !", "namespace": "same"}
        [hit] = client.post("/api/v1/search", json=query).json()["hits"]
        assert hit["score"] == 1
    page = tab.go()
    box = page.get_by_label("Text to translate")
    for text, score in {
        "Save the file to disk?? !": "99%",
        " save  the FILE\n to ｄｉｓｋ?! ": "100%",
    }.items():
        box.fill(text)
        hit = results(page).filter(has_text="gleich?!")
        expect(hit.locator(".score")).to_have_text(score)
        assert (hit.locator("ins, del").count() > 0) == (score != "100%")


def test_filters_narrow_what_is_found(tab: Opened) -> None:
    page = tab.go("#search?min=0.5&q=Save your changes before you close the app.")
    expect(results(page)).to_have_count(8)
    page.get_by_label("To", exact=True).fill("KO")
    expect(page.get_by_text("Filters (1 set)")).to_be_visible()
    expect(results(page).locator(".about").first).to_contain_text("en → ko")
    languages = results(page).locator(".about").all_text_contents()
    assert all(text.startswith("en → ko") for text in languages)
    page.get_by_label("At least").select_option("0.8")
    expect(results(page)).to_have_count(1)
    expect(page).to_have_url(re.compile("to=KO&min=0.8"))
    page.reload()
    expect(page.get_by_label("To", exact=True)).to_have_value("KO")
    expect(results(page)).to_have_count(1)
    page.get_by_label("Domain").fill("nothing here")
    expect(results(page)).to_have_count(0)
    page.get_by_role("button", name="Clear filters").click()
    expect(results(page)).to_have_count(5)
    expect(page.get_by_label("Text to translate")).to_be_focused()
    page.get_by_label("At most").select_option("5")
    page.get_by_label("At least").select_option("0.2")
    expect(results(page)).to_have_count(5)


def test_late_answers_never_replace_newer_ones(tab: Opened) -> None:
    page = tab.go()
    held: list[Route] = []
    page.route("**/api/v1/search", lambda route: held.append(route))
    box = page.get_by_label("Text to translate")
    texts = ["Your changes were saved.", "Sign out", "Save your changes before you sign out."]
    for number, text in enumerate(texts, 1):
        box.fill(text)
        until(page, lambda number=number: len(held) == number)
    # The newest is answered first, those before it afterwards, the oldest last.
    for route in reversed(held):
        route.fulfill(response=route.fetch())
        expect(results(page).first.locator(".score")).to_have_text("100%")
        expect(results(page).first.locator(".source")).to_have_text(texts[-1])
    page.unroute("**/api/v1/search")
    box.fill("")
    with page.expect_response("**/api/v1/search"):
        page.keyboard.type("Your changes were saved.")
    expect(results(page).first.locator(".source")).to_have_text("Your changes were saved.")


def test_enter_waits_for_the_results_of_what_was_typed(tab: Opened) -> None:
    page = tab.go("#search?q=Sign out")
    expect(results(page)).not_to_have_count(0)
    held: list[Route] = []
    page.route("**/api/v1/search", lambda route: held.append(route))
    page.get_by_label("Text to translate").fill("Your changes were saved.")
    page.keyboard.press("Enter")
    until(page, lambda: len(held) == 1)
    expect(page.get_by_label("Text to translate")).to_be_focused()
    held[0].continue_()
    expect(results(page).first).to_be_focused()
    expect(results(page).first.locator(".source")).to_have_text("Your changes were saved.")


def test_an_answer_of_another_view_is_not_shown(tab: Opened) -> None:
    page = tab.go()
    held: list[Route] = []
    page.route("**/api/v1/search", lambda one: one.continue_() if held else held.append(one))
    page.get_by_label("Text to translate").fill("Your changes were saved.")
    until(page, lambda: len(held) == 1)
    page.get_by_role("link", name="Figures").click()
    expect(page.get_by_role("heading", name="Figures")).to_be_visible()
    held[0].fulfill(response=held[0].fetch())
    page.get_by_role("link", name="Search").click()
    expect(page.get_by_label("Text to translate")).to_have_value("Your changes were saved.")
    expect(results(page).first.locator(".score")).to_have_text("100%")


def test_concordance_marks_the_text_on_both_sides(tab: Opened) -> None:
    page = tab.go("#concordance?q=SAVE  all")
    expect(results(page)).not_to_have_count(0)
    for hit in results(page).all():
        expect(hit.locator(".source mark").first).to_have_text("Save all")
    page.get_by_label("Text to find").fill("저장")
    expect(results(page).locator(".target mark").first).to_have_text("저장")
    count = results(page).count()
    page.get_by_label("Look in").select_option("source")
    expect(page.locator(".outcome")).to_contain_text("No entry has this text.")
    page.get_by_label("Look in").select_option("target")
    expect(results(page)).to_have_count(count)
    page.get_by_label("To", exact=True).fill("ja")
    expect(results(page)).to_have_count(0)
    page.get_by_label("To", exact=True).fill("")
    # There is more than is shown at a time.
    page.get_by_label("At most").select_option("5")
    expect(page.locator(".outcome")).to_contain_text("The first 5 entries")
    expect(results(page)).to_have_count(5)
    page.get_by_role("button", name="More").click()
    expect(results(page)).to_have_count(count)
    expect(results(page).nth(5)).to_be_focused()
    expect(page.get_by_role("button", name="More")).to_be_hidden()
    # The text comes along to the other kind of search.
    page.get_by_role("link", name="Search").click()
    expect(page.get_by_label("Text to translate")).to_have_value("저장")


# The differences between texts


def pieces(*values: tuple[str, str]) -> list[dict[str, str]]:
    return [{"change": change, "text": text} for change, text in values]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Save the file", "save  The FILE", pieces(("same", "save  The FILE"))),
        ("Ｓａｖｅ", "Save", pieces(("same", "Save"))),
        ("Save \n\t the file", "Save the\r\n\r\nfile", pieces(("same", "Save the\r\n\r\nfile"))),
        # A dictionary would find the word 研究生 in one of them only.
        ("研究生命", "研究生活", pieces(("same", "研究生"), ("removed", "命"), ("added", "活"))),
        (
            "Close the red box.",
            "Close the blue box.",
            pieces(
                ("same", "Close the "), ("removed", "red"), ("added", "blue"), ("same", " box.")
            ),
        ),
        (
            "one two three",
            "four five three",
            pieces(("removed", "one two"), ("added", "four five"), ("same", " three")),
        ),
        ("", "new", pieces(("added", "new"))),
        ("old", "", pieces(("removed", "old"))),
        (
            "关闭窗口前请保存",
            "关闭标签页前请保存",
            pieces(
                ("same", "关闭"), ("removed", "窗口"), ("added", "标签页"), ("same", "前请保存")
            ),
        ),
        (
            "ファイルを保存",
            "ファイルを削除",
            pieces(("same", "ファイルを"), ("removed", "保存"), ("added", "削除")),
        ),
        (
            "บันทึกไฟล์",
            "ลบไฟล์",
            pieces(("removed", "บันทึก"), ("added", "ลบ"), ("same", "ไฟล์")),
        ),
        (
            "파일을 저장했습니다.",
            "폴더를 저장했습니다.",
            pieces(("removed", "파일을"), ("added", "폴더를"), ("same", " 저장했습니다.")),
        ),
        (
            "احفظ الملف الآن",
            "احفظ المجلد الآن",
            pieces(("same", "احفظ "), ("removed", "الملف"), ("added", "المجلد"), ("same", " الآن")),
        ),
        (
            "Hi {name}, %d files",
            "Hi {user}, %d files",
            pieces(
                ("same", "Hi {"), ("removed", "name"), ("added", "user"), ("same", "}, %d files")
            ),
        ),
        (
            "👩‍👩‍👧 family 👍🏽",
            "👩‍👩‍👦 family 👍🏻",
            pieces(
                ("removed", "👩‍👩‍👧"),
                ("added", "👩‍👩‍👦"),
                ("same", " family "),
                ("removed", "👍🏽"),
                ("added", "👍🏻"),
            ),
        ),
    ],
)
def test_differences(chromium_tab: Opened, old: str, new: str, expected: list[Any]) -> None:
    assert chromium_tab.fetch("diff.js changes", old, new) == expected


@pytest.fixture(scope="module")
def chromium_tab(chromium: Browser, server: Server) -> Iterator[Opened]:
    with chromium.new_context() as context:
        tab = Opened(context, server)
        tab.go()
        yield tab


# Some words, and the same in other widths and cases; scripts with and without spaces; marks.
WORDS = st.sampled_from(
    [
        "save",
        "SAVE",
        "ｓａｖｅ",
        "file",
        "é",
        "e\u0301",
        " ",
        "  ",
        "\n",
        ".",
        "{0}",
        "保",
        "存",
        "か",
        "가나",
        "ไ",
        "ملف",
        "👍🏽",
    ]
)
TEXTS = st.lists(WORDS, max_size=12).map("".join)


def fold(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).lower())


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=20, max_size=40))
def test_differences_lead_from_one_text_to_the_other(
    chromium_tab: Opened, pairs: list[tuple[str, str]]
) -> None:
    script = """async (pairs) => {
      const { changes } = await import("/page/diff.js");
      return pairs.map(([older, newer]) => changes(older, newer));
    }"""
    for (old, new), found in zip(pairs, chromium_tab.page.evaluate(script, pairs), strict=True):
        kinds = [piece["change"] for piece in found]
        assert "".join(one["text"] for one in found if one["change"] != "removed") == new
        assert fold("".join(one["text"] for one in found if one["change"] != "added")) == fold(old)
        assert all(one["text"] for one in found)
        assert all(a != b for a, b in pairwise(kinds))
        assert ("added", "removed") not in pairwise(kinds)
        if fold(old) == fold(new):
            assert set(kinds) <= {"same"}


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=20, max_size=40))
def test_occurrences_are_all_there_are(chromium_tab: Opened, pairs: list[tuple[str, str]]) -> None:
    script = """async (pairs) => {
      const { occurrences } = await import("/page/find.js");
      return pairs.map(([text, wanted]) => occurrences(text, wanted));
    }"""
    for (text, wanted), found in zip(pairs, chromium_tab.page.evaluate(script, pairs), strict=True):
        assert "".join(one["text"] for one in found) == text
        needle = fold(wanted).strip()
        count = fold(text).count(needle) if needle else 0
        marked = [one["text"] for one in found if one["found"]]
        assert len(marked) == count
        assert all(needle in fold(one) for one in marked)


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("Save the SAVE", "save", [(True, "Save"), (False, " the "), (True, "SAVE")]),
        ("in  \n\r\n  the file", " The file ", [(False, "in  \n\r\n  "), (True, "the file")]),
        ("the \n  file.", "the file", [(True, "the \n  file"), (False, ".")]),
        ("파일을 저장", "저장", [(False, "파일을 "), (True, "저장")]),
        ("ﬁle", "f", [(True, "ﬁ"), (False, "le")]),
        ("aaa", "aa", [(True, "aa"), (False, "a")]),
        ("İstanbul", "stan", [(False, "İ"), (True, "stan"), (False, "bul")]),
        ("text", " ", [(False, "text")]),
    ],
)
def test_occurrences(
    chromium_tab: Opened, text: str, wanted: str, expected: list[tuple[bool, str]]
) -> None:
    found = chromium_tab.fetch("find.js occurrences", text, wanted)
    assert [(one["found"], one["text"]) for one in found] == expected


def test_long_texts_are_compared_in_bounded_work(tab: Opened) -> None:
    page = tab.go()
    count = page.evaluate("""async () => {
      const { changes } = await import("/page/diff.js");
      const text = (start) => Array.from({ length: 20_000 }, (_, i) => `w${start + i}`).join(" ");
      return changes(text(0), text(50_000)).length;
    }""")
    assert count == 2


# Entries


def open_entry(tab: Opened, source: str) -> Page:
    page = tab.go(f"#search?q={source}")
    expect(results(page).first.locator(".source")).to_have_text(source)
    results(page).first.click()
    return page


def test_an_entry_is_edited_and_nothing_else_of_it_changes(tab: Opened) -> None:
    entry = {
        "source": "Edit this sentence,\r\nplease.",
        "target": "Ändere diesen Satz,\r\nbitte.",
        "source_language": "en",
        "target_language": "de",
        "namespace": "edits",
        "created_at": "2020-01-01T00:00:00Z",
        "metadata": {"tmx": {"props": [["a", "b"]]}},
    }
    id = add(tab.server, **entry)
    page = tab.go("#search?q=Edit this sentence, please.")
    results(page).first.click()
    pane = page.get_by_role("complementary", name=f"Entry {id}")
    expect(pane).to_contain_text("2020-01-01T00:00:00Z")
    pane.get_by_role("button", name="Edit").click()
    target = page.get_by_role("textbox", name="Translation")
    expect(target).to_be_focused()
    target.fill("Ändere den Satz,\nbitte.")
    page.get_by_label("Notes").fill("shorter")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".said")).to_have_text(f"Entry {id} was saved.")
    expect(results(page).first.locator(".target")).to_have_text("Ändere den Satz, bitte.")
    expect(pane).to_contain_text("shorter")
    changed = {**entry, "target": "Ändere den Satz,\r\nbitte.", "notes": "shorter"}
    assert {k: v for k, v in stored(tab.server, id).items() if v is not None} == changed


# Numbers that JavaScript changes, names that it sorts, and texts that look like the ends of others.
METADATA = (
    r'{"a":1.0,"b":12345678901234567890123,"2":-0.0,"1":1e22,"metadata":{"metadata":{}},'
    r'"q":"\"}{\\","r":"\"metadata\":{","s":[[],[1.50,{"__proto__":null}]]}'
)


def test_metadata_is_shown_and_kept_to_the_letter(tab: Opened) -> None:
    start = '{"source":"Metadata \\"metadata\\":{","namespace":"edits","metadata":'
    with tab.server.client() as client:
        body = f'{start}{METADATA},"target":"alt"}}'
        id = client.post("/api/v1/entries", content=body).json()["id"]
        before = client.get(f"/api/v1/entries/{id}").text
        assert '"b":12345678901234567890123' in before
        page = open_entry(tab, 'Metadata "metadata":{')
        shown = page.get_by_role("complementary").locator("pre").text_content()
        assert re.sub(r"\s", "", shown) == re.search(r'"metadata":({.*})}}', before)[1]
        assert '\n  "a": 1.0,\n' in shown
        page.get_by_role("button", name="Edit").click()
        page.get_by_role("textbox", name="Translation").fill("neu")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".said")).to_have_text(f"Entry {id} was saved.")
        after = client.get(f"/api/v1/entries/{id}").text
        assert after == before.replace('"alt"', '"neu"')


JSON_OBJECTS = st.dictionaries(
    st.text(),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["metadata", "{"]), inner),
    ),
)


@settings(max_examples=100)
@given(entries=st.lists(st.tuples(st.text(), st.none() | JSON_OBJECTS), max_size=3))
def test_metadata_is_taken_out_of_entries_and_put_back(
    chromium_tab: Opened, entries: list[tuple[str, dict[str, Any] | None]]
) -> None:
    script = """async (text) => {
      const { indented, sealed, unsealed } = await import("/page/metadata.js");
      return JSON.parse(sealed(text)).map((entry) =>
        entry.metadata === null
          ? [entry, null, null]
          : [entry, unsealed(entry), indented(entry.metadata)]);
    }"""
    given = [{"source": source, "metadata": metadata} for source, metadata in entries]
    found = chromium_tab.page.evaluate(script, json.dumps(given, separators=(",", ":")))
    for old, (new, whole, shown) in zip(given, found, strict=True):
        assert new["source"] == old["source"]
        if old["metadata"] is None:
            assert new["metadata"] is None
            continue
        assert new["metadata"] == json.dumps(old["metadata"], separators=(",", ":"))
        assert json.loads(whole) == old
        assert shown == json.dumps(old["metadata"], indent=2)


def test_errors_are_shown_where_they_belong_and_nothing_is_overwritten(tab: Opened) -> None:
    id = add(tab.server, source="Two people edit this", target="one", namespace="edits")
    page = open_entry(tab, "Two people edit this")
    page.get_by_role("button", name="Edit").click()
    target = page.get_by_role("textbox", name="Translation")
    target.fill(" ")
    page.get_by_role("button", name="Save").click()
    expect(target).to_have_attribute("aria-invalid", "true")
    expect(target).to_be_focused()
    expect(target).to_have_accessible_description(re.compile("target"))

    with tab.server.client() as client:
        other = {"source": "Two people edit this", "target": "two", "namespace": "edits"}
        assert client.put(f"/api/v1/entries/{id}", json=other).status_code == 204
    target.fill("three")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody else changed this entry")
    assert stored(tab.server, id)["target"] == "two"

    # What was typed is not lost by mistake.
    page.keyboard.press("Escape")
    dialog = page.get_by_role("alertdialog", name="Discard your changes?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(target).to_have_value("three")
    page.keyboard.press("Escape")
    dialog.get_by_role("button", name="Discard").click()
    expect(target).to_be_hidden()
    expect(page.get_by_role("heading", name=f"Entry {id}")).to_be_focused()


def test_of_two_who_save_at_once_the_second_is_told(tab: Opened) -> None:
    id = add(tab.server, source="Two people save this", target="one", namespace="edits")
    page = open_entry(tab, "Two people save this")
    page.get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Translation").fill("two")

    def overtaken(route: Route) -> None:
        """Somebody else's change comes first, when ours is on its way."""
        if route.request.method == "PUT":
            with tab.server.client() as client:
                other = {"source": "Two people save this", "target": "three", "namespace": "edits"}
                assert client.put(f"/api/v1/entries/{id}", json=other).status_code == 204
        route.continue_()

    page.route(f"**/api/v1/entries/{id}", overtaken)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody else changed this entry")
    expect(page.get_by_role("textbox", name="Translation")).to_have_value("two")
    assert stored(tab.server, id)["target"] == "three"
    page.unroute(f"**/api/v1/entries/{id}")
    # Who looks at it again can change it.
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("textbox", name="Translation")).to_have_value("three")
    page.get_by_role("textbox", name="Translation").fill("four")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".said")).to_have_text(f"Entry {id} was saved.")
    assert stored(tab.server, id)["target"] == "four"


def test_an_entry_is_deleted_after_asking(tab: Opened) -> None:
    id = add(tab.server, source="Delete this one", target="lösche dies", namespace="edits")
    page = open_entry(tab, "Delete this one")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    assert stored(tab.server, id) is not None
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(page.locator(".said")).to_have_text(f"Entry {id} was deleted.")
    expect(page.get_by_role("complementary")).to_be_hidden()
    expect(page.locator("#results").get_by_text("Delete this one")).to_have_count(0)
    assert stored(tab.server, id) is None


def test_an_entry_that_changes_while_it_is_asked_about_is_not_deleted(tab: Opened) -> None:
    source = "Delete what was shown"
    id = add(tab.server, source=source, target="one", namespace="edits")
    page = open_entry(tab, source)
    dialog = page.get_by_role("alertdialog")

    def change(target: str) -> None:
        entry = {"source": source, "target": target, "namespace": "edits"}
        with tab.server.client() as client:
            assert client.put(f"/api/v1/entries/{id}", json=entry).status_code == 204

    change("two")
    results(page).first.focus()
    page.keyboard.press("Delete")
    expect(dialog).to_be_visible()
    # What is asked about is what would be deleted.
    expect(page.get_by_role("complementary").locator(".target")).to_have_text("two")
    change("three")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator(".said")).to_contain_text("Somebody else changed this entry")
    assert stored(tab.server, id)["target"] == "three"
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("complementary").locator(".target")).to_have_text("three")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name=f"Entry {id}")).to_be_focused()
    page.keyboard.press("Delete")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator(".said")).to_have_text(f"Entry {id} was deleted.")
    assert stored(tab.server, id) is None


def test_a_form_names_the_characters_that_it_cannot_show(tab: Opened) -> None:
    source = "With more than there seems"
    add(tab.server, source=source, target="a\u202eb\u200bc\u202ed", namespace="edits")
    page = open_entry(tab, source)
    page.get_by_role("button", name="Edit").click()
    target = page.get_by_role("textbox", name="Translation")
    expect(target).to_have_accessible_description("With hidden characters: RLO ZWSP")
    expect(page.get_by_role("textbox", name="Source", exact=True)).to_have_accessible_description(
        ""
    )
    target.fill("a\u200b")
    expect(page.get_by_text("With hidden characters: ZWSP")).to_be_visible()
    target.fill("a")
    expect(page.get_by_text("With hidden characters")).to_be_hidden()
    expect(target).to_have_accessible_description("")


def test_an_entry_that_is_gone_is_not_edited(tab: Opened) -> None:
    id = add(tab.server, source="Gone in a moment", target="gleich weg", namespace="edits")
    page = open_entry(tab, "Gone in a moment")
    with tab.server.client() as client:
        client.delete(f"/api/v1/entries/{id}")
    page.get_by_role("button", name="Edit").click()
    expect(page.locator(".said")).to_have_text("This entry was deleted meanwhile.")


# The keyboard


def test_everything_can_be_done_with_the_keyboard(open_page: Callable[..., Opened]) -> None:
    tab = open_page(permissions=["clipboard-read", "clipboard-write"])
    id = add(tab.server, source="Keyboards only", target="nur Tastatur", namespace="keys")
    page = tab.go("#search?min=0.5&q=Save your changes before you close the app.")
    expect(results(page)).to_have_count(8)
    press = page.keyboard.press
    press("ArrowDown")
    expect(results(page).nth(0)).to_be_focused()
    press("ArrowDown")
    press("ArrowDown")
    expect(results(page).nth(2)).to_be_focused()
    press("End")
    expect(results(page).nth(7)).to_be_focused()
    press("Home")
    press("ArrowUp")
    expect(page.get_by_label("Text to translate")).to_be_focused()
    press("Enter")
    press("ArrowDown")
    press("Enter")
    expect(page.get_by_role("complementary").get_by_role("heading").first).to_be_focused()
    press("Escape")
    expect(page.get_by_role("complementary")).to_be_hidden()
    expect(results(page).nth(1)).to_be_focused()
    # An open entry follows the focus.
    press("Enter")
    results(page).nth(1).focus()
    press("ArrowDown")
    source = results(page).nth(2).locator(".target").text_content()
    expect(page.get_by_role("complementary").locator(".target")).to_have_text(source)
    press("c")
    expect(page.locator(".said")).to_have_text("The translation was copied.")
    assert page.evaluate("navigator.clipboard.readText()") == source
    press("Escape")
    press("Escape")
    expect(page.get_by_label("Text to translate")).to_be_focused()
    press("Escape")
    expect(page.get_by_label("Text to translate")).to_have_value("")

    page.keyboard.type("Keyboards only")
    expect(results(page).first.locator(".score")).to_have_text("100%")
    press("ArrowDown")
    press("e")
    expect(page.get_by_role("textbox", name="Translation")).to_be_focused()
    page.keyboard.type("!")
    press("Control+Enter")
    expect(page.locator(".said")).to_have_text(f"Entry {id} was saved.")
    assert stored(tab.server, id)["target"] == "nur Tastatur!"
    press("Delete")
    expect(page.get_by_role("alertdialog").get_by_role("button", name="Cancel")).to_be_focused()
    press("Tab")
    press("Enter")
    expect(page.locator(".said")).to_have_text(f"Entry {id} was deleted.")
    expect(page.get_by_role("complementary")).to_be_hidden()
    assert stored(tab.server, id) is None

    press("Escape")
    page.get_by_role("link", name="Search").focus()
    for number, name in [("3", "Import a file"), ("4", "Figures")]:
        press(number)
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    press("/")
    expect(page.get_by_label("Text to translate")).to_be_focused()
    page.keyboard.type("/?1e")
    expect(page.get_by_label("Text to translate")).to_have_value(re.compile(r"/\?1e$"))


def test_shortcuts_are_listed_and_those_of_one_character_can_be_turned_off(tab: Opened) -> None:
    page = tab.go("#figures")
    expect(page.get_by_role("heading", name="Figures")).to_be_focused()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.locator("kbd")).to_have_count(16)
    # Behind the dialog, shortcuts do nothing.
    page.keyboard.press("1")
    assert page.url.endswith("#figures")
    dialog.get_by_label("Use shortcuts of a single character").uncheck()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    page.keyboard.press("1")
    page.keyboard.press("?")
    assert page.url.endswith("#figures")
    expect(dialog).to_be_hidden()


def test_keys_of_an_input_method_and_of_other_scripts(tab: Opened) -> None:
    page = tab.go("#search?min=0.5&q=Save your changes before you close the app.")
    expect(results(page)).to_have_count(8)
    press = """(options) => document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...options }))"""
    page.evaluate(press, {"key": "Enter", "isComposing": True})
    expect(page.get_by_label("Text to translate")).to_be_focused()
    page.evaluate(press, {"key": "Enter"})
    expect(results(page).first).to_be_focused()
    # What is being composed is searched for as it is.
    page.get_by_label("Text to translate").fill("")
    page.get_by_role("link", name="Concordance").click()
    expect(page.get_by_label("Text to find")).to_be_focused()
    session = page.context.new_cdp_session(page)
    for text in ("ㅈ", "저", "저자", "저장"):
        composed = {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        session.send("Input.imeSetComposition", composed)
    expect(results(page).locator("mark").first).to_have_text("저장")
    session.send("Input.insertText", {"text": "저장"})
    expect(page.get_by_label("Text to find")).to_have_value("저장")
    page.keyboard.press("Enter")
    expect(results(page).first).to_be_focused()
    # The key of "e" on a Korean keyboard.
    page.evaluate(press, {"key": "ㄷ", "code": "KeyE"})
    expect(page.get_by_role("textbox", name="Translation")).to_be_focused()


# Texts of all kinds


def test_stored_html_is_shown_and_has_no_effect(tab: Opened) -> None:
    page = tab.go()
    for text in HOSTILE:
        check_hostile(tab, page, text)


def check_hostile(tab: Opened, page: Page, text: str) -> None:
    id = add(
        tab.server,
        source=f"hostile entry {text}",
        target=text,
        source_language=text,
        target_language=text,
        domain=text,
        namespace=text,
        source_id=text,
        created_at=text,
        notes=text,
        metadata={text: [text, {text: text}]},
    )
    page.get_by_label("Text to translate").fill(f"hostile entry {text}")
    hit = results(page).filter(has=page.locator(".score.exact")).first
    names = re.sub(HIDDEN, lambda found: f"{NAMES.get(found[0]) or f'U+{ord(found[0]):04X}'}", text)
    expect(hit.locator(".target")).to_have_text(names)
    hit.click()
    pane = page.get_by_role("complementary")
    expect(pane.locator(".target")).to_have_text(names)
    assert pane.locator("dd").all_text_contents() == [names] * 7
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Notes")).to_be_visible()
    page.get_by_label("Notes").fill(f"{text}!")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".said")).to_have_text(f"Entry {id} was saved.")
    entry = stored(tab.server, id)
    assert entry["target"] == entry["namespace"] == text
    assert page.evaluate("window.attacked") is None
    assert page.locator("img, svg, script:not([src='page/app.js']), iframe").count() == 0
    inside = page.locator(".source *, .target *, dd *, pre *, .about span *")
    kinds = inside.evaluate_all("elements => elements.map((element) => element.localName)")
    assert set(kinds) <= {"ins", "del", "mark", "span"}


HIDDEN = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
NAMES = {
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u200b": "ZWSP",
    "\ufeff": "BOM",
    "\x00": "NUL",
    "\x1b": "ESC",
}


def test_a_file_name_and_an_address_have_no_effect_either(tab: Opened, tmp_path: Path) -> None:
    page = tab.go("#search?q=<img src=x onerror='window.attacked = 1'>&to=<script>&max=<b>&min=-1")
    expect(page.get_by_label("To", exact=True)).to_have_value("<script>")
    expect(page.get_by_label("At most")).to_have_value("10")
    page = tab.go("#constructor?q=x")
    expect(page.get_by_label("Text to translate")).to_have_value("x")
    page = tab.go("#import")
    file = tmp_path / "<img src=x onerror='window.attacked = 1'>.jsonl"
    file.write_text('{"source": "a", "target": "b", "<script>window.attacked = 1</script>": 1}\n')
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".file-name")).to_have_text(file.name)
    page.get_by_label("Only report what would happen").check()
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("heading", name="Checked")).to_contain_text(file.name)
    expect(page.locator(".report tbody")).to_contain_text("<script>window.attacked = 1</script>")
    assert page.evaluate("window.attacked") is None


def test_direction_and_fonts_follow_the_text(tab: Opened) -> None:
    add(
        tab.server,
        source="Direction of this",
        target="اتجاه هذا (Ctrl+S)",
        target_language="ar",
        namespace="rtl",
    )
    page = open_entry(tab, "Direction of this")
    hit = results(page).first
    direction = "element => getComputedStyle(element).direction"
    assert hit.locator(".source").evaluate(direction) == "ltr"
    assert hit.locator(".target").evaluate(direction) == "rtl"
    expect(hit.locator(".target")).to_have_attribute("lang", "ar")
    page = tab.go("#search?min=0.5&q=Save your changes before you close the app.")
    family = "element => getComputedStyle(element).fontFamily"
    fonts = {}
    for language in ("ko", "ja", "zh-CN"):
        text = results(page).locator(f".target:lang({language})").first
        fonts[language] = text.evaluate(family)
    assert len(set(fonts.values())) == 3
    korean = results(page).locator(".target:lang(ko)").first
    assert korean.evaluate("element => getComputedStyle(element).wordBreak") == "keep-all"


def test_korean(open_page: Callable[..., Opened]) -> None:
    tab = open_page(locale="ko-KR")
    page = tab.go("#search?min=0.5&q=Save your changes before you close the app.")
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.get_by_label("번역할 문장")).to_be_focused()
    expect(page.locator(".outcome")).to_contain_text("8건 일치")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_label("Text to translate")).to_have_value(
        "Save your changes before you close the app."
    )
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "en")


# Import


def test_a_file_is_imported_with_a_report(tab: Opened, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    lines = [
        {"source": f"Imported sentence {number}", "target": f"importiert {number}"}
        for number in range(20_000)
    ]
    lines[4] = {"source": "Imported sentence 4", "target": " "}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    page = tab.go("#import")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("alert")).to_have_text("Choose a file first.")
    page.locator("input[type=file]").set_input_files(file)
    page.evaluate("""() => {
      window.seen = [];
      new MutationObserver(() => seen.push(document.querySelector("progress").value))
        .observe(document.querySelector("progress"), { attributes: true });
    }""")
    page.get_by_label("Namespace").fill("imports")
    page.get_by_label("Only report what would happen").check()
    page.get_by_role("button", name="Check").click()
    expect(
        page.get_by_role("heading", name="Checked some.jsonl: nothing was changed")
    ).to_be_focused()
    before = page.locator(".total").text_content()
    page.get_by_label("Only report what would happen").uncheck()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", name="Imported some.jsonl")).to_be_focused()
    report = page.locator(".report")
    expect(report.locator(".tiles")).to_contain_text("Added19,999")
    expect(report.locator(".tiles")).to_contain_text("Skipped1")
    expect(report.locator("tbody tr")).to_have_count(1)
    expect(report.locator("tbody tr th")).to_have_text("5")
    expect(report.locator("tbody tr")).to_contain_text("target")
    assert max(page.evaluate("seen")) == 1
    expect(page.locator(".total")).not_to_have_text(before)
    page.get_by_role("link", name="Search").click()
    page.get_by_label("Text to translate").fill("Imported sentence 19999")
    expect(results(page).first.locator(".about")).to_contain_text("imports")


def test_reasons_are_told_in_the_language_of_the_page(
    open_page: Callable[..., Opened], tmp_path: Path
) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text('{"source": "a", "target": " "}\n{"source"\n{"source": "<b>", "target": 1}\n')
    for locale, button, reasons in (
        ("en-US", "Check", ["Empty text", "Not well-formed", "Value that is not allowed"]),
        ("ko-KR", "확인", ["빈 텍스트", "형식에 맞지 않음", "허용되지 않는 값"]),
    ):
        page = open_page(locale=locale).go("#import")
        page.locator("input[type=file]").set_input_files(file)
        page.locator("input[name=dry_run]").check()
        page.get_by_role("button", name=button, exact=True).click()
        cells = page.locator(".report tbody td:last-child")
        expect(cells.locator("div:first-child")).to_have_text(reasons)
        # What is wrong with this one is said as the server says it.
        expect(cells.first.locator("[lang=en]")).to_contain_text("target is empty")


def test_every_reason_has_words(chromium_tab: Opened) -> None:
    script = "async () => Object.keys((await import('/page/report.js')).REASONS)"
    known = set(chromium_tab.page.evaluate(script))
    text = (ROOT / "docs/formats.md").read_text("utf-8")
    tables = re.findall(r"^\| code \| .*\n\| --- .*\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = [row.split("|")[1] for table in tables for row in table.splitlines()]
    codes = {code for cell in cells for code in re.findall(r"`(\w+)`", cell)}
    assert len(tables) >= 4
    # Any format may have the others.
    others = {"foreign_namespace", "missing_namespace", "text_too_long"}
    assert known == codes | others


def test_an_import_that_is_stopped_or_refused_adds_nothing(tab: Opened, tmp_path: Path) -> None:
    page = tab.go("#import")
    file = tmp_path / "broken.tmx"
    file.write_text("<tmx version='1.4'><header srclang='en'/><body><tu><tuv></tu></body></tmx>")
    expect(page.locator(".total")).not_to_be_empty()
    before = page.locator(".total").text_content()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("alert")).to_contain_text("The file was not imported.")
    expect(page.get_by_role("alert")).to_contain_text("broken.tmx")
    held: list[Route] = []
    page.route("**/api/v1/import*", lambda route: held.append(route))
    page.get_by_role("button", name="Import").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("alert")).to_have_text("Stopped.")
    expect(page.get_by_role("button", name="Import")).to_be_focused()
    assert page.locator(".total").text_content() == before


# Figures


def test_figures_and_plots(tab: Opened) -> None:
    page = tab.go("#search?q=Save the file")
    expect(results(page)).not_to_have_count(0)
    with (
        page.expect_response("**/api/v1/stats") as stats,
        page.expect_response("**/api/v1/kpis") as kpis,
    ):
        tab.go("#figures")
    tiles = page.locator(".tiles").first
    rows = stats.value.json()["rows"]
    expect(tiles).to_contain_text(f"Sources in the index, removed ones too{rows:,}")
    searches = kpis.value.json()["requests"]["search"]["count"]
    assert searches > 0
    row = page.get_by_role("row").filter(
        has=page.get_by_role("rowheader", name="search", exact=True)
    )
    expect(row.locator("td").first).to_have_text(f"{searches:,}")
    expect(page.get_by_role("row").filter(has_text="Chinese")).to_be_visible()
    plot = page.get_by_role("img", name="search: share of requests")
    expect(plot).to_be_visible()
    assert "NaN" not in plot.evaluate("element => element.outerHTML")
    page.get_by_role("button", name="Refresh").click()
    expect(plot).to_be_visible()


def test_plots_of_worked_examples(chromium_tab: Opened) -> None:
    script = """async ([name, values]) => {
      const plot = (await import("/page/plots.js"))[name](...values);
      return Object.fromEntries(["p50", "p95"].map((one) =>
        [one, plot.querySelector(`path.line.${one}`)?.getAttribute("d")]));
    }"""
    # A quarter took up to 1 ms, all up to 10 ms: a step on an axis from 1 to 10.
    buckets, marks = [[1, 1], [10, 3]], [["p50", 10], ["p95", 10]]
    drawn = chromium_tab.page.evaluate(script, ["distribution", [buckets, marks, "label"]])
    assert drawn["p50"] == "M44,182H44V139.5H376V12H376"
    # Two minutes, two without requests, one more: a line, a gap, a point. The axis ends at 4.
    spans = [
        {"start": f"2026-01-01T00:0{minute}:00Z", "p50_ms": 1, "p95_ms": p95}
        for minute, p95 in [(0, 2), (1, 4), (4, 2)]
    ]
    drawn = chromium_tab.page.evaluate(script, ["timeline", [spans, 60_000, "label"]])
    assert drawn["p50"] == "M44,139.5L127,139.5M376,139.5"
    assert drawn["p95"] == "M44,97L127,12M376,97"


# Keys


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    text, keys = None, {}
    for name, rights in {
        "reader": {"read": ["example"], "write": []},
        "writer": {"read": ["example", "own"], "write": ["own"]},
        "only-writer": {"read": ["example"], "write": ["own"]},
    }.items():
        keys[name], text = new_key(name, text, **rights)
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    file.write_text(text)
    with serving(MEMORY, "--keys", str(file)) as server:
        yield server, keys


def test_a_key_is_asked_for_and_kept_for_the_tab(
    open_page: Callable[..., Opened], guarded: tuple[Server, dict[str, str]]
) -> None:
    server, keys = guarded
    tab = open_page(server)
    page = tab.go("#search?q=Save all changes before you close the project.")
    dialog = page.get_by_role("dialog", name="API key")
    for wrong in ("reader.wrong", "열쇠"):
        dialog.get_by_label("Key", exact=True).fill(wrong)
        page.keyboard.press("Enter")
        expect(dialog.get_by_text("The server does not know this key.")).to_be_visible()
        expect(dialog.get_by_label("Key", exact=True)).to_have_value("")
    dialog.get_by_label("Key", exact=True).fill(keys["reader"])
    dialog.get_by_role("button", name="Use this key").click()
    expect(results(page)).not_to_have_count(0)
    assert page.evaluate("Object.values(sessionStorage)") == [keys["reader"]]
    assert keys["reader"] not in page.evaluate("JSON.stringify(localStorage) + document.cookie")
    assert keys["reader"] not in page.url

    # This one may read a namespace, and no more.
    assert page.get_by_role("link").all_text_contents()[1:] == ["Search", "Concordance"]
    results(page).first.click()
    expect(page.get_by_role("button", name="Copy translation")).to_be_visible()
    expect(page.get_by_role("button", name="Edit")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)
    results(page).first.focus()
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    expect(page.get_by_label("Notes")).to_have_count(0)

    page.get_by_role("button", name="API key").click()
    dialog.get_by_role("button", name="Forget the key").click()
    expect(dialog.get_by_label("Key", exact=True)).to_be_focused()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_key_changes_only_what_it_may(
    open_page: Callable[..., Opened], guarded: tuple[Server, dict[str, str]]
) -> None:
    server, keys = guarded
    with server.client(keys["writer"]) as client:
        entry = {"source": "Save all of my own", "target": "alles meine", "namespace": "own"}
        assert client.post("/api/v1/entries", json=entry).status_code == 201
    tab = open_page(server)
    page = tab.go("#search?q=Save all of my own&min=0.2")
    page.get_by_label("Key", exact=True).fill(keys["writer"])
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Import")).to_be_visible()
    expect(page.get_by_role("link", name="Figures")).to_have_count(0)
    own = results(page).filter(has_text="own").first
    own.click()
    expect(page.get_by_role("button", name="Edit")).to_be_visible()
    results(page).filter(has_text="example").first.click()
    expect(page.get_by_role("complementary").get_by_text("example", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Edit")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "policies"),
    [("writer", ["keep", "skip", "replace", "newest"]), ("only-writer", ["keep"])],
)
def test_an_import_says_what_is_not_for_the_key(
    open_page: Callable[..., Opened],
    guarded: tuple[Server, dict[str, str]],
    tmp_path: Path,
    name: str,
    policies: list[str],
) -> None:
    server, keys = guarded
    file = tmp_path / "some.jsonl"
    lines = [
        {"source": f"Imported sentence {number}", "target": "t", "namespace": namespace}
        for number, namespace in enumerate(("own", None, "example"))
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    page = open_page(server).go("#import")
    page.get_by_label("Key", exact=True).fill(keys[name])
    page.keyboard.press("Enter")
    page.locator("input[type=file]").set_input_files(file)
    offered = page.locator("select[name=duplicates] option")
    assert [option.get_attribute("value") for option in offered.all()] == policies
    page.get_by_role("button", name="Import").click()
    report = page.locator(".report")
    expect(report.locator(".tiles")).to_contain_text("Added2")
    expect(report.locator("tbody tr")).to_have_count(1)
    expect(report.locator("tbody tr th")).to_have_text("3")
    expect(report.locator("tbody tr")).to_contain_text('namespace is "example"; allowed are "own"')


def test_a_page_that_asked_too_often_waits_as_long_as_the_server_says(
    open_page: Callable[..., Opened], tmp_path: Path
) -> None:
    key, text = new_key("slow", None, read=["*"], write=[], rate=0.001, burst=1)
    file = tmp_path / "keys.toml"
    file.write_text(text)
    with serving(MEMORY, "--keys", str(file)) as server:
        with server.client(key) as client:
            assert client.get("/api/v1/permissions").status_code == 200
        tab = open_page(server)
        page = tab.page
        page.clock.install()
        tab.go()
        page.get_by_label("Key", exact=True).fill(key)
        page.keyboard.press("Enter")
        problem = page.get_by_role("alert")
        expect(problem).to_have_text(re.compile(r"Too many requests. Try again in [\d,]+ s\."))
        retry = page.get_by_role("button", name="Try again")
        expect(retry).to_be_disabled()
        above, below = problem.bounding_box(), retry.bounding_box()
        assert above["x"] == below["x"] > 0
        assert below["height"] < 2 * above["height"]
        page.clock.fast_forward(800_000)
        expect(retry).to_be_disabled()
        page.clock.fast_forward(300_000)
        expect(retry).to_be_enabled()


# For everyone


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_inaccessible(open_page: Callable[..., Opened], scheme: str) -> None:
    tab = open_page(color_scheme=scheme)
    axe = Axe()
    # What is not about colours is the same in the dark.
    options = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    page = tab.page

    def check() -> None:
        found = axe.run(page, options=options).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []

    tab.go("#search?min=0.5&q=Save your changes before you close the app.&to=ko")
    expect(results(page)).not_to_have_count(0)
    check()
    results(page).first.click()
    check()
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Notes")).to_be_visible()
    check()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    check()
    tab.go("#concordance?q=save")
    expect(results(page)).not_to_have_count(0)
    check()
    tab.go("#import")
    expect(page.get_by_role("heading", name="Import a file")).to_be_visible()
    check()
    tab.go("#figures")
    expect(page.locator("svg").first).to_be_visible()
    check()


def test_narrow_screens_need_no_scrolling_sideways(open_page: Callable[..., Opened]) -> None:
    tab = open_page(viewport={"width": 320, "height": 640})
    page = tab.page
    views = ["#search?min=0.5&q=Save your changes before you close the app.", "#import", "#figures"]
    for view in views:
        tab.go(view)
        expect(page.locator(".hit, .drop, svg").first).to_be_visible()
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 320
    tab.go(views[0])
    results(page).first.click()
    box = page.get_by_role("complementary").bounding_box()
    assert (box["x"], box["width"], box["height"]) == (0, 320, 640)
    # Nothing that the entry covers can be reached.
    expect(page.get_by_role("heading", name="Entry")).to_be_focused()
    for _ in range(6):
        page.keyboard.press("Tab")
        inside = "document.activeElement.matches('aside *, body')"
        assert page.evaluate(inside)
    page.get_by_role("button", name="Close").click()
    expect(results(page).first).to_be_focused()


# A server that is slow, gone, not ready, or changed its mind


def test_a_server_that_is_gone_is_told_of(chromium: Browser) -> None:
    with serving(MEMORY) as server, chromium.new_context(locale="en-US") as context:
        page = Opened(context, server).go()
        expect(page.get_by_label("Text to translate")).to_be_focused()
        server.stop()
        page.keyboard.type("Save")
        expect(page.locator(".outcome.error > span")).to_have_text("The server does not answer.")


def test_what_failed_is_tried_again(tab: Opened) -> None:
    page = tab.go()
    page.route("**/api/v1/search", lambda route: route.abort())
    page.get_by_label("Text to translate").fill("Your changes were saved.")
    retry = page.get_by_role("button", name="Try again")
    retry.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Text to translate")).to_be_focused()
    expect(retry).to_be_visible()
    page.unroute("**/api/v1/search")
    retry.click()
    expect(results(page).first.locator(".score")).to_have_text("100%")
    expect(retry).to_have_count(0)


@pytest.mark.parametrize("optional", ["stats", "facets"])
def test_the_page_searches_without_what_it_only_shows_beside(tab: Opened, optional: str) -> None:
    tab.page.route(f"**/api/v1/{optional}", lambda route: route.abort())
    page = tab.go()
    expect(page.locator(".said")).to_have_text("The server does not answer.")
    page.get_by_label("Text to translate").fill("Save your changes before you close the app.")
    expect(results(page)).not_to_have_count(0)


def test_a_memory_that_is_still_read_is_waited_for(
    open_page: Callable[..., Opened], tmp_path: Path
) -> None:
    pipe = tmp_path / "memory.jsonl"
    os.mkfifo(pipe)
    said = "The memory is still being read. This page waits for it."
    with serving(pipe, ready=False) as server:
        with pipe.open("wb") as file:
            page = open_page(server).go("#search?q=Your changes were saved.")
            expect(page.get_by_role("alert")).to_have_text(said)
            file.write(MEMORY.read_bytes())
        expect(results(page).first.locator(".score")).to_have_text("100%")
        # As if it were started anew.
        error = {"code": "loading", "message": "the memory is still being read"}
        page.route(
            "**/api/v1/search", lambda route: route.fulfill(status=503, json={"error": error})
        )
        text = "Save all changes before you close the project."
        page.get_by_label("Text to translate").fill(text)
        expect(page.locator(".outcome.error > span")).to_have_text(said)
        page.unroute("**/api/v1/search")
        expect(results(page).first.locator(".source")).to_have_text(text)


def test_waiting_is_shown_where_it_takes_long(tab: Opened) -> None:
    page = tab.page
    held: list[Route] = []
    page.route("**/api/v1/permissions", lambda route: held.append(route))
    tab.go()
    waiting = page.get_by_text("Waiting for the server")
    expect(waiting).to_be_visible()
    held.pop().continue_()
    expect(page.get_by_label("Text to translate")).to_be_focused()
    expect(page.locator("#results:not([aria-busy])")).to_have_count(1)
    expect(waiting).to_be_hidden()
    page.route("**/api/v1/search", lambda route: held.append(route))
    page.keyboard.type("Your changes were saved.")
    expect(waiting).to_be_visible()
    page.unroute("**/api/v1/search")
    held.pop().continue_()
    expect(results(page)).not_to_have_count(0)
    expect(waiting).to_be_hidden()


def test_a_late_answer_does_not_count_back(tab: Opened) -> None:
    page = tab.page
    held: list[Route] = []
    page.route("**/api/v1/stats", lambda route: held.append(route))
    tab.go()
    until(page, lambda: len(held) == 2)
    held.pop().fulfill(json={"entries": 7})
    expect(page.locator(".total")).to_have_text("7 entries")
    with page.expect_response("**/api/v1/stats"):
        held.pop().fulfill(json={"entries": 5})
    page.evaluate("new Promise(requestAnimationFrame)")
    expect(page.locator(".total")).to_have_text("7 entries")


def test_a_late_answer_does_not_open_what_is_closed(tab: Opened) -> None:
    add(tab.server, source="Edit it slowly", target="langsam", namespace="slow")
    page = open_entry(tab, "Edit it slowly")
    held: list[Route] = []
    page.route("**/api/v1/entries/*", lambda route: held.append(route))
    pane = page.get_by_role("complementary")
    page.get_by_role("button", name="Edit").click()
    until(page, lambda: len(held) == 1)
    pane.get_by_role("button", name="Close").click()
    with page.expect_response("**/api/v1/entries/*"):
        held.pop().continue_()
    page.evaluate("new Promise(requestAnimationFrame)")
    expect(pane).to_be_hidden()

    results(page).first.click()
    page.get_by_role("button", name="Edit").click()
    until(page, lambda: len(held) == 1)
    held.pop().continue_()
    page.get_by_role("textbox", name="Translation").fill("schneller")
    page.get_by_role("button", name="Save").click()
    until(page, lambda: len(held) == 1)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Discard").click()
    pane.get_by_role("button", name="Close").click()
    held.pop().continue_()
    expect(page.locator(".said")).to_have_text(re.compile("was saved"))
    expect(results(page).first.locator(".target")).to_have_text("schneller")
    expect(pane).to_be_hidden()


def test_a_key_that_is_no_longer_known_costs_nothing_that_was_typed(
    open_page: Callable[..., Opened], guarded: tuple[Server, dict[str, str]]
) -> None:
    server, keys = guarded
    with server.client(keys["writer"]) as client:
        entry = {"source": "The key changes", "target": "alt", "namespace": "own"}
        id = client.post("/api/v1/entries", json=entry).json()["id"]
    page = open_page(server).go("#search?q=The key changes")
    page.get_by_label("Key", exact=True).fill(keys["writer"])
    page.keyboard.press("Enter")
    results(page).first.click()
    page.get_by_role("button", name="Edit").click()
    target = page.get_by_role("textbox", name="Translation")
    target.fill("neu")
    error = {"code": "unauthorized", "message": "there is no such key"}
    page.route("**/entries/*", lambda route: route.fulfill(status=401, json={"error": error}))
    page.get_by_role("button", name="Save").click()
    dialog = page.get_by_role("dialog", name="API key")
    expect(dialog).to_contain_text("The server does not know this key.")
    page.unroute("**/entries/*")
    dialog.get_by_label("Key", exact=True).fill(keys["writer"])
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(target).to_have_value("neu")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".said")).to_have_text(f"Entry {id} was saved.")
    # One that may do other things has another page.
    page.get_by_role("button", name="API key").click()
    dialog.get_by_label("Key", exact=True).fill(keys["reader"])
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Import")).to_have_count(0)


def test_a_browser_that_keeps_nothing(
    open_page: Callable[..., Opened], guarded: tuple[Server, dict[str, str]]
) -> None:
    server, keys = guarded
    tab = open_page(server)
    tab.page.add_init_script("""for (const name of ["localStorage", "sessionStorage"])
      Object.defineProperty(window, name, {
        get() { throw new DOMException("not allowed", "SecurityError"); },
      });""")
    page = tab.go("#search?q=Save all changes before you close the project.")
    page.get_by_label("Key", exact=True).fill(keys["reader"])
    page.keyboard.press("Enter")
    expect(results(page)).not_to_have_count(0)
