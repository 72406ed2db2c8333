"""MosaicML platform runs (format `mcli`).

`compute.gpus` counts the whole run, eight to a node. Source: the run schema of the MosaicML CLI.
"""

import re
from dataclasses import replace

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_frameworks import framework_of
from compute_budget_planner.readers.config_options import options_of
from compute_budget_planner.readers.container_script import script_of, text_of, variables_of
from compute_budget_planner.readers.contract import Layer, Reading, SourceFile
from compute_budget_planner.readers.job_reading import Granted, job_reading, whole_number
from compute_budget_planner.readers.nodes import Document
from compute_budget_planner.readers.option_names import facts_from_options
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_GPUS_PER_NODE = 8


class McliReader:
    """Reader of run configurations of the MosaicML CLI."""

    format = "mcli"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether a mapping has the platform's `compute`, `image` and `command`."""
        document = mapping_of(file) if file.name.endswith((".yaml", ".yml")) else None
        root = document.root if document is not None else None
        if root is None or root.get("command") is None or root.get("image") is None:
            return False
        return root.get("compute", "gpus") is not None or root.get("gpu_num") is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return GPUs, limit, the command and the settings under `parameters`.

        Raises:
            FormatError: the YAML is broken.
        """
        document = load_mapping(file)
        root = document.root
        granted = Granted(problems=list(document.problems), job_name=text_of(root.get("name")))
        gpus = root.get("compute", "gpus") or root.get("gpu_num")
        granted.gpus_at = granted.nodes_at = file.at(gpus.line if gpus is not None else None)
        granted.n_gpus = whole_number(text_of(gpus))
        if granted.n_gpus is None:
            granted.ask(granted.gpus_at, "`gpus` is no count. Give `n_gpus`.")
        elif granted.n_gpus <= _GPUS_PER_NODE or granted.n_gpus % _GPUS_PER_NODE == 0:
            granted.n_nodes = max(1, granted.n_gpus // _GPUS_PER_NODE)
            granted.gpus_per_node = granted.n_gpus // granted.n_nodes
        kind = root.get("compute", "gpu_type") or root.get("gpu_type")
        if kind is not None:
            granted.name_device(text_of(kind), file.at(kind.line), reference)
        limit = root.get("scheduling", "max_duration")
        if limit is not None and re.fullmatch(r"\d{1,5}(\.\d{1,6})?", text_of(limit)):
            granted.time_limit_hours = float(text_of(limit)) or None
            granted.time_at = file.at(limit.line)
        _parameters(file, granted, document, reference)
        known = variables_of(root.get("env_variables"))
        script = script_of(file, root.get("command"), known)
        reading = job_reading(file, self.format, granted, script, reference)
        return replace(reading, facts=tuple(dict.fromkeys(reading.facts)))


def _parameters(
    file: SourceFile, granted: Granted, document: Document, reference: Reference
) -> None:
    """Read what the platform writes into `parameters.yaml` for the command."""
    parameters = document.root.get("parameters")
    if parameters is None or not parameters.mapping:
        return
    inner = Document(parameters, ())
    options = options_of(file, list(inner.leaves()))
    framework = framework_of(inner)
    facts, problems = facts_from_options(options, framework, Layer.CONFIG, reference)
    granted.facts += facts
    granted.problems += problems


READER = McliReader()
