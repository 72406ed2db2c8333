"""Variables of a script and what words become through them. Nothing is run.

What the text alone does not settle (`$1`, `$(date)`, a variable set elsewhere) stays as it is
written, so that `$` in a word means: not known from this file.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from compute_budget_planner.readers.shell_arithmetic import integer_value

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_PARAMETER = re.compile(rf"\$(?:(?P<name>{_NAME}|[0-9@*#?!$-])|\{{(?P<brace>{_NAME}|[0-9]+|[@*]))")
_LONGEST_VALUE = 10_000
_DEEPEST = 20


Value = tuple[str | None, list[str] | None]
"""What a name stands for: as a scalar and as an array, None where it is not set."""


@dataclass
class Variables:
    """Scalars and arrays by name, and for each open branch what its names held before."""

    scalars: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, list[str]] = field(default_factory=dict)
    journals: list[dict[str, Value]] = field(default_factory=list)

    def value(self, name: str) -> Value:
        """Return what a name stands for."""
        return self.scalars.get(name), self.arrays.get(name)

    def set(self, name: str, value: Value) -> None:
        """Set or (None) unset a name."""
        if self.journals:
            self.journals[-1].setdefault(name, self.value(name))
        self._put(name, value)

    def _put(self, name: str, value: Value) -> None:
        scalar, array = value
        self.scalars.pop(name, None) if scalar is None else self.scalars.update({name: scalar})
        self.arrays.pop(name, None) if array is None else self.arrays.update({name: array})

    def open_branch(self) -> None:
        """Begin a branch that may or may not be taken."""
        self.journals.append({})

    def close_branch(self) -> dict[str, tuple[Value, Value]]:
        """Undo a branch; return name → (before, in the branch) of all it set."""
        journal = self.journals.pop()
        found = {name: (before, self.value(name)) for name, before in journal.items()}
        for name, before in journal.items():
            self._put(name, before)
        return found

    def arguments(self) -> tuple[str, ...]:
        """Return `$0`, `$1`, … as far as they are known."""
        return (
            (self.scalars.get("0", "$0"), *self.arrays.get("@", [])) if "@" in self.arrays else ()
        )

    def set_arguments(self, words: Sequence[str]) -> None:
        """Make these words `$0`, `$1`, … and `$@`; none of them makes all unknown again."""
        known = [name for name in self.scalars if name.isdecimal()] if not words else []
        for name in known:
            self.set(name, (None, None))
        for number, word in enumerate(words[:100]):
            self.set(str(number), (word, None))
        self.set("@", (None, list(words[1:]) if words else None))

    def expand_words(self, raw: tuple[str, ...]) -> list[str]:
        """Return the words that raw ones become, split where the shell would split them."""
        return [
            word
            for item in raw
            if len(item) <= _LONGEST_VALUE
            for word in _Expansion(self, item).words()
        ]

    def expand_text(self, raw: str) -> str:
        """Return the text that a raw word becomes when it is assigned."""
        text = _Expansion(self, raw[: _LONGEST_VALUE + 1]).text()
        return text if len(text) <= _LONGEST_VALUE else "$_"


class _Expansion:
    """The expansion of one raw word; pieces are (text, may be split)."""

    def __init__(self, variables: Variables, raw: str, depth: int = 0) -> None:
        self.variables = variables
        self.raw = raw
        self.depth = depth
        self.pieces: list[tuple[str, bool]] = []
        self.position = 0
        self.quoted = False
        self.unclosed = False

    def text(self) -> str:
        self._scan()
        return "".join(piece for piece, _ in self.pieces)

    def words(self) -> list[str]:
        array = re.fullmatch(rf'"?\$\{{({_NAME})\[[@*]\]\}}"?', self.raw)
        if array and array[1] in self.variables.arrays:
            return list(self.variables.arrays[array[1]])
        if self.raw.strip('"') in ("$@", "${@}", "$*") and "@" in self.variables.arrays:
            return list(self.variables.arrays["@"])
        self._scan()
        words = [""]
        for piece, splits in self.pieces:
            parts = _split(piece) if splits else [piece]
            leading = splits and piece[:1].isspace() and words[-1] != ""
            if leading:
                words.append("")
            for index, part in enumerate(parts):
                if index:
                    words.append("")
                words[-1] += part
        return [word for word in words if word] or ([""] if self.raw[:1] in ("'", '"') else [])

    def _scan(self) -> None:
        while self.position < len(self.raw) and len(self.pieces) <= _LONGEST_VALUE:
            letter = self.raw[self.position]
            if letter == "\\":
                self._escape()
            elif letter == '"':
                self.quoted = not self.quoted
                self.position += 1
            elif letter == "'" and not self.quoted:
                end = self.raw.find("'", self.position + 1)
                end = len(self.raw) if end < 0 else end
                self._add(self.raw[self.position + 1 : end], end + 1)
            elif letter == "$":
                self._dollar()
            elif letter == "`":
                end = self.raw.find("`", self.position + 1)
                end = len(self.raw) if end < 0 else end + 1
                self._add(f"$({self.raw[self.position : end].strip('`')})", end)
            else:
                stop = re.compile(r"[\\\"'$`]").search(self.raw, self.position + 1)
                end = stop.start() if stop else len(self.raw)
                self._add(self.raw[self.position : end], end)

    def _add(self, text: str, end: int, *, splits: bool = False) -> None:
        self.pieces.append((text, splits))
        self.position = end

    def _escape(self) -> None:
        following = self.raw[self.position + 1 : self.position + 2]
        kept = "" if following == "\n" else following
        if self.quoted and following not in ("$", '"', "\\", "`", "\n"):
            kept = "\\" + following
        self._add(kept, self.position + 2)

    def _dollar(self) -> None:
        raw, start = self.raw, self.position
        if raw.startswith("$(", start) and (end := self._closing("(", ")")) > 0:
            value = None
            if raw.startswith("$((", start) and raw.endswith("))", start, end):
                value = self._arithmetic(raw[start + 3 : end - 2])
            self._add(raw[start:end] if value is None else str(value), end)
            return
        match = _PARAMETER.match(raw, start)
        if match is None:
            self._add("$", start + 1)
        elif match["name"] is not None:
            scalar = self.variables.scalars.get(match["name"])
            found = match.group() if scalar is None else scalar
            self._add(found, match.end(), splits=not self.quoted and scalar is not None)
        else:
            end = self._closing("{", "}")
            if end < 0:
                self._add(raw[start:], len(raw))
                return
            braced = self._braced(match["brace"], raw[match.end() : end - 1])
            found = raw[start:end] if braced is None else braced
            self._add(found, end, splits=not self.quoted and braced is not None)

    def _closing(self, opening: str, closing: str) -> int:
        """Return the position behind the bracket that closes the one behind `$`, or -1."""
        if self.unclosed:
            return -1
        depth = 0
        for index in range(self.position + 1, len(self.raw)):
            depth += (self.raw[index] == opening) - (self.raw[index] == closing)
            if depth == 0:
                return index + 1
        self.unclosed = True
        return -1

    def _braced(self, name: str, rest: str) -> str | None:
        """Return what `${name rest}` stands for: plain, a default, or an element of an array."""
        value = self.variables.scalars.get(name)
        array = self.variables.arrays.get(name)
        if index := re.fullmatch(r"\[(@|\*|[0-9]{1,6})\]", rest):
            if array is not None and index[1] in "@*":
                return " ".join(shlex.quote(word) for word in array)
            return None if array is None else "".join(array[int(index[1]) :][:1])
        default = re.fullmatch(r":?[-=](.*)", rest, re.DOTALL)
        if default and not value and self.depth < _DEEPEST:
            return _Expansion(self.variables, default[1], self.depth + 1).text()
        return value if not rest or (default and value) else None

    def _arithmetic(self, expression: str) -> int | None:
        if self.depth >= _DEEPEST or len(expression) > 500:
            return None
        text = _Expansion(self.variables, expression, self.depth + 1).text()

        def number(match: re.Match[str]) -> str:
            return f"({self.variables.scalars.get(match[0], match[0])})"

        return integer_value(re.sub(rf"\b{_NAME}\b", number, text))


def _split(text: str) -> list[str]:
    """Split a value as a command line; quotes in it are honoured as `eval` would."""
    # A command substitution stays one word: what it gives is unknown.
    joined = re.sub(r"\$\([^()]*\)", lambda match: re.sub(r"[\s\"']", "\0", match[0]), text)
    try:
        parts = shlex.split(joined)
    except ValueError:
        parts = joined.split()
    parts = [part.replace("\0", " ") for part in parts]
    return [*parts, ""] if text[-1:].isspace() else parts
