"""What is published holds what the package needs, and development is pinned."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import compute_budget_planner
import pytest
from compute_budget_planner.guide.shipped import skill_directory

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PROJECT["project"]["version"]
SKILL_FILES = {"SKILL.md", "references", "memory_templates"}


def test_the_wheel_is_told_to_carry_the_skill_files_inside_the_package() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {
        name: f"{compute_budget_planner.__name__}/_skill/{name}" for name in SKILL_FILES
    }
    assert [name for name in included if not (ROOT / name).exists()] == []


def test_the_skill_files_are_found_where_the_package_is_installed() -> None:
    assert {path.name for path in skill_directory().iterdir()} >= SKILL_FILES


def test_version_and_change_log_agree() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert compute_budget_planner.__version__ == VERSION
    assert re.search(rf"^## \[{re.escape(VERSION)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE)


def test_every_dependency_is_pinned_without_an_address() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+", pin)] == []
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = {
        re.match(r"[\w-]+", requirement)[0].lower()  # type: ignore[index]
        for requirements in (PROJECT["project"]["dependencies"], *extras)
        for requirement in requirements
    }
    assert wanted - {pin.partition("==")[0] for pin in pins} == {PROJECT["project"]["name"]}


def test_the_wheel_holds_the_skill_and_every_module(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    package = "compute_budget_planner"
    skill = [ROOT / "SKILL.md", *ROOT.glob("references/*.md"), *ROOT.glob("memory_templates/*.md")]
    expected = {f"{package}/_skill/{path.relative_to(ROOT).as_posix()}" for path in skill}
    modules = (ROOT / "server").rglob("*.py")
    expected |= {path.relative_to(ROOT / "server").as_posix() for path in modules}
    assert expected <= held
