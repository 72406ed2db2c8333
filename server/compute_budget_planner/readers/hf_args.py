"""Hugging Face training arguments in YAML or JSON: Trainer, TRL recipes, LLaMA-Factory."""

from collections.abc import Iterator

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
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import DirectValue, direct_facts
from compute_budget_planner.readers.hf_dialects import LLAMAFACTORY, Dialect, dialect_of
from compute_budget_planner.readers.nodes import Document, Leaf
from compute_budget_planner.readers.option_names import Option, facts_from_options
from compute_budget_planner.readers.structured import load_mapping, mapping_of

_SIGNATURE = {
    "per_device_train_batch_size",
    "num_train_epochs",
    "gradient_accumulation_steps",
    "learning_rate",
    "output_dir",
    "max_steps",
}
# Home-made files share the other names; these are the Trainer's alone.
_DISTINCTIVE = {
    "per_device_train_batch_size",
    "per_device_eval_batch_size",
    "num_train_epochs",
    "lr_scheduler_type",
    "save_strategy",
    "eval_strategy",
    "evaluation_strategy",
}
_ADAPTER_KEYS = {"lora_r", "lora_rank", "lora_alpha", "load_in_4bit", "load_in_8bit"}


class HfArgsReader:
    """Training arguments of the Hugging Face family."""

    format = "hf_args"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping has two signature keys and one only the Trainer has."""
        document = mapping_of(file)
        if document is None:
            return False
        keys = document.keys()
        return len(keys & _SIGNATURE) >= 2 and bool(keys & _DISTINCTIVE)

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the arguments, and the framework's defaults for those not given.

        Raises:
            FormatError: the file is broken.
        """
        document = load_mapping(file)
        dialect = dialect_of(document)
        leaves = {leaf.key: leaf for leaf in document.leaves()}
        options = [o for o in options_of(file, document.leaves()) if not _overruled(o, document)]
        options += _weights_in_bf16(file, leaves, dialect)
        configured, problems = facts_from_options(
            options, dialect.framework, Layer.CONFIG, reference
        )
        known = {fact.name for fact in configured}
        implied, more = direct_facts(
            (v for v in _implied(file, document, leaves, dialect) if v[0] not in known),
            Basis.DERIVED,
            Layer.CONFIG,
            reference,
        )
        defaults, most = _defaults(file, leaves, (*configured, *implied), dialect, reference)
        return Reading(
            path=file.path,
            format=self.format,
            kind="config",
            facts=configured + implied + defaults,
            problems=document.problems
            + problems
            + more
            + most
            + sweep_problems(file, document, configured),
            references=references_of(file, document),
            output_dir=output_dir_of(document),
        )


def _overruled(option: Option, document: Document) -> bool:
    """FSDP's own checkpointing replaces the Trainer's, which must then be off."""
    node = document.root.get("fsdp_config", "activation_checkpointing")
    return option[0].endswith("gradient_checkpointing") and node is not None and node.value is True


def _weights_in_bf16(file: SourceFile, leaves: dict[str, Leaf], dialect: Dialect) -> list[Option]:
    """Weights loaded as bf16 without a precision flag are trained in bf16 throughout.

    Under adapters they are frozen, and the adapters keep master weights.
    """
    leaf = leaves.get("torch_dtype") or leaves.get("dtype")
    flagged = any(leaves[k].value is True for k in ("bf16", "fp16") if k in leaves)
    if leaf is None or flagged or dialect.framework != "transformers":
        return []
    if str(leaf.value).removeprefix("torch.") != "bfloat16":
        return []
    adapted = _ADAPTER_KEYS & leaves.keys()
    return [("precision", "bf16" if adapted else "bf16-true", file.at(leaf.line))]


def _implied(
    file: SourceFile, document: Document, leaves: dict[str, Leaf], dialect: Dialect
) -> Iterator[DirectValue]:
    yield "framework", dialect.framework, file.path
    yield "objective", dialect.objective or None, file.path
    if "use_peft" in leaves and leaves["use_peft"].value is False:
        yield "method", "full-ft", file.at(leaves["use_peft"].line)
    for key in ("dataset_mixer", "dataset_mixture"):
        node = document.root.get(key)
        if node is not None and node.mapping:
            yield "dataset", " + ".join(node.mapping)[:200], file.at(node.line)


def _defaults(
    file: SourceFile,
    leaves: dict[str, Leaf],
    found: tuple[Fact, ...],
    dialect: Dialect,
    reference: Reference,
) -> tuple[tuple[Fact, ...], tuple[Problem, ...]]:
    facts = {fact.name: fact.value for fact in found}
    defaults = {k: v for k, v in dialect.defaults.items() if k not in facts}
    if "max_steps" in facts:
        # The Trainer ignores epochs once steps are given.
        defaults.pop("epochs", None)
    if "save_steps" in leaves or leaves.get("save_strategy", _BY_STEPS).value != "steps":
        defaults.pop("checkpoint_every_steps", None)
    if "precision" in defaults and "bf16" in leaves and leaves["bf16"].value is False:
        defaults["precision"] = "fp32"
    if dialect is LLAMAFACTORY and facts.get("method", "lora") != "full-ft":
        defaults |= {} if "lora_rank" in facts else {"lora_rank": 8}
    if facts.keys() & {"lora_rank"}:
        defaults.pop("method", None)
    values = ((name, value, file.path) for name, value in defaults.items())
    return direct_facts(values, Basis.FRAMEWORK_DEFAULT, Layer.FRAMEWORK_DEFAULT, reference)


_BY_STEPS = Leaf(("save_strategy",), "steps", None)
READER = HfArgsReader()
