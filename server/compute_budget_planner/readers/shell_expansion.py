"""Variables of a script and what words become through them. Nothing is run.

What the text alone does not settle (`$1`, `$(date)`, a variable set elsewhere) stays as it is
written, so that `$` in a word means: not known from this file.
"""

import ast
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_PARAMETER = re.compile(rf"\$(?:(?P<name>{_NAME}|[0-9@*#?!$-])|\{{(?P<brace>{_NAME}|[0-9]+|[@*]))")
_LONGEST_VALUE = 10_000
_DEEPEST = 20


@dataclass
class Variables:
    """Scalars and arrays by name."""

    scalars: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, list[str]] = field(default_factory=dict)

    def with_arguments(self, words: Sequence[str]) -> "Variables":
        """Return a copy in which `$0`, `$1`, … and `$@` are these words."""
        numbered = {str(number): word for number, word in enumerate(words[:100])}
        arrays = {**self.arrays, "@": list(words[1:])}
        return Variables(self.scalars | numbered, arrays)

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


_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    # The shell divides towards zero.
    ast.Div: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    ast.Mod: lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    ast.Pow: lambda a, b: a ** min(max(b, 0), 64) if abs(a) <= 1024 else 10**30,
}


def integer_value(expression: str) -> int | None:
    """Return the value of a whole-number expression with + - * / % **, or None."""
    if not re.fullmatch(r"[0-9+*/%() -]{1,500}", expression.strip()):
        return None
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        return _integer(tree.body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _integer(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            result = value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            result = -_integer(operand)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATIONS:
            result = _OPERATIONS[type(operator)](_integer(left), _integer(right))
        case _:
            message = "not a whole-number expression"
            raise ValueError(message)
    if abs(result) > 10**18:
        message = "too large"
        raise ValueError(message)
    return result
