"""Text of a project as inert Markdown: shown as it is, unable to change the page around it.

A budget is read by agents as well as by people, so text from files must stay recognisable as a
value: no headings, fences, comments, links, images or table columns of its own making.
"""

import re
import unicodedata

MAX_CHARACTERS = 1_000
"""Longest text of a project that enters a page; the rest is cut and marked with an ellipsis."""

_SPACES = {"Cc", "Zl", "Zp"}
_DROPPED = {"Cf", "Cs", "Cn", "Co"}
_LONGEST_CODE_SPAN = 120
_CODE_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_NOT_FOR_CODE = re.compile(r"[`|<\\]")
_SPECIAL = re.compile(
    r"""
      [`*|]                                     # code, emphasis, the wall of a table cell
    | ~(?=~)                                    # strikethrough
    | (?<![^\W_])_ | _(?![^\W_])                # emphasis; inside a word `_` is only a letter
    | \](?=[(\[:])                              # links, images and link definitions
    | \\(?=[!-/:-@\[-`{-~]|$)                   # a backslash that would escape
    | ^(?![+-]\d)[#>+=~\[-]                     # headings, quotes, lists, rules; no number
    """,
    re.VERBOSE,
)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_LIST_NUMBER = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")


def plain(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return text on one line of at most `limit` characters, all of them visible.

    Control characters and line ends become spaces; bidirectional and zero-width characters,
    surrogates, private and unassigned code points go.
    """
    seen = text[: 4 * limit]
    if not seen.isprintable():
        seen = "".join(_visible(character) for character in seen)
    line = " ".join(seen.split())
    cut = len(line) > limit or len(text) > 4 * limit
    return line[: limit - 1].rstrip() + "…" if cut else line


def escaped(text: str) -> str:
    """Return text that reads as itself in a paragraph, a list item or a table cell.

    Short code spans (`` `like_this` ``) stay code spans; every other mark loses its meaning.
    """
    parts = _CODE_SPAN.split(plain(text))
    # A span that is no code still pairs its two marks: the next one must not open at its end.
    shown = [
        f"`{part}`"
        if index % 2 and not _NOT_FOR_CODE.search(part)
        else _escaped_part(f"`{part}`" if index % 2 else part, first=index == 0)
        for index, part in enumerate(parts)
    ]
    return "".join(shown)


def code(text: str) -> str:
    """Return a name, path or value as a code span; as escaped text where none would be safe."""
    line = plain(text)
    if not line or len(line) > _LONGEST_CODE_SPAN or _NOT_FOR_CODE.search(line):
        return escaped(line)
    return f"`{line}`"


def fence_around(text: str) -> str:
    """Return a fence of backticks longer than any run of backticks in the text."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _escaped_part(text: str, *, first: bool) -> str:
    # Only what opens the whole text can open a block; later parts follow a code span.
    guarded = text if first else f"\0{text}"
    guarded = _SPECIAL.sub(lambda match: f"\\{match.group()}", guarded)
    guarded = _LIST_NUMBER.sub(r"\1\\\2", guarded)
    guarded = _TAG.sub("&lt;", _ENTITY.sub("&amp;", guarded))
    return guarded.removeprefix("\0")


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category in _SPACES:
        return " "
    return "" if category in _DROPPED else character
