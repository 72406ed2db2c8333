"""Fill in the model: a known name, a shape, or a usual shape of the given size."""

from functools import lru_cache

from compute_budget_planner.errors import FactError, nearest
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import SampleModel
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.known_models import (
    at_image_size,
    catalogue_facts,
    model_of_widths,
)
from compute_budget_planner.workload.ledger import Assumption, Ledger
from compute_budget_planner.workload.model_shape import missing_shape, model_from
from compute_budget_planner.workload.run import Model
from compute_budget_planner.workload.typical_model import (
    TYPICAL_VOCAB_SIZE,
    typical_architecture,
)

_LARGER_VOCABULARIES = (50_257, 128_256)
"""Those of GPT-2 and Llama 3."""

_usual_shape = lru_cache(maxsize=64)(typical_architecture)
"""Searching the usual shapes takes milliseconds, and a run is resolved many times."""


def complete_model(ledger: Ledger, reference: Reference) -> Model | None:
    """Return the model, or None when neither name, shape nor size is known.

    Raises:
        FactError: the shape contradicts itself.
    """
    named = ledger.text("model")
    known = reference.find_model(named) if named else None
    if known is not None:
        for fact in catalogue_facts(known, reference):
            ledger.facts.setdefault(fact.name, fact)
    if not _complete_experts(ledger, reference):
        return None
    _assume_vocabulary(ledger)
    values = ledger.values
    if not missing_shape(values):
        model = model_from(values)
        size = ledger.count("image_size")
        if isinstance(model, SampleModel) and size and known is not None:
            return at_image_size(_catalogue_model(known.name, reference), size)
        return model
    params = ledger.count("params_total")
    if params is not None:
        _assume_shape(ledger, params)
        return _usual_shape(params)
    ledger.missing.append("model")
    lacking = ", ".join(f"`{n}`" for n in missing_shape(values))
    hint = f" ({nearest(named, reference.known_model_spellings())})" if named and not known else ""
    ledger.questions.append(
        f"Which model is it? The shape lacks {lacking}; a known `model` name, a config.json or "
        f"`params_total` would do.{hint}"
    )
    return None


def _complete_experts(ledger: Ledger, reference: Reference) -> bool:
    """Take the experts of a sparse model from the catalogue; False when it knows none like it."""
    values = ledger.values
    total, active = ledger.number("params_total"), ledger.number("params_active")
    if not total or not active or active >= 0.99 * total:
        return True
    if "n_experts" in values or missing_shape(values):
        return True
    known = model_of_widths(values, reference)
    if known is None:
        ledger.missing.append("n_experts")
        ledger.questions.append(
            "Only a part of the parameters is active: how many experts has a layer (`n_experts`),"
            " how many does a token visit (`experts_per_token`)?"
        )
        return False
    ledger.facts.pop("d_ff", None)
    for fact in catalogue_facts(known, reference):
        ledger.facts.setdefault(fact.name, fact)
    return True


def _assume_vocabulary(ledger: Ledger) -> None:
    """Assume a vocabulary where it is all a shape lacks; large ones are the plausible others."""
    if missing_shape(ledger.values) == ("vocab_size",):
        why = "no file or argument gives the vocabulary"
        ledger.assume("vocab_size", TYPICAL_VOCAB_SIZE, why, *_LARGER_VOCABULARIES)


def _catalogue_model(name: str, reference: Reference) -> SampleModel:
    known = reference.find_model(name)
    assert known is not None  # noqa: S101  the caller has just found it
    model = model_from({f.name: f.value for f in catalogue_facts(known, reference)})
    if not isinstance(model, SampleModel):
        raise FactError(f"`{name}` is not a model counted per sample")
    return model


def _assume_shape(ledger: Ledger, params: int) -> None:
    shape = _usual_shape(params)
    for word in ("n_layers", "d_model", "n_heads", "d_ff", "vocab_size"):
        if not ledger.has(word):
            ledger.facts[word] = Fact(
                word,
                getattr(shape, word),
                Basis.ASSUMED,
                f"a usual decoder of {params:,} parameters",
                Layer.ASSUMPTION,
            )
    ledger.assumptions.append(
        Assumption("model_family", "llama", f"only the size is known: {params:,} parameters")
    )
