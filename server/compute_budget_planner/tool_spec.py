"""What a tool is: an entry that both faces, the MCP server and the command line, are made from.

Models and function are named as `module:attribute` and imported when first used, so that the
command line can list the tools without loading any of them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

    from compute_budget_planner.planner.workspace import Workspace

_PACKAGE = "compute_budget_planner"


@dataclass(frozen=True)
class ToolSpec:
    """A tool: what it is called, what it says of itself, what it takes, gives and may change.

    `essence` is the sentence a client shows where it defers the description. `arguments` are
    the fields of the request model. `destructive` means that existing text can be replaced,
    `pictured` that the result can be drawn.
    """

    name: str
    title: str
    essence: str
    details: str
    request: str
    result: str
    function: str
    arguments: tuple[str, ...]
    example: Mapping[str, object]
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    pictured: bool = False

    @property
    def description(self) -> str:
        """The whole text a model reads before it calls the tool."""
        example = json.dumps(self.example, ensure_ascii=False)
        return f"{self.essence}\n{self.details.strip()}\nExample: {example}"

    def request_model(self) -> "type[BaseModel]":
        """Import the model of the arguments."""
        model: type[BaseModel] = _imported(self.request)
        return model

    def result_model(self) -> "type[BaseModel]":
        """Import the model of the result."""
        model: type[BaseModel] = _imported(self.result)
        return model

    def run(self, workspace: "Workspace", request: "BaseModel") -> "BaseModel":
        """Carry the tool out.

        Raises:
            PlannerError: whatever the tool refuses.
        """
        function: Callable[[Workspace, BaseModel], BaseModel] = _imported(self.function)
        return function(workspace, request)


def fault_of(error: Exception) -> str:
    """Say where the planner itself failed, without the paths and values an exception may carry."""
    frame = extract_tb(error.__traceback__)[-1]
    return (
        f"internal error: {type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}. "
        "This is a fault of compute-budget-planner, not of the call; please report it."
    )


def _imported(address: str) -> Any:
    module, _, attribute = address.partition(":")
    return getattr(import_module(f"{_PACKAGE}.{module}"), attribute)
