"""Home-made configurations: YAML, JSON or TOML with the names researchers use.

The reader takes every mapping no other reader knows, and every broken file of these languages,
so that its error is told instead of the file being passed over.
"""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_frameworks import framework_of
from compute_budget_planner.readers.config_options import (
    options_of,
    output_dir_of,
    references_of,
    sweep_problems,
)
from compute_budget_planner.readers.contract import Basis, Layer, Reading, SourceFile
from compute_budget_planner.readers.direct_facts import direct_facts
from compute_budget_planner.readers.nodes import Leaf
from compute_budget_planner.readers.option_names import Option, facts_from_options
from compute_budget_planner.readers.structured import is_structured, load_mapping

_DTYPES = {"dtype", "torch_dtype", "model_dtype"}
_PRECISION_KEYS = {"precision", "mixed_precision", "amp_dtype", "bf16", "fp16"}


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
        document = load_mapping(file)
        leaves = list(document.leaves())
        options = options_of(file, leaves) + _precision_options(file, leaves)
        framework = framework_of(document)
        facts, problems = facts_from_options(options, framework, Layer.CONFIG, reference)
        named, _ = direct_facts(
            [("framework", framework, file.path)], Basis.DERIVED, Layer.CONFIG, reference
        )
        return Reading(
            path=file.path,
            format=self.format,
            kind="config",
            facts=facts + named,
            problems=document.problems + problems + sweep_problems(file, document, facts),
            references=references_of(file, document),
            output_dir=output_dir_of(document),
        )


def _precision_options(file: SourceFile, leaves: list[Leaf]) -> list[Option]:
    """Take a bare dtype as the precision unless the file names that itself."""
    if any(leaf.key.lower() in _PRECISION_KEYS for leaf in leaves):
        return []
    dtypes = [leaf for leaf in leaves if leaf.key.lower() in _DTYPES]
    return [
        ("precision", leaf.value.removeprefix("torch."), file.at(leaf.line))
        for leaf in dtypes[:1]
        if isinstance(leaf.value, str)
    ]


READER = ResearchConfigReader()
