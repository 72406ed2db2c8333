"""Shell text into commands of raw words: what stands where, before anything is expanded.

Nothing is run. Quotes stay in the words, comments and redirections are left out, here-documents
stand beside their command, continued lines keep the number of their first line. Every letter is
looked at once or twice, whatever the text: a file cannot make its reader slow.
"""

import re
from dataclasses import dataclass, replace

_ARRAY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_OPERATOR = re.compile(r"&&|\|\||[()<>]")
_BLANK = " \t\r"
_ENDS = "\n;&|()"
_LETTERS = re.compile(f"[^{re.escape(_BLANK + _ENDS)}<>\\\\\"'`$]+")
_CLOSING = {"(": ")", "{": "}"}
_LONGEST_SPAN = 20_000


@dataclass(frozen=True)
class RawCommand:
    """The words of one simple command, and the operator that ends it (`;`, `&&`, `|`, …).

    `array` holds the elements of `words[-1]`, a `NAME=(`. `document` is the text of a
    here-document with as many line ends in front as make its lines those of the script.
    """

    line: int
    words: tuple[str, ...]
    end: str = "\n"
    array: tuple[str, ...] | None = None
    document: str = ""


def raw_commands(text: str) -> list[RawCommand]:
    """Return the commands of a script in order; unclosed quotes are taken as letters."""
    return _Lexer(text).run()


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.line = 1
        self.commands: list[RawCommand] = []
        self.words: list[str] = []
        self.first_line = 1
        self.heredocs: list[tuple[str, int]] = []
        # Once a quote or bracket is not closed, looking for its end again is in vain.
        self.unclosed: set[str] = set()

    def run(self) -> list[RawCommand]:
        while self.position < len(self.text):
            letter = self.text[self.position]
            if letter in _BLANK:
                self.position += 1
            elif self.text.startswith(("\\\n", "\\\r\n"), self.position):
                self._advance(2 if self.text.startswith("\\\n", self.position) else 3)
            elif letter == "#":
                self._skip_line()
            elif self.text.startswith("((", self.position) and self.words in ([], ["for"]):
                end = self.text.find("))", self.position, self.position + 500)
                self._advance(end + 2 - self.position if end >= 0 else 2)
            elif letter != "\n" and self._in_test() and (operator := _OPERATOR.match(self._rest())):
                self.words.append(self._advance(operator.end()))
            elif letter in "<>" or self.text.startswith("&>", self.position):
                self._redirection()
            elif letter in _ENDS:
                self._end_or_open(letter)
            else:
                self._take_word()
        self._end_command()
        return self.commands

    def _in_test(self) -> bool:
        """Tell whether a `[[` is open, in which `&&`, `<` and brackets are no shell operators."""
        return self.words[-2:] != [] and "[[" in self.words[:3] and self.words[-1] != "]]"

    def _rest(self) -> str:
        return self.text[self.position : self.position + 2]

    def _end_or_open(self, letter: str) -> None:
        following = self._rest()
        if following == "()" and len(self.words) == 1 and _NAME.fullmatch(self.words[0]):
            self.words.insert(0, "function")
            letter = "()"
        elif following in ("&&", "||", ";;", ";&"):
            letter = following
        self._end_command(letter)
        if letter == ";;":
            self.commands.append(RawCommand(self.line, (";;",)))
        self._advance(len(letter))
        if letter == "\n":
            self._take_heredocs()

    def _advance(self, count: int) -> str:
        span = self.text[self.position : self.position + count]
        self.line += span.count("\n")
        self.position += len(span)
        return span

    def _skip_line(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    def _end_command(self, end: str = "\n", array: tuple[str, ...] | None = None) -> None:
        if self.words:
            self.commands.append(RawCommand(self.first_line, tuple(self.words), end, array))
        self.words = []

    def _take_word(self) -> None:
        if not self.words:
            self.first_line = self.line
        word = self._word()
        if self.text.startswith("(", self.position) and _ARRAY_NAME.fullmatch(word):
            self._advance(1)
            self.words.append(word + "(")
            self._end_command(array=self._array())
        elif word.isdigit() and self.text.startswith((">", "<"), self.position):
            pass  # the stream number of a redirection
        else:
            self.words.append(word)

    def _array(self) -> tuple[str, ...]:
        elements = []
        while self.position < len(self.text):
            letter = self.text[self.position]
            if letter == ")":
                self._advance(1)
                break
            if letter == "#":
                self._skip_line()
            elif letter in _BLANK + _ENDS + "<>":
                self._advance(1)
            elif self.text.startswith("\\\n", self.position):
                self._advance(2)
            else:
                elements.append(self._word())
        return tuple(elements)

    def _word(self) -> str:
        parts: list[str] = []
        while self.position < len(self.text):
            letter = self.text[self.position]
            if letters := _LETTERS.match(self.text, self.position):
                parts.append(letters[0])
                self.position = letters.end()
                continue
            if letter in _BLANK + _ENDS + "<>":
                break
            if letter == "\\":
                span = self._advance(2)
                parts.append("" if span == "\\\n" else span)
                continue
            if letter in "\"'`":
                parts.append(self._advance(self._quoted_length(self.position)))
            elif letter == "$" and self.text[self.position + 1 : self.position + 2] in ("(", "{"):
                parts.append(self._advance(self._bracketed_length()))
            else:
                parts.append(self._advance(1))
        return "".join(parts)

    def _quoted_length(self, start: int) -> int:
        """Letters of the quoted span that begins at `start`, 1 when it is never closed."""
        quote = self.text[start]
        if quote in self.unclosed:
            return 1
        if quote == "'" and (end := self.text.find(quote, start + 1)) >= 0:
            return end + 1 - start
        waiting = [quote]
        index = start + 1
        while index < len(self.text):
            letter, closing = self.text[index], waiting[-1]
            if letter == "\\" and closing != "'":
                index += 2
                continue
            if letter == closing:
                waiting.pop()
                if not waiting:
                    return index + 1 - start
            elif closing == '"' and self.text.startswith("$(", index):
                # The quotes inside a substitution are its own.
                waiting.append(")")
                index += 1
            elif closing == ")" and letter in "\"'(":
                waiting.append(")" if letter == "(" else letter)
            index += 1
        self.unclosed.add(quote)
        return 1

    def _bracketed_length(self) -> int:
        """Letters of `$( … )` or `${ … }`, 1 when it is never closed."""
        opening = self.text[self.position + 1]
        closing = _CLOSING[opening]
        depth = 0
        index = self.position + 1
        end = min(len(self.text), self.position + _LONGEST_SPAN)
        while index < end and opening not in self.unclosed:
            letter = self.text[index]
            if letter == "\\":
                index += 2
                continue
            if letter in "\"'" and opening == "(":
                index += self._quoted_length(index)
                continue
            depth += (letter == opening) - (letter == closing)
            index += 1
            if depth == 0:
                return index - self.position
        self.unclosed.add(opening)
        return 1

    def _redirection(self) -> None:
        match = re.compile(r"&?[<>]+[&|-]?").match(self.text, self.position)
        operator = self._advance(match.end() - match.start() if match else 1)
        if self.text.startswith("(", self.position):
            return  # process substitution: its command is read as it stands
        while self.text[self.position : self.position + 1] in (" ", "\t"):
            self.position += 1
        target = self._word()
        if operator in ("<<", "<<-") and target:
            self.heredocs.append((re.sub(r"[\"'\\]", "", target), len(self.commands)))

    def _take_heredocs(self) -> None:
        """Give the here-documents that begin on this line to the commands they belong to."""
        for delimiter, index in self.heredocs:
            start, first = self.position, self.line
            end = self.position
            while self.position < len(self.text):
                end = self.position
                self._skip_line()
                line = self.text[end : self.position]
                self._advance(1)
                if line.strip() == delimiter:
                    break
            else:
                end = len(self.text)
            if index < len(self.commands):
                document = "\n" * (first - 1) + self.text[start:end]
                self.commands[index] = replace(self.commands[index], document=document)
        self.heredocs = []
