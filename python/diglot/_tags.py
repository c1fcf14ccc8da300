"""Taking the edge off tags: what is remembered is data, and must not open or close the sections of
a prompt.
"""

from __future__ import annotations

import re

from diglot.store import WHITE_SPACE

_SPACE = f"[{re.escape(WHITE_SPACE)}]"
_NAME = re.compile(f"<{_SPACE}*/?{_SPACE}*[A-Za-z_][A-Za-z0-9_:-]*")
_ATTRIBUTE = re.compile(f"{_SPACE}+[A-Za-z0-9_:-]+(?P<equals>=)?")
_CLOSE = re.compile(f"{_SPACE}*/?>")
_BARE_VALUE = re.compile(f"[^>{re.escape(WHITE_SPACE)}]+")

# What is not a tag with attributes runs to the next of its closing text, whatever is in between.
_SECTIONS = (
    (re.compile("<!--"), "-->"),
    (re.compile(r"<!\[[Cc][Dd][Aa][Tt][Aa]\["), "]]>"),
    (re.compile(f"<!{_SPACE}*[A-Za-z_]"), ">"),
    (re.compile(r"<\?"), "?>"),
)


def neutralize_tags(text: str, limit: int) -> str:
    """The text with `‹` and `›` for `<` and `>` in all tags, comments, CDATA sections, declarations
    and processing instructions that begin within the first `limit` characters.

    The time it takes is linear in the length of the text, whatever is in it: a place from which a
    tag does not close, and a closing text that does not come any more, are remembered.
    """
    parts: list[str] = []
    done = 0
    dead: set[int] = set()
    absent: set[str] = set()
    start = text.find("<")
    while 0 <= start < limit:
        end = _tag_end(text, start, dead)
        if end is None:
            end = _section_end(text, start, absent)
        if end is None:
            end = start + 1
        else:
            parts += (text[done:start], text[start:end].replace("<", "‹").replace(">", "›"))
            done = end
        start = text.find("<", end)
    parts.append(text[done:])
    return "".join(parts)


def _tag_end(text: str, start: int, dead: set[int]) -> int | None:
    """Where the tag that opens at `start` ends. `dead` has the places from which no tag closes."""
    name = _NAME.match(text, start)
    places = [name.end()] if name else []
    while places:
        at = places.pop()
        if at in dead:
            continue
        dead.add(at)
        if close := _CLOSE.match(text, at):
            return close.end()
        if attribute := _ATTRIBUTE.match(text, at):
            at = attribute.end()
            if not attribute["equals"]:
                places.append(at)
                continue
            if bare := _BARE_VALUE.match(text, at):
                places.append(bare.end())
            # A quoted value is tried first, and taken for a bare one if no tag closes after it.
            if text[at : at + 1] in {'"', "'"} and (quote := text.find(text[at], at + 1)) >= 0:
                places.append(quote + 1)
    return None


def _section_end(text: str, start: int, absent: set[str]) -> int | None:
    for opening, closing in _SECTIONS:
        if closing not in absent and (head := opening.match(text, start)):
            end = text.find(closing, head.end())
            if end >= 0:
                return end + len(closing)
            absent.add(closing)
    return None
