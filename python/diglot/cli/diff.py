"""What differs between two texts.

They are compared by words, and by characters where a script has no spaces between words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

from diglot import normalize

Change = Literal["same", "added", "removed"]

# Han, kana and bopomofo; Thai, Lao, Khmer and Burmese. Each character is a part of its own.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u312f\u31a0-\u31ff\u3400-\u9fff"
    r"\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[^\W{_UNSPACED}]")
_PART = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|\s+|.", re.DOTALL)

# Pairs of parts that may be compared; larger differences are shown as one.
_MOST_PAIRS = 4_000_000


def changes(old: str, new: str) -> Iterator[tuple[Change, str]]:
    """The pieces of `new` and, between them, those of `old` that it lacks.

    What a score does not count is not a change either: case, the width of characters, the kind and
    amount of white space. The pieces that are not `removed` make up `new`.
    """
    old_parts, new_parts = _parts(old), _parts(new)
    old_keys, new_keys = ([normalize(part) for part in parts] for parts in (old_parts, new_parts))
    start = 0
    while start < min(len(old_keys), len(new_keys)) and old_keys[start] == new_keys[start]:
        start += 1
    old_end, new_end = len(old_keys), len(new_keys)
    while min(old_end, new_end) > start and old_keys[old_end - 1] == new_keys[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1

    yield from _piece("same", new_parts[:start])
    steps = _steps(old_keys[start:old_end], new_keys[start:new_end])
    for step, old_from, old_to, new_from, new_to in steps:
        if step == "equal":
            yield from _piece("same", new_parts[start + new_from : start + new_to])
        else:
            yield from _piece("removed", old_parts[start + old_from : start + old_to])
            yield from _piece("added", new_parts[start + new_from : start + new_to])
    yield from _piece("same", new_parts[new_end:])


def _steps(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """How `new` comes from `old`, as `SequenceMatcher.get_opcodes` has it."""
    if len(old) * len(new) > _MOST_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    steps: list[tuple[str, int, int, int, int]] = []
    for step in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        # Two changed words with an unchanged space between them read better as one change.
        if len(steps) > 1 and step[0] != "equal" and not any(new[steps[-1][3] : step[3]]):
            del steps[-1]
            _, old_from, _, new_from, _ = steps.pop()
            step = ("replace", old_from, step[2], new_from, step[4])
        steps.append(step)
    return steps


def _piece(change: Change, parts: list[str]) -> Iterator[tuple[Change, str]]:
    if parts:
        yield change, "".join(parts)


def _parts(text: str) -> list[str]:
    """Words, runs of white space, and all other characters one by one, with their marks."""
    parts: list[str] = []
    for found in _PART.finditer(text):
        part = found[0]
        # Python's \w leaves marks out, and so ends a word at each of them.
        if parts and (_is_mark(part[0]) or (_is_mark(parts[-1][-1]) and _WORD.match(part))):
            parts[-1] += part
        else:
            parts.append(part)
    return parts


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")
