"""Facts that say the same thing in other words: a stronger one puts the weaker aside.

A length can be given as steps, tokens or epochs; a batch as any two of three numbers; a model as
a name or as a shape; devices in all or as machines times devices of each. When a stronger place
gives one of them, what weaker places say in other words no longer holds.
"""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from compute_budget_planner.workload.ledger import Ledger
from compute_budget_planner.workload.merge import Conflict, same
from compute_budget_planner.workload.model_shape import missing_shape
from compute_budget_planner.workload.vocabulary import VOCABULARY

LENGTHS = ("max_steps", "train_tokens", "epochs")
"""The words for how long is trained; one of them is enough."""

_SHAPE_GROUPS = ("model", "model detail")


def drop_overtaken(ledger: Ledger, reference: Reference) -> None:
    """Put aside the facts of a ledger that a stronger one has overtaken."""
    _lengths(ledger)
    _batch(ledger)
    _devices(ledger)
    _adapters(ledger)
    _shape(ledger, reference)


def still_conflicts(conflict: Conflict, ledger: Ledger) -> bool:
    """Tell whether the completed facts still disagree with what was overruled."""
    completed = ledger.facts.get(conflict.overruled.name)
    return completed is None or not same(completed.value, conflict.overruled.value)


def _lengths(ledger: Ledger) -> None:
    given = [ledger.facts[name] for name in LENGTHS if ledger.has(name)]
    if not given:
        return
    strongest = min(given, key=lambda fact: fact.layer)
    for fact in given:
        if fact.layer > strongest.layer:
            _put_aside(ledger, strongest, fact)


def _batch(ledger: Ledger) -> None:
    """Let a stronger batch number overrule the weaker accumulation, or else the weaker total."""
    _answered_batch(ledger)
    names = ("micro_batch_size", "grad_accum_steps", "global_batch_size")
    if not all(ledger.has(name) for name in names):
        return
    micro, accum, total = (ledger.facts[name] for name in names)
    strongest = min((micro, accum, total), key=lambda fact: fact.layer)
    weakest = accum if accum.layer > strongest.layer else total
    if weakest.layer > strongest.layer:
        _put_aside(ledger, strongest, weakest)


def _answered_batch(ledger: Ledger) -> None:
    """Drop a batch only taken as one of the device where a stronger total says it is not."""
    micro, total = (ledger.facts.get(name) for name in ("micro_batch_size", "global_batch_size"))
    if micro is None or total is None or micro.basis is not Basis.ASSUMED:
        return
    devices = int(ledger.facts["n_gpus"].value) if ledger.has("n_gpus") else 1
    if total.layer < micro.layer and int(total.value) % (int(micro.value) * devices):
        del ledger.facts["micro_batch_size"]


def _devices(ledger: Ledger) -> None:
    """Let a stronger number of devices overrule the weaker ones it does not agree with."""
    names = ("n_gpus", "n_nodes", "gpus_per_node")
    if not all(ledger.has(name) for name in names):
        return
    total, nodes, per_node = (ledger.facts[name] for name in names)
    strongest = min((total, nodes, per_node), key=lambda fact: fact.layer)
    if int(total.value) == int(nodes.value) * int(per_node.value):
        return
    if total.layer > strongest.layer:
        _put_aside(ledger, strongest, total)
        return
    weaker = [fact for fact in (nodes, per_node) if fact.layer > strongest.layer]
    whole_machines = int(total.value) > int(per_node.value) and (
        int(total.value) % int(per_node.value) == 0
    )
    if whole_machines and nodes in weaker:
        weaker = [nodes]
    for fact in weaker:
        _put_aside(ledger, strongest, fact)


def _adapters(ledger: Ledger) -> None:
    """Let a stronger adapter rank or quantisation overrule a weaker method without adapters."""
    method = ledger.facts.get("method")
    if method is None or method.value in ("lora", "qlora"):
        return
    for name in ("lora_rank", "quantization"):
        fact = ledger.facts.get(name)
        if fact is not None and fact.value != "none" and fact.layer < method.layer:
            _put_aside(ledger, fact, method)
            return


def _shape(ledger: Ledger, reference: Reference) -> None:
    """Let a named model overrule the shape weaker places give, and a shape a derived count."""
    named = ledger.facts.get("model")
    if named is not None and reference.find_model(str(named.value)) is not None:
        for name, spec in VOCABULARY.items():
            fact = ledger.facts.get(name)
            if spec.group not in _SHAPE_GROUPS or fact is None or fact is named:
                continue
            if fact.layer > named.layer:
                del ledger.facts[name]
    if not missing_shape(ledger.values):
        for name in ("params_total", "params_active"):
            fact = ledger.facts.get(name)
            if fact is not None and fact.basis is Basis.DERIVED:
                del ledger.facts[name]


def _put_aside(ledger: Ledger, used: Fact, overruled: Fact) -> None:
    del ledger.facts[overruled.name]
    # One line of a file can give several facts, such as all devices and those of a node.
    told = any(
        (conflict.overruled.source, conflict.overruled.value) == (overruled.source, overruled.value)
        for conflict in ledger.conflicts
    )
    if overruled.layer < Layer.FRAMEWORK_DEFAULT and not told:
        ledger.conflicts.append(Conflict(used, overruled))
