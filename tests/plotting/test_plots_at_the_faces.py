"""A picture reaches an MCP client as an image and a person as a file."""

from base64 import b64decode
from pathlib import Path

import pytest
from click.testing import CliRunner
from compute_budget_planner import mcp_server
from compute_budget_planner.cli import main
from compute_budget_planner.plotting import drawing
from compute_budget_planner.results.picture import Picture
from mcp.client import Client
from mcp.types import ImageContent, TextContent

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "tiny-training"
LOG = "lightning_logs/overfitting/metrics.csv"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def drawing_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a picture as the words of its title, whether the extra is installed or not."""

    def drawn(picture: Picture, form: str) -> bytes:
        return f"{form} of {picture.title}".encode()

    for owner in (drawing, mcp_server):
        monkeypatch.setattr(owner, "drawn", drawn)
        monkeypatch.setattr(owner, "can_draw", lambda: True)


@pytest.mark.anyio
async def test_a_client_gets_the_picture_beside_text_and_structure(drawing_words: None) -> None:
    async with Client(mcp_server.build_server(EXAMPLE)) as client:
        result = await client.call_tool("diagnose_run", {"files": [LOG]})
    text, image = result.content
    assert isinstance(text, TextContent)
    assert "```mermaid\nxychart-beta" in text.text
    assert isinstance(image, ImageContent)
    assert (image.mime_type, b64decode(image.data)) == (
        "image/png",
        b"png of overfitting: overfitting",
    )
    assert result.structured_content is not None
    assert result.structured_content["chart"].startswith("xychart-beta")


@pytest.mark.anyio
async def test_without_the_extra_text_and_structure_are_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mcp_server, "can_draw", lambda: False)
    async with Client(mcp_server.build_server(EXAMPLE)) as client:
        result = await client.call_tool("diagnose_run", {"files": [LOG]})
    assert [part.type for part in result.content] == ["text"]


def test_a_person_gets_a_file(drawing_words: None, tmp_path: Path) -> None:
    file = tmp_path / "curve.svg"
    run = CliRunner().invoke(
        main, ["diagnose-run", "--project-root", str(EXAMPLE), LOG, "--plot", str(file)]
    )
    assert (run.exit_code, run.stderr) == (0, "")
    assert file.read_bytes() == b"svg of overfitting: overfitting"


def test_a_file_that_cannot_be_written_and_a_missing_picture_are_said(
    drawing_words: None, tmp_path: Path
) -> None:
    arguments = ["diagnose-run", "--project-root", str(EXAMPLE), LOG, "--plot"]
    absent = CliRunner().invoke(main, [*arguments, str(tmp_path / "none" / "curve.svg")])
    assert absent.exit_code == 1
    assert absent.stderr == "error: curve.svg: the plot cannot be written (FileNotFoundError)\n"
    nothing = CliRunner().invoke(
        main, ["diagnose-run", "--project-root", str(tmp_path), "--plot", str(tmp_path / "a.png")]
    )
    assert nothing.exit_code == 1
    assert nothing.stderr.startswith("error: plot: there is nothing to draw")
