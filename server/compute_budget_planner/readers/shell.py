"""A shell script as what it assigns and what it runs. The text is read, never run.

Loops are read once. Of branches the text cannot decide all are read, each from the state in
front of them; a variable they set differently stays open. A word that still holds a `$` is not
settled by this file alone.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from compute_budget_planner.errors import FormatError
from compute_budget_planner.readers.contract import Problem, SourceFile
from compute_budget_planner.readers.shell_alternatives import merged
from compute_budget_planner.readers.shell_blocks import Block, Branch, Item, blocks
from compute_budget_planner.readers.shell_branches import (
    Taken,
    both,
    condition_holds,
    either,
    opposite,
)
from compute_budget_planner.readers.shell_expansion import Variables
from compute_budget_planner.readers.shell_inner import SHELLS, inner_text
from compute_budget_planner.readers.shell_loops import loop_runs, within
from compute_budget_planner.readers.shell_script import Assignment, ShellCommand, ShellScript
from compute_budget_planner.readers.shell_words import RawCommand, raw_commands

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", re.DOTALL)
_DECLARATIONS = ("export", "declare", "typeset", "local", "readonly")
_LARGEST_SCRIPT = 1_000_000
_DEEPEST = 3
_MOST_LETTERS = 3_000_000
"""Letters of all expanded commands together: a bound for what a hostile script can cost."""


def read_commands(file: SourceFile, known: Mapping[str, str] | None = None) -> ShellScript:
    """Read a script; `known` are variables set from outside, such as `SLURM_NNODES`.

    Raises:
        FormatError: the script is larger than 1 MB.
    """
    if len(file.text) > _LARGEST_SCRIPT:
        raise FormatError(
            "the script is larger than 1 MB", where=file.path, remedy="Name the job script itself."
        )
    script = _Script(file, Variables(dict(known or {})))
    script.read(blocks(raw_commands(file.text)))
    script.read_uncalled()
    return ShellScript(script.assignments, tuple(script.commands), tuple(script.problems))


class _Script:
    def __init__(self, file: SourceFile, variables: Variables) -> None:
        self.file = file
        self.variables = variables
        self.assignments: dict[str, Assignment] = {}
        self.commands: list[ShellCommand] = []
        self.problems: list[Problem] = []
        self.loops: list[int | None] = []
        self.branches: list[tuple[int, int]] = []
        self.functions: dict[str, Sequence[Item]] = {}
        self.called: set[str] = set()
        self.prefix: tuple[str, ...] = ()
        self.depth = 0
        self.n_letters = 0
        self.n_blocks = 0

    def read(self, items: Sequence[Item]) -> None:
        for item in items:
            if self.n_letters > _MOST_LETTERS:
                return
            if isinstance(item, RawCommand):
                self._command(list(item.words), item)
            else:
                self._block(item)

    def read_uncalled(self) -> None:
        """Read functions nobody calls by name: `"$@"` or another script may."""
        for name, body in list(self.functions.items()):
            if name not in self.called:
                self.read(body)

    def _block(self, block: Block) -> None:
        match block.kind:
            case "function":
                self.functions[block.header[0]] = block.branches[0].items
            case "group":
                self.read(block.branches[0].items)
            case "loop":
                self._loop(block)
            case "case":
                self._choose(block, self._fits(block), whole=_has_default(block))
            case _:
                whole = block.kind == "guard" and len(block.branches) > 1
                whole = whole or not block.branches[-1].conditions
                self._choose(block, self._holds, whole=whole)

    def _choose(self, block: Block, taken: Callable[[Branch], Taken], *, whole: bool) -> None:
        """Read the branch that is taken, or all that may be, each from the state before them."""
        candidates: list[tuple[Taken, Branch]] = []
        for branch in block.branches:
            holds = taken(branch)
            if holds is not Taken.NO:
                candidates.append((holds, branch))
            if holds is Taken.YES:
                whole = True
                break
        if candidates and candidates[0][0] is Taken.YES:
            self.read(candidates[0][1].items)
            return
        self.n_blocks += 1
        number = self.n_blocks
        results = []
        for index, (_, branch) in enumerate(candidates):
            self.branches.append((number, index))
            self.variables.open_branch()
            self.read(branch.items)
            results.append(self.variables.close_branch())
            self.branches.pop()
        for name in dict.fromkeys(name for result in results for name in result):
            before = next(result[name][0] for result in results if name in result)
            in_branches = [result[name][1] if name in result else None for result in results]
            value, alternatives = merged(name, before, in_branches, whole)
            self._settle(name, value[0] or "", alternatives)
            self.variables.set(name, value)

    def _settle(self, name: str, value: str, alternatives: Sequence[str]) -> None:
        known = self.assignments.get(name)
        if known is None:
            return
        self.assignments[name] = replace(known, value=value)
        if alternatives:
            listed = " or ".join(f"`{text}`" for text in alternatives[:8])
            text = f"`{name}` is {listed}, by a condition this file does not decide."
            self.problems.append(Problem(self.file.at(known.line), text))

    def _holds(self, branch: Branch) -> Taken:
        """Decide the conditions of a branch; those of a guard end with its own operator."""
        result, join = Taken.YES, "&&"
        for command in branch.conditions:
            holds = condition_holds(self.variables.expand_words(command.words))
            result = both(result, holds) if join == "&&" else either(result, holds)
            join = command.end if command.end in ("&&", "||") else "&&"
        last = branch.conditions[-1].end if branch.conditions else ""
        return opposite(result) if last == "||" else result

    def _fits(self, block: Block) -> Callable[[Branch], Taken]:
        subject = self.variables.expand_text(" ".join(block.header))

        def fits(branch: Branch) -> Taken:
            patterns = self.variables.expand_words(tuple(branch.patterns))
            if "*" in patterns:
                return Taken.YES
            if not patterns or "$" in subject or any("$" in pattern for pattern in patterns):
                return Taken.MAYBE if patterns else Taken.NO
            return Taken.YES if any(fnmatchcase(subject, p) for p in patterns) else Taken.NO

        return fits

    def _loop(self, block: Block) -> None:
        header = block.header
        values = self.variables.expand_words(header[2:]) if header[1:2] == ("in",) else []
        self.loops.append(loop_runs(values))
        if header:
            single = values[0] if self.loops[-1] == 1 and len(values) == 1 else None
            self.variables.set(header[0], (single, None))
            self.read(block.branches[0].items)
        else:
            self._choose(block, lambda _: Taken.MAYBE, whole=False)
        self.loops.pop()

    def _command(self, words: list[str], command: RawCommand) -> None:
        declares = words[0] in _DECLARATIONS
        exported = words[0] == "export"
        rest = [w for w in words[1:] if not w.startswith("-")] if declares else words
        if command.array is not None and rest:
            self._array(rest[-1], command.array, command.line)
            rest = rest[:-1]
        environment = {}
        while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
            name, append, raw = match.groups()
            value = self.variables.expand_text(raw)
            if len(rest) == 1 or declares or all(_ASSIGNMENT.fullmatch(word) for word in rest):
                self._assign(name, value, command.line, append=bool(append), exported=exported)
            else:
                environment[name] = value
            rest = rest[1:]
        if declares:
            for name in rest:
                if exported and name in self.assignments:
                    self.assignments[name] = replace(self.assignments[name], exported=True)
            return
        expanded = self.prefix + tuple(self.variables.expand_words(tuple(rest)))
        self.n_letters += sum(map(len, expanded)) + 100
        if self.n_letters > _MOST_LETTERS:
            text = (
                "the script runs more than can be read; what stands behind this line is left out."
            )
            self.problems.append(Problem(self.file.at(command.line), text))
        if not rest or not expanded or self._inner(expanded, command):
            return
        self.commands.append(
            ShellCommand(
                expanded, command.line, environment, within(self.loops), tuple(self.branches)
            )
        )

    def _inner(self, words: tuple[str, ...], command: RawCommand) -> bool:
        """Read what `bash -c TEXT`, `eval TEXT`, `bash <<EOF` or the name of a function runs."""
        if self.depth >= _DEEPEST:
            return False
        prefix, child = self.prefix, True
        arguments: tuple[str, ...] = ()
        if not prefix and words[0] in self.functions:
            self.called.add(words[0])
            items, arguments, child = self.functions[words[0]], words, False
        elif command.document and words[-1].rsplit("/", maxsplit=1)[-1] in SHELLS:
            items = blocks(raw_commands(command.document))
            self.prefix = words[:-1]
        elif (split := inner_text(words)) is not None:
            self.prefix, text, arguments = split
            child = words[0] != "eval"
            items = blocks([replace(c, line=command.line) for c in raw_commands(text)])
        else:
            return False
        self.depth += 1
        outer = self.variables.arguments()
        if child:
            self.variables.open_branch()
        if arguments:
            self.variables.set_arguments(arguments)
        self.read(items)
        if child:
            # What a shell of its own sets, its caller does not see.
            self.variables.close_branch()
        elif arguments:
            self.variables.set_arguments(outer)
        self.depth -= 1
        self.prefix = prefix
        return True

    def _array(self, word: str, raw: tuple[str, ...], line: int) -> None:
        name = word.rstrip("(=+")
        elements = self.variables.expand_words(raw)[:10_000]
        if word.endswith("+=("):
            elements = (self.variables.arrays.get(name, []) + elements)[:10_000]
        first = elements[0] if elements else ""
        self.variables.set(name, (first, elements))
        self.assignments.setdefault(name, Assignment(name, first, line, exported=False))

    def _assign(self, name: str, value: str, line: int, *, append: bool, exported: bool) -> None:
        if append:
            value = (self.variables.scalars.get(name) or "") + value
            value = value if len(value) <= 10_000 else "$_"
        self.variables.set(name, (value, self.variables.arrays.get(name)))
        known = self.assignments.get(name)
        shown = exported or (known is not None and known.exported)
        self.assignments[name] = Assignment(name, value, line, shown)


def _has_default(block: Block) -> bool:
    return any("*" in branch.patterns for branch in block.branches)
