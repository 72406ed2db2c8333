"""Commands that stand in YAML: the script of a `run:`, the command and arguments of a container."""

import re
from collections.abc import Mapping, Sequence

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.shell import read_commands
from compute_budget_planner.readers.shell_inner import SHELLS
from compute_budget_planner.readers.shell_script import ShellCommand, ShellScript

_SECRET = re.compile(r"token|key|secret|passw|credential|auth", re.IGNORECASE)
_KUBERNETES_VARIABLE = re.compile(r"\$\((\w+)\)")
NO_COMMANDS = ShellScript({}, (), ())


def text_of(node: Node | None) -> str:
    """Return a scalar as a script would see it; nothing for a list, a mapping or none."""
    value = node.scalar if node is not None else None
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def script_of(file: SourceFile, node: Node | None, known: Mapping[str, str]) -> ShellScript:
    """Read the script a scalar holds, with the lines it has in the file.

    Raises:
        FormatError: the script is larger than 1 MB.
    """
    text = text_of(node)
    if node is None or not text.strip():
        return NO_COMMANDS
    # A block starts on the line behind its key, anything else beside it.
    line = (node.line or 1) if "\n" in text.strip() else (node.line or 1) - 1
    return read_commands(SourceFile(file.path, "\n" * line + text), known)


def script_of_lines(
    file: SourceFile, nodes: Sequence[Node], known: Mapping[str, str]
) -> ShellScript:
    """Read a list of commands that one shell runs in turn.

    Raises:
        FormatError: the script is larger than 1 MB.
    """
    text, line = "", 1
    for node in nodes:
        wanted = (node.line or line) + ("\n" in text_of(node).strip())
        text += "\n" * (wanted - line)
        line = max(line, wanted)
        command = text_of(node).rstrip() + "\n"
        text += command
        line += command.count("\n")
    return read_commands(SourceFile(file.path, text), known) if text.strip() else NO_COMMANDS


def container_script(
    file: SourceFile, command: Node | None, arguments: Node | None, known: Mapping[str, str]
) -> ShellScript:
    """Read what a container runs: the text behind `bash -c`, or words no shell ever sees.

    Without a shell only Kubernetes' own `$(NAME)` stands for a variable; other `$` stay open.

    Raises:
        FormatError: the script is larger than 1 MB.
    """
    parts = [
        part
        for node in (command, arguments)
        if node is not None
        for part in (node.items or ((node,) if text_of(node) else ()))
    ]
    words = [text_of(part) for part in parts]
    for index, word in enumerate(words[:4]):
        flags = words[index + 1 : index + 2]
        if word.rsplit("/", maxsplit=1)[-1] in SHELLS and flags and _runs_text(flags[0]):
            return script_of_lines(file, parts[index + 2 : index + 3], known)
    if len(words) == 1 and re.search(r"\s", words[0]):
        return script_of(file, parts[0], known)
    if not any(words):
        return NO_COMMANDS
    return _words_as_they_stand(words, parts[0].line, known)


def _words_as_they_stand(
    words: Sequence[str], line: int | None, known: Mapping[str, str]
) -> ShellScript:
    def value(match: re.Match[str]) -> str:
        return known.get(match[1], match[0])

    expanded = tuple(_KUBERNETES_VARIABLE.sub(value, word) for word in words if word)
    return ShellScript({}, (ShellCommand(expanded, line or 1),), ())


def _runs_text(flags: str) -> bool:
    return re.fullmatch(r"-[a-z]*c", flags) is not None


def variables_of(node: Node | None) -> dict[str, str]:
    """Return the variables of an `env`: a mapping, a list of `NAME=value`, or of name and value.

    Variables whose name says that they are secret are left out, and those without a value.
    """
    found: dict[str, str] = {}
    if node is None:
        return found
    for name, member in node.mapping.items():
        found[name] = text_of(member)
    for item in node.items:
        if item.mapping:
            found[text_of(item.get("name"))] = text_of(item.get("value"))
        else:
            name, equals, value = text_of(item).partition("=")
            found |= {name: value} if equals else {}
    return without_secrets(found)


def without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that have a value and no name of a secret."""
    return {n: v for n, v in variables.items() if n and v and not _SECRET.search(n)}
