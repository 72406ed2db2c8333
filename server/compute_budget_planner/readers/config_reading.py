"""From the tree of a configuration to a reading: the part all frameworks' readers share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.config_options import (
    options_of,
    output_dir_of,
    references_of,
    sweep_problems,
)
from compute_budget_planner.readers.contract import (
    Basis,
    Fact,
    FileReference,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.nodes import Document, Leaf
from compute_budget_planner.readers.option_names import Option, facts_from_options

_DTYPES = {"dtype", "torch_dtype", "model_dtype"}
_PRECISION_KEYS = {"precision", "mixed_precision", "amp_dtype", "bf16", "fp16"}


@dataclass(frozen=True)
class Spelling:
    """How a framework writes its settings.

    `own` are values by fact name as the file gives them, `derived` such as follow from several
    keys, `defaults` what the framework takes where nothing is said; `own` and `derived` stand
    above what the general names of options give. `left_out` are dotted sections that speak of
    something else, `dropped` facts the general names get wrong here. A None is no value.
    """

    format: str
    framework: str | None = None
    own: Sequence[DirectValue] = ()
    derived: Sequence[DirectValue] = ()
    defaults: Sequence[DirectValue] = ()
    left_out: Sequence[str] = ()
    dropped: frozenset[str] = frozenset()
    problems: Sequence[Problem] = ()
    references: Sequence[FileReference] = ()
    n_runs: int = 1


def config_reading(
    file: SourceFile, document: Document, reference: Reference, spelling: Spelling
) -> Reading:
    """Return the settings of a configuration of training."""
    leaves = [leaf for leaf in document.leaves() if not _inside(leaf, spelling.left_out)]
    options = options_of(file, leaves) + precision_options(file, leaves)
    general, problems = facts_from_options(options, spelling.framework, Layer.CONFIG, reference)
    own, more = direct_facts(spelling.own, Basis.CONFIGURED, Layer.CONFIG, reference)
    derived, most = direct_facts(
        [*spelling.derived, ("framework", spelling.framework, file.path)],
        Basis.DERIVED,
        Layer.CONFIG,
        reference,
    )
    kept = (fact for fact in general if fact.name not in spelling.dropped)
    chosen: dict[str, Fact] = {}
    for fact in (*own, *derived, *kept):
        chosen.setdefault(fact.name, fact)
    defaults, last = direct_facts(
        (d for d in (*spelling.defaults, *_one_node(file, leaves)) if d[0] not in chosen),
        Basis.FRAMEWORK_DEFAULT,
        Layer.FRAMEWORK_DEFAULT,
        reference,
    )
    facts = (*chosen.values(), *defaults)
    return Reading(
        path=file.path,
        format=spelling.format,
        kind="config",
        facts=facts,
        problems=(
            *document.problems,
            *(p for p in problems if not _settled(p, own)),
            *more,
            *most,
            *last,
            *spelling.problems,
            *sweep_problems(file, document, facts),
        ),
        references=(*references_of(file, document), *spelling.references),
        output_dir=output_dir_of(document),
        n_runs=spelling.n_runs,
    )


def _one_node(file: SourceFile, leaves: Sequence[Leaf]) -> Iterable[DirectValue]:
    """Lightning's Trainer runs on one machine unless `num_nodes` says otherwise."""
    for leaf in leaves:
        if leaf.dotted == "trainer.devices" and isinstance(leaf.value, int) and leaf.value > 0:
            yield "n_nodes", 1, leaf.place(file)


def _inside(leaf: Leaf, sections: Iterable[str]) -> bool:
    return any(f"{leaf.dotted}.".startswith(f"{section}.") for section in sections)


def _settled(problem: Problem, own: Iterable[Fact]) -> bool:
    """Tell whether a fact general names could not read is one the framework's own names read."""
    return any(fact.source == problem.source and f"`{fact.name}`" in problem.text for fact in own)


def precision_options(file: SourceFile, leaves: list[Leaf]) -> list[Option]:
    """Take a bare dtype as the precision unless the file names that itself."""
    if any(leaf.key.lower() in _PRECISION_KEYS for leaf in leaves):
        return []
    dtypes = [leaf for leaf in leaves if leaf.key.lower() in _DTYPES]
    return [
        ("precision", leaf.value.removeprefix("torch."), leaf.place(file))
        for leaf in dtypes[:1]
        if isinstance(leaf.value, str)
    ]
