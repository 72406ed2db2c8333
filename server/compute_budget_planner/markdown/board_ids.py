"""Ids of board entries, and the counters of `memory/project.yaml` they are taken from.

An id is `PREFIX-###`. Counters lag in practice, so the next id lies above the counter and above
every id of its prefix found anywhere on the board. `000` is a template's placeholder; other forms
(`DEC-2026-05-02`, `RSK-ART-002`) are left alone and do not count.
"""

import re
from typing import TYPE_CHECKING

from compute_budget_planner.errors import FormatError

if TYPE_CHECKING:
    import yaml

PROJECT_YAML = "memory/project.yaml"

_COUNTERS = "id_counters"
_MAX_CHARACTERS = 1 << 20
_MAX_COUNTER = 999_999
_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,5}")
_AFTER_KEY = re.compile(r"[ \t]*:[ \t]*")
_REMEDY = (
    "Write `id_counters` as one block of lines such as `  risk: 3`, each with a plain whole number."
)


def numeric_ids(text: str, prefix: str) -> list[int]:
    """Return the number of every `PREFIX-###` in a text, in order, placeholders included."""
    form = re.compile(rf"(?<![\w-]){re.escape(prefix)}-([0-9]{{1,6}})(?![0-9A-Za-z_]|-[0-9])")
    return [int(number) for number in form.findall(text)]


def next_id(text: str, prefix: str, counter: int = 0) -> str:
    """Return the id a new entry of this board gets.

    Raises:
        FormatError: the highest number is taken.
    """
    number = max([counter, *numeric_ids(text, prefix)]) + 1
    if number > _MAX_COUNTER:
        raise FormatError(
            f"`{prefix}-{number - 1}` leaves no higher id",
            where=prefix,
            remedy="Give that entry, or its counter, the number it was meant to have.",
        )
    return f"{prefix}-{number:03d}"


def id_counters(project_yaml_text: str) -> dict[str, int]:
    """Return the counters a project keeps, empty when it keeps none.

    Raises:
        FormatError: the YAML cannot be read, or a counter is not a plain whole number.
    """
    root = _root(project_yaml_text)
    if root is None:
        return {}
    counters = _counters(root)
    return {} if counters is None else _numbers(project_yaml_text, counters)


def raise_counter(project_yaml_text: str, counter_name: str, value: int) -> str:
    """Return the text with one counter raised to `value`; a higher one stays as it is.

    Only the number changes. A counter that is not there is added below the last one, a missing
    `id_counters` at the end of the file.

    Raises:
        FormatError: the counter cannot be found or written without risk to the rest of the file.
    """
    text = project_yaml_text
    old = id_counters(text)
    if old.get(counter_name, 0) >= value:
        return text
    root = _root(text)
    counters = None if root is None else _counters(root)
    if counters is None:
        new = _with_block(text, root, f"{_COUNTERS}:", f"  {counter_name}: {value}")
    elif counter_name in old:
        new = _with_number(text, counters, counter_name, value)
    else:
        new = _with_key(text, counters, f"{counter_name}: {value}")
    # What was meant is read back: a file odd enough to come out differently is not touched.
    if id_counters(new) != {**old, counter_name: value}:
        raise FormatError(
            f"the counter `{counter_name}` is unclear", where=PROJECT_YAML, remedy=_REMEDY
        )
    return new


def _root(text: str) -> "yaml.MappingNode | None":
    """Return the file as a tree of nodes: no object is built, and no alias multiplies."""
    import yaml

    if len(text) > _MAX_CHARACTERS:
        raise FormatError("the file is over 1 MB", where=PROJECT_YAML, remedy="Shorten it.")
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{PROJECT_YAML}:{mark.line + 1}" if mark else PROJECT_YAML
        raise FormatError(
            "the file cannot be read as YAML", where=where, remedy="Repair the line."
        ) from error
    if node is not None and not isinstance(node, yaml.MappingNode):
        raise FormatError("the file is no list of keys", where=f"{PROJECT_YAML}:1", remedy=_REMEDY)
    return node


def _counters(root: "yaml.MappingNode") -> "yaml.MappingNode | None":
    """Return the mapping under `id_counters`, None when the key is not there."""
    import yaml

    found = [(key, node) for key, node in root.value if key.value == _COUNTERS]
    if not found:
        return None
    key, node = found[-1]
    where = f"{PROJECT_YAML}:{key.start_mark.line + 1}"
    if len(found) > 1:
        raise FormatError("`id_counters` is there twice", where=where, remedy="Keep one.")
    if not isinstance(node, yaml.MappingNode) or node.start_mark.index < key.end_mark.index:
        raise FormatError("`id_counters` holds no counters", where=where, remedy=_REMEDY)
    return node


def _numbers(text: str, counters: "yaml.MappingNode") -> dict[str, int]:
    import yaml

    numbers: dict[str, int] = {}
    for key, node in counters.value:
        where = f"{PROJECT_YAML}:{key.start_mark.line + 1}"
        written = text[node.start_mark.index : node.end_mark.index]
        between = text[key.end_mark.index : node.start_mark.index]
        # An alias stands elsewhere in the file, so what is between runs over other text.
        plain = _WHOLE_NUMBER.fullmatch(written) and _AFTER_KEY.fullmatch(between)
        if not plain or not isinstance(key, yaml.ScalarNode):
            raise FormatError(
                f"the counter `{key.value}` is not a plain whole number up to {_MAX_COUNTER:,}",
                where=where,
                remedy=_REMEDY,
            )
        if key.value in numbers:
            what = f"the counter `{key.value}` is there twice"
            raise FormatError(what, where=where, remedy="Keep the higher one.")
        numbers[key.value] = int(written)
    return numbers


def _with_number(text: str, counters: "yaml.MappingNode", name: str, value: int) -> str:
    node = next(node for key, node in counters.value if key.value == name)
    return text[: node.start_mark.index] + str(value) + text[node.end_mark.index :]


def _with_key(text: str, counters: "yaml.MappingNode", entry: str) -> str:
    if not counters.value:  # `{}`
        opened = counters.start_mark.index + 1
        return text[:opened] + entry + text[opened:]
    key, last = counters.value[-1]
    if counters.flow_style:
        return text[: last.end_mark.index] + f", {entry}" + text[last.end_mark.index :]
    return _with_line(text, last.end_mark.index, " " * key.start_mark.column + entry)


def _with_block(text: str, root: "yaml.MappingNode | None", head: str, entry: str) -> str:
    if root is not None and (root.flow_style or root.start_mark.column):
        raise FormatError("`id_counters` is missing", where=PROJECT_YAML, remedy=_REMEDY)
    return _with_line(text, len(text), head + _line_end(text) + entry)


def _with_line(text: str, index: int, line: str) -> str:
    """Return the text with a line below the one `index` stands in."""
    end = _line_end(text)
    below = text.find("\n", index) + 1
    if below:
        return text[:below] + line + end + text[below:]
    return f"{text}{line}{end}" if not text or text.endswith("\n") else f"{text}{end}{line}"


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
