"""Files that are not what their names say: each is an error that names what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from diglot import DiglotError, FormatError, TranslationMemoryEntry, formats
from diglot.stores.sqlite import SqliteTranslationMemory

ENTRY = TranslationMemoryEntry("Save the file", "파일 저장", "en", "ko")

# What each format's reader says of a file of another format.
SAID = {
    "tmx": "this is TMX",
    "xliff": "this is XLIFF",
    "xliff2": "this is XLIFF",
    "po": "this looks like a gettext PO file",
    "jsonl": "this looks like JSON",
    "store": "this is an SQLite database, as stores of diglot are",
}


def write(path: Path, form: str) -> None:
    if form == "store":
        with SqliteTranslationMemory.open(path) as store:
            store.add(ENTRY)
    else:
        formats.write(path, [ENTRY], format=form)


OTHERS = [
    (form, named, codec)
    for form in SAID
    for named in ("tmx", "xlf", "po", "mo", "csv", "tsv", "jsonl")
    for codec in ("utf-8", "utf-16")
    if named != form and not (named == "xlf" and form.startswith("xliff"))
    if codec == "utf-8" or form in ("tmx", "xliff", "po")
]


@pytest.mark.parametrize(("form", "named", "codec"), OTHERS)
def test_a_file_of_another_format_is_named(
    tmp_path: Path, form: str, named: str, codec: str
) -> None:
    write(tmp_path / "file", form)
    data = (tmp_path / "file").read_bytes()
    if codec != "utf-8":
        data = data.decode().replace('encoding="UTF-8"', "").encode(codec)
    path = tmp_path / f"other.{named}"
    path.write_bytes(data)
    both_xml = {named, form} <= {"tmx", "xlf", "xliff", "xliff2"}
    said = f"the root element is <{form[:5]}>" if both_xml else SAID[form]
    with pytest.raises(FormatError) as caught:
        list(formats.read(path))
    assert said in str(caught.value)


@pytest.mark.parametrize("form", ["tmx", "xliff", "store"])
def test_pairs_of_text_files(tmp_path: Path, form: str) -> None:
    path = tmp_path / "other.txt"
    write(path, form)
    with pytest.raises(FormatError, match=SAID[form]):
        list(formats.read(path, target_path=path))


def test_a_file_whose_name_says_nothing(tmp_path: Path) -> None:
    write(tmp_path / "memory.db", "store")
    with pytest.raises(DiglotError, match=rf"does not tell by its name \({SAID['store']}\)"):
        list(formats.read(tmp_path / "memory.db"))
    (tmp_path / "notes").write_text("just text", encoding="utf-8")
    with pytest.raises(DiglotError, match="does not tell by its name; allowed"):
        list(formats.read(tmp_path / "notes"))
