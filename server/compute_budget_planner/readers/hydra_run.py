"""The `.hydra` folder of a past run: what was composed then, resolved and true.

`config.yaml` is the configuration; `overrides.yaml` (a list) and `hydra.yaml` (Hydra's own) say
how it came about and give no facts.
"""

import posixpath
from dataclasses import replace

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_frameworks import framework_of
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import FileReference, Reading, SourceFile
from compute_budget_planner.readers.interpolation import interpolated
from compute_budget_planner.readers.structured import load_mapping
from compute_budget_planner.readers.yaml_nodes import load_yaml

_FOLDER = ".hydra"
_CONFIG, _BESIDE = "config.yaml", ("overrides.yaml", "hydra.yaml")


class HydraRunReader:
    """The three files Hydra leaves in the output folder of a run."""

    format = "hydra_run"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether Hydra wrote the file: nothing in it says so but its folder."""
        inside = posixpath.basename(posixpath.dirname(file.path)) == _FOLDER
        return inside and file.name in (_CONFIG, *_BESIDE)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the configuration of the run; of the files beside it, that they are known.

        Raises:
            FormatError: the file is broken.
        """
        if file.name != _CONFIG:
            load_yaml(file)
            return Reading(file.path, self.format, "config")
        document = interpolated(load_mapping(file))
        folder = posixpath.dirname(file.path)
        references = [
            FileReference(posixpath.join(folder, name), "included", file.at(1))
            for name in _BESIDE
            if file.beside(name) is not None
        ]
        spelling = Spelling(self.format, framework_of(document), references=references)
        reading = config_reading(file, document, reference, spelling)
        # The run's logs lie beside its `.hydra` folder.
        return replace(reading, output_dir=posixpath.dirname(folder))


READER = HydraRunReader()
