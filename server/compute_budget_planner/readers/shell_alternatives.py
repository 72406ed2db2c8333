"""What a variable holds behind branches of which a file does not say which one is taken."""

from collections.abc import Sequence

from compute_budget_planner.readers.shell_expansion import Value

UNSET: Value = (None, None)


def merged(
    name: str, before: Value, branches: Sequence[Value | None], whole: bool
) -> tuple[Value, tuple[str, ...]]:
    """Return what `name` holds, and its alternatives where that stays open.

    `branches` gives for each branch what it sets (None: it does not set the name), `whole`
    tells that one of them is taken in any case. A name all branches set alike is settled; one
    that only the caller's arguments may change keeps the file's value; what a branch appends is
    left away; anything else becomes `$name`, so that no branch is chosen.
    """
    found = [before if value is None else value for value in branches]
    if not whole and before != UNSET:
        found.append(before)
    distinct = [value for index, value in enumerate(found) if value not in found[:index]]
    if len(distinct) == 1:
        return distinct[0], ()
    others = [value for value in distinct if value != before]
    if _settled(before) and not any(_settled(value) for value in others):
        return before, ()
    shown = tuple(_text(value) for value in distinct if _settled(value))
    if before != UNSET and all(_extends(value, before) for value in others):
        return before, shown
    return (f"${name}", None), shown if len(shown) > 1 else ()


def _settled(value: Value) -> bool:
    scalar, array = value
    return bool(scalar) and not any("$" in word for word in (scalar or "", *(array or ())))


def _extends(value: Value, before: Value) -> bool:
    if before[1] is not None and value[1] is not None:
        return value[1][: len(before[1])] == before[1]
    return bool(before[0]) and value[0] is not None and value[0].startswith(before[0] or "")


def _text(value: Value) -> str:
    scalar, array = value
    return " ".join((" ".join(array) if array else scalar or "").split())[:60]
