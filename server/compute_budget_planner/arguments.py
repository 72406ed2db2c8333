"""Check the arguments of a tool, and say in the product's words what is wrong with them."""

from collections.abc import Mapping, Sequence
from typing import get_args

from pydantic import BaseModel, ValidationError

from compute_budget_planner.errors import RequestError, nearest

_TAKES = {
    "bool_parsing": "takes true or false",
    "bool_type": "takes true or false",
    "dict_type": "takes an object of names and values",
    "list_type": "takes a list",
    "missing": "is missing",
    "model_type": "takes an object",
    "string_type": "takes a text",
}


def checked(model: type[BaseModel], arguments: Mapping[str, object], tool: str) -> BaseModel:
    """Return the request these arguments make.

    Raises:
        RequestError: an argument is unknown or ill-formed; all of them are named.
    """
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        raise refusal(error, model, tool) from None


def refusal(error: ValidationError, model: type[BaseModel], tool: str) -> RequestError:
    """Return the error that names every wrong argument and what it takes."""
    faults: dict[str, str] = {}
    hints: list[str] = []
    for fault in error.errors(include_url=False, include_input=False):
        loc = fault["loc"]
        # Below a fact the location goes on with the types that were tried, which nobody wrote.
        depth = loc.index("facts") + 2 if "facts" in loc else len(loc)
        if fault["type"] == "extra_forbidden":
            text = "is not an argument"
            hints.append(nearest(str(loc[-1]), _fields_at(model, loc[:-1])))
        elif depth < len(loc) or fault["type"] == "finite_number":
            text = "takes a finite number, a text, true, false or null"
        elif fault["type"] == "literal_error":
            text = f"takes {fault['ctx']['expected']}"
        else:
            text = _TAKES.get(fault["type"], f"cannot be used: {fault['msg']}")
        faults.setdefault(".".join(map(str, loc[:depth])), text)
    what = "; ".join(f"`{place}` {text}" for place, text in faults.items())
    return RequestError(what, where=tool, remedy=" ".join(dict.fromkeys(hints)))


def _fields_at(model: type[BaseModel], loc: Sequence[int | str]) -> list[str]:
    """Return the fields of the model that stands at a location inside another."""
    for part in loc:
        if isinstance(part, str):
            inner = get_args(model.model_fields[part].annotation)
            model = next(kind for kind in inner if issubclass(kind, BaseModel))
    return list(model.model_fields)
