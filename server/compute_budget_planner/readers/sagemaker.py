"""SageMaker launch scripts in Python, read as a syntax tree and never run (format `sagemaker`).

`instance_type` names the machine (see the guide's table `cloud_instances`), `max_run` the limit
in seconds, 24 hours where it is absent (SageMaker Python SDK, `EstimatorBase`). Without
`distribution` one process runs on each instance. Role and account stand in no fact.
"""

import ast
import re
from collections.abc import Iterator

from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.cloud_instances import instance_of
from compute_budget_planner.readers.container_script import text_of
from compute_budget_planner.readers.contract import (
    Basis,
    Command,
    Fact,
    FileReference,
    Layer,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.job_reading import Granted, whole_number
from compute_budget_planner.readers.nodes import Node
from compute_budget_planner.readers.option_names import Option, facts_from_options
from compute_budget_planner.readers.python_values import assigned, module_of, value_of

_GIVES_INSTANCE = re.compile(r"\binstance_type\s*=")
_LAUNCHES = re.compile(r"\.(fit|train)\(")
_DEFAULT_MAX_RUN_HOURS = 24.0
_SECRET = re.compile(r"token|key|secret|passw|credential", re.IGNORECASE)


class SagemakerReader:
    """Reader of scripts that build a SageMaker estimator."""

    format = "sagemaker"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a Python file gives an instance type to SageMaker."""
        if not file.name.endswith(".py") or "sagemaker" not in file.text:
            return False
        return bool(_GIVES_INSTANCE.search(file.text) and _LAUNCHES.search(file.text))

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return instances, limit and hyperparameters of the first estimator.

        Raises:
            FormatError: the file is no Python, or too large.
        """
        tree = module_of(file)
        if tree is None:
            raise FormatError(
                "the Python cannot be read", where=file.path, remedy="Correct its syntax."
            )
        granted = Granted()
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        calls = [call for call in calls if _is_estimator(call)]
        if not calls:
            granted.ask(file.path, "no estimator with an `instance_type` is built. Give facts.")
            return Reading(file.path, self.format, "job", problems=tuple(granted.problems))
        call = calls[0]
        place = granted.gpus_at = granted.nodes_at = granted.gpu_at = file.at(call.lineno)
        if len(calls) > 1:
            granted.ask(place, f"{len(calls)} estimators are built; the first is described.")
        given = _arguments(tree, call)
        _machines(granted, given, reference)
        _limit(file, granted, given)
        options = list(_hyperparameters(file, given))
        facts, problems = facts_from_options(options, None, Layer.COMMAND_LINE, reference)
        script = _script(given)
        words = ("python", script)
        return Reading(
            path=file.path,
            format=self.format,
            kind="job",
            facts=(*granted.as_facts(), *facts),
            problems=(*granted.problems, *problems),
            references=(FileReference(script, "script", place),) if script else (),
            commands=(Command(words, "sagemaker", script, trains=True, source=place),),
        )


def _is_estimator(call: ast.Call) -> bool:
    return any(keyword.arg == "instance_type" for keyword in call.keywords)


def _arguments(tree: ast.Module, call: ast.Call) -> Node:
    """Return the named arguments of a call with the names the file settles put in."""
    around = [
        statement
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and any(inner is call for inner in ast.walk(node))
        for statement in node.body
    ]
    keywords = [keyword for keyword in call.keywords if keyword.arg]
    whole = ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords)
    names = assigned([*tree.body, *around]).root
    return value_of(ast.copy_location(whole, call), names)


def _machines(granted: Granted, given: Node, reference: Reference) -> None:
    granted.n_nodes = whole_number(text_of(given.get("instance_count")))
    if granted.n_nodes is None:
        granted.ask(granted.nodes_at, "the number of instances is open. Give `n_nodes`.")
    kind = text_of(given.get("instance_type"))
    instance = instance_of(kind, reference)
    if instance is None:
        text = f"`{kind[:40]}` is no instance the guide knows. Give `gpu` and `n_gpus`."
        granted.ask(granted.gpus_at, text)
        return
    granted.gpu, granted.gpus_per_node = instance.gpu, instance.gpus
    if given.get("distribution") is None and instance.gpus > 1:
        text = (
            f"without `distribution` one process runs on an instance of {instance.gpus} devices: "
            "the others are paid for and idle unless the script starts processes itself."
        )
        granted.ask(granted.gpus_at, text)


def _limit(file: SourceFile, granted: Granted, given: Node) -> None:
    node = given.get("max_run")
    text = text_of(node)
    if node is None:
        place, layer = granted.gpus_at, Layer.FRAMEWORK_DEFAULT
        hours = _DEFAULT_MAX_RUN_HOURS
        granted.facts.append(Fact("time_limit_hours", hours, Basis.FRAMEWORK_DEFAULT, place, layer))
    elif re.fullmatch(r"[1-9]\d{0,8}", text):
        granted.time_limit_hours, granted.time_at = int(text) / 3600, file.at(node.line)
    else:
        granted.ask(file.at(node.line), "`max_run` is open. Give `time_limit_hours`.")


def _hyperparameters(file: SourceFile, given: Node) -> Iterator[Option]:
    node = given.get("hyperparameters")
    for name, value in (node.mapping if node is not None else {}).items():
        if not _SECRET.search(name) and not isinstance(value.value, dict | tuple):
            yield name, value.scalar, file.at(value.line)


def _script(given: Node) -> str:
    """Return the training script inside the project; nothing when the file does not settle it."""
    script, folder = text_of(given.get("entry_point")), text_of(given.get("source_dir"))
    if not script or "$" in script:
        return ""
    local = folder and "$" not in folder and not re.match(r"[a-z0-9]+://|/", folder)
    return f"{folder.rstrip('/')}/{script}" if local else script


READER = SagemakerReader()
