"""The tools over MCP: thin wiring between the table of tools and the protocol.

This is the only module that imports `mcp`. Every result carries two halves that each stand
alone: text with every number, and the structured model. Both protocol eras are served; the
client is asked for its roots only where it offers them and no flag has set the project root.
"""

import json
import logging
import os
import sys
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import ListRoots, Resolve
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from mcp.types import (
    CallToolResult,
    ImageContent,
    ListRootsResult,
    TextContent,
    ToolAnnotations,
)
from pydantic import BaseModel, ValidationError, create_model

from compute_budget_planner import __version__
from compute_budget_planner.arguments import refusal
from compute_budget_planner.errors import PlannerError
from compute_budget_planner.markdown.result_text import text_of
from compute_budget_planner.planner.workspace import Workspace, open_workspace
from compute_budget_planner.plotting.drawing import can_draw, drawn
from compute_budget_planner.project.root import resolve_root
from compute_budget_planner.results.picture import Pictured
from compute_budget_planner.shortening import MAX_CHARACTERS, shortened
from compute_budget_planner.tool_spec import ToolSpec, fault_of
from compute_budget_planner.tools import TOOLS, instructions

SERVER_NAME = "budget"
"""Short and without underscore: a client's prefix and the longest tool name stay within 64."""


def build_server(
    project_root: Path | None = None, guide_pages: Sequence[Path] = ()
) -> MCPServer[Any]:
    """Return a server with every tool of the table.

    `project_root` is the folder of the flag: it wins over what a client offers, which is then
    not asked for. `guide_pages` are a lab's own pages of reference tables.
    """
    return MCPServer(
        SERVER_NAME,
        title="Compute budget planner",
        instructions=instructions(),
        version=__version__,
        tools=[_tool(spec, project_root, guide_pages) for spec in TOOLS],
        log_level="WARNING",
    )


def serve(project_root: Path | None = None, guide_pages: Sequence[Path] = ()) -> None:
    """Serve on stdin and stdout until the client closes them; log to stderr."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(message)s"
    )
    build_server(project_root, guide_pages).run("stdio")


class _ClosedTool(Tool):
    """A tool that words its refusals itself."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            model = self.fn_metadata.arg_model
            raise ToolError(str(refusal(error.__cause__, model, self.name))) from error


def _tool(spec: ToolSpec, project_root: Path | None, guide_pages: Sequence[Path]) -> Tool:
    """Return the protocol's tool for an entry of the table."""
    request_model, result_model = spec.request_model(), spec.result_model()

    def client_roots(context: Context[Any, Any]) -> ListRoots | ListRootsResult:
        capabilities = context.client_capabilities
        offered = capabilities is not None and capabilities.roots is not None
        return ListRoots() if offered and project_root is None else ListRootsResult(roots=[])

    def call(
        client_roots: Annotated[ListRootsResult, Resolve(client_roots)], **arguments: Any
    ) -> Annotated[CallToolResult, result_model]:
        try:
            workspace = _workspace(project_root, client_roots, guide_pages)
            return _both_halves(spec.run(workspace, request_model.model_validate(arguments)))
        except PlannerError as error:
            raise ToolError(str(error)) from error
        except Exception as error:
            logging.getLogger(__name__).exception("%s failed", spec.name)
            raise ToolError(fault_of(error)) from error

    tool = Tool.from_function(
        call,
        name=spec.name,
        title=spec.title,
        description=spec.description,
        annotations=ToolAnnotations(
            title=spec.title,
            read_only_hint=spec.read_only,
            destructive_hint=spec.destructive,
            idempotent_hint=spec.idempotent,
            open_world_hint=False,
        ),
    )
    arguments = cast(
        "type[ArgModelBase]",
        create_model(f"{spec.name}_arguments", __base__=(request_model, ArgModelBase)),
    )
    # The function's own arguments are open and untyped; both fields are read at every call.
    tool.fn_metadata.arg_model = arguments
    tool.parameters = arguments.model_json_schema(by_alias=True)
    return _ClosedTool(**dict(tool))


def _workspace(
    project_root: Path | None, roots: ListRootsResult, guide_pages: Sequence[Path]
) -> Workspace:
    uris = [str(root.uri) for root in roots.roots]
    root = resolve_root(project_root, uris, os.environ, Path.cwd())
    return open_workspace(root, guide_pages)


def _both_halves(result: BaseModel) -> CallToolResult:
    """Return a result as text and as structure, of the same content and each within the limit."""
    limit = MAX_CHARACTERS
    short = shortened(result, limit)
    while len(text := text_of(short)) > MAX_CHARACTERS and limit > 1:
        limit //= 2
        short = shortened(result, limit)
    structured = short.model_dump(mode="json")
    json.dumps(structured, allow_nan=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text), *_image(result)],
        structured_content=structured,
    )


def _image(result: BaseModel) -> list[ImageContent]:
    """Return the picture of a result where it has one and the extra that draws it is installed."""
    picture = result.picture if isinstance(result, Pictured) else None
    if picture is None or not can_draw():
        return []
    data = b64encode(drawn(picture, "png")).decode("ascii")
    return [ImageContent(type="image", data=data, mime_type="image/png")]
