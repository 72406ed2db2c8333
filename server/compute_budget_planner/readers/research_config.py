"""Home-made configurations: YAML, JSON or TOML with the names researchers use.

The reader takes every mapping no other reader knows, and every broken file of these languages,
so that its error is told instead of the file being passed over.
"""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_frameworks import framework_of
from compute_budget_planner.readers.config_reading import Spelling, config_reading
from compute_budget_planner.readers.contract import Reading, SourceFile
from compute_budget_planner.readers.interpolation import interpolated
from compute_budget_planner.readers.structured import is_structured, load_mapping


class ResearchConfigReader:
    """A mapping of training settings in no framework's own format."""

    format = "research_config"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the file is YAML, JSON or TOML at all."""
        return is_structured(file)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the settings the file gives; sections count only where they change a meaning.

        Raises:
            FormatError: the file is broken or holds no mapping.
        """
        document = interpolated(load_mapping(file))
        return config_reading(
            file, document, reference, Spelling(self.format, framework_of(document))
        )


READER = ResearchConfigReader()
