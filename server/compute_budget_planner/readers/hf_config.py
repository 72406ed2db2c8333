"""A model's `config.json` as Hugging Face transformers writes it."""

from collections.abc import Iterable, Iterator

from compute_budget_planner.errors import FactError
from compute_budget_planner.estimation.parameters import count_parameters
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import (
    Basis,
    Fact,
    Layer,
    Problem,
    Reading,
    SourceFile,
)
from compute_budget_planner.readers.direct_facts import direct_facts
from compute_budget_planner.readers.hf_config_experts import expert_facts
from compute_budget_planner.readers.hf_config_keys import Found, find
from compute_budget_planner.readers.hf_config_shape import WIDTH_KEYS, shape_of
from compute_budget_planner.readers.nodes import Node, Scalar
from compute_budget_planner.readers.structured import load_mapping, mapping_of
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.model_families import Family, find_family
from compute_budget_planner.workload.model_shape import missing_shape, model_from

_KNOWN_REGARDLESS = {"model_family", "vocab_size", "tied_embeddings"}

_ATTENTION_LAYERS = {"full_attention", "sliding_attention", "chunked_attention"}
_OF_TRAINING = {
    "learning_rate",
    "lr",
    "epochs",
    "num_epochs",
    "max_epochs",
    "max_steps",
    "optimizer",
}
"""A home-made configuration may give a model's shape too, but no `config.json` has these."""


class HfConfigReader:
    """The shape of a model, never how it is trained."""

    format = "hf_model_config"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping names a model type and a width."""
        document = mapping_of(file)
        if document is None:
            return False
        root = document.root
        if _OF_TRAINING & document.keys():
            return False
        named = find(root, "model_type") is not None or root.get("architectures") is not None
        return named and find(_language_part(root), *WIDTH_KEYS) is not None

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the shape, and the parameters that follow from it when it is known exactly.

        Raises:
            FormatError: the file is no valid JSON.
        """
        document = load_mapping(file)
        config = _language_part(document.root)
        model_type = find(config, "model_type") or find(document.root, "model_type")
        family = find_family(str(model_type[0])) if model_type else None
        experts, faults = expert_facts(config, family)
        found = _by_fact([*shape_of(config, family), *experts])
        if (tied := find(config, "tie_word_embeddings")) is not None:
            found["tied_embeddings"] = tied
        if model_type is not None:
            found["model_family"] = (family.name if family else model_type[0], model_type[1])
        other = list(_other_layers(config, file))
        if faults or other:
            found = {name: found[name] for name in found if name in _KNOWN_REGARDLESS}
        facts, problems = direct_facts(
            ((name, value, file.at(line)) for name, (value, line) in found.items()),
            Basis.CONFIGURED,
            Layer.MODEL_CONFIG,
            reference,
        )
        facts += tuple(_class_defaults(facts, family, file))
        problems = (
            *document.problems,
            *problems,
            *_experts_unknown(faults, file),
            *other,
            *_incomplete(facts, family, model_type, file, skip=bool(faults or other)),
            *_left_out(document.root, config, file),
        )
        if family is not None and not problems:
            counted, contradictions = _parameters(facts, file)
            facts, problems = facts + counted, problems + contradictions
        return Reading(file.path, self.format, "model_config", facts=facts, problems=problems)


def _language_part(root: Node) -> Node:
    """Return the nested text configuration of a multimodal model, else the whole."""
    nested = root.get("text_config")
    if nested is not None and find(root, *WIDTH_KEYS) is None:
        return nested
    return root


def _by_fact(found: Iterable[Found]) -> dict[str, tuple[Scalar, int | None]]:
    """Return value and line by fact; what a family says later is the more exact."""
    return {name: (value, line) for name, value, line in found}


def _class_defaults(
    facts: Iterable[Fact], family: Family | None, file: SourceFile
) -> Iterator[Fact]:
    """Return whether embeddings are tied where the file leaves it to the model's class."""
    known = {fact.name for fact in facts}
    if family is None or family.patches or "tied_embeddings" in known:
        return
    yield Fact(
        "tied_embeddings",
        family.tied_embeddings,
        Basis.FRAMEWORK_DEFAULT,
        file.path,
        Layer.MODEL_CONFIG,
    )


def _experts_unknown(
    faults: Iterable[tuple[str, int | None]], file: SourceFile
) -> Iterator[Problem]:
    for text, line in faults:
        yield Problem(
            file.at(line),
            f"{text}; the model's shape is left open. Give `n_layers`, `d_model`, `n_heads`,"
            " `n_experts`, `experts_per_token` and `moe_d_ff` as facts.",
        )


def _other_layers(config: Node, file: SourceFile) -> Iterator[Problem]:
    """Yield a problem when a model mixes attention with layers of another kind."""
    kinds = config.get("layer_types")
    named = {str(item.scalar) for item in kinds.items} if kinds is not None else set()
    other = sorted(named - _ATTENTION_LAYERS)
    if kinds is not None and other:
        yield Problem(
            file.at(kinds.line),
            f"`layer_types` names `{other[0][:40]}` layers, whose cost is not known here; the"
            " model's shape is left open. Give `params_total` and `flops_per_sample_forward`.",
        )


def _incomplete(
    facts: Iterable[Fact],
    family: Family | None,
    model_type: tuple[object, int | None] | None,
    file: SourceFile,
    *,
    skip: bool,
) -> Iterator[Problem]:
    if family is None:
        name = str(model_type[0])[:60] if model_type else "missing"
        yield Problem(
            file.at(model_type[1] if model_type else None),
            f"`model_type` is {name!r}, whose layers are not known here; only plain keys are read."
            " Set the fact `model_family` to a family of the same layers, or give `params_total`"
            " and `flops_per_sample_forward`.",
        )
    elif not skip and (missing := missing_shape({f.name: f.value for f in facts})):
        names = ", ".join(f"`{name}`" for name in missing)
        yield Problem(file.path, f"no known key gives {names}. Give them as facts.")


def _left_out(root: Node, config: Node, file: SourceFile) -> Iterator[Problem]:
    """Return what the file describes and the shape does not count."""
    if config is not root:
        other = next((k for k in ("vision_config", "audio_config") if root.get(k)), None)
        node = root.get(other) if other else None
        part = f"`{other}`" if other else "what surrounds `text_config`"
        yield Problem(
            file.at(node.line if node else None),
            f"{part} is not counted; the facts are those of the language model alone.",
        )
    narrow, width = (
        find(config, "embedding_size", "word_embed_proj_dim"),
        find(config, "hidden_size"),
    )
    if narrow is not None and width is not None and narrow[0] != width[0]:
        yield Problem(
            file.at(narrow[1]),
            "the embedding is narrower than the layers; its projection is not counted, so"
            " parameters are approximate.",
        )
    if (window := find(config, "use_sliding_window")) is not None and window[0] is True:
        upper = find(config, "max_window_layers")
        if upper is not None and upper[0] != 0 and config.get("layer_types") is None:
            yield Problem(
                file.at(upper[1]),
                "only layers from `max_window_layers` on are windowed; all are taken as windowed."
                " Set `full_attention_every` if that matters.",
            )


def _parameters(
    facts: Iterable[Fact], file: SourceFile
) -> tuple[tuple[Fact, ...], tuple[Problem, ...]]:
    try:
        model = model_from({fact.name: fact.value for fact in facts})
    except FactError as error:
        return (), (Problem(file.path, f"{error.what}. {error.remedy}"),)
    if not isinstance(model, Architecture):
        return (), ()
    count = count_parameters(model)
    values = {"params_total": count.total}
    if model.experts is not None:
        values["params_active"] = count.active
    derived = (
        Fact(name, value, Basis.DERIVED, file.path, Layer.MODEL_CONFIG)
        for name, value in values.items()
    )
    return tuple(derived), ()


READER = HfConfigReader()
