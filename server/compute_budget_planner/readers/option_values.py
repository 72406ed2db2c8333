"""Raw option values become facts one by one; what is unset gives none, what is wrong is said."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from compute_budget_planner.errors import FactError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Basis, Fact, Layer, Problem
from compute_budget_planner.readers.option_table import (
    ALIASES,
    ELSEWHERE,
    FRAMEWORK_ALIASES,
    SWITCHES,
)
from compute_budget_planner.readers.public_names import public_name
from compute_budget_planner.workload.facts import FactValue
from compute_budget_planner.workload.vocabulary import VOCABULARY, Kind, parse_fact

_UNSET = {"", "none", "null", "auto", "???", "~", "default"}
_INTERVALS = ("eval_every_steps", "checkpoint_every_steps")
_ZERO_IS_UNSET = (
    *_INTERVALS,
    *("max_steps", "tp", "pp", "cp", "ep", "n_gpus", "gpus_per_node", "n_nodes"),
    *("lora_rank", "n_experts", "num_generations"),
)
_BASIS = {
    Layer.ARGUMENT: Basis.STATED,
    Layer.FRAMEWORK_DEFAULT: Basis.FRAMEWORK_DEFAULT,
    Layer.REFERENCE: Basis.REFERENCE,
    Layer.ASSUMPTION: Basis.ASSUMED,
}
_UNSETTLED = re.compile(r"\$|FILL_IN|[{}<>]")
_NUMBERED = {
    ("sharding", "0"): "ddp",  # ZeRO stage 0 shares nothing
    ("activation_checkpointing", "0"): "none",
    ("activation_checkpointing", "1"): "full",
}
_LISTS = ("gpus_per_node", "n_gpus", "seeds", "image_size", "grad_accum_steps")
_LOCAL_PATH = re.compile(r"\.{0,2}/.*|~.*|[A-Za-z]:\\.*")
_PLACEHOLDER = re.compile(
    r"(?:.*/)?(?:[A-Z]+_)*(?:YOUR|MY|BASE|MODEL|DATASET|DATA|PATH|DIR|NAME|TODO|XXX)(?:_[A-Z]+)*"
    r"|<.*>|\[.*\]|(?:path/to|your[-_ /]).*|/path/to/.*",
    re.S,
)
"""What writers of templates put where a name belongs, such as `BASE_MODEL_DIR`."""


def option_key(name: str) -> str:
    """Return an option as it is compared: no dashes in front, lower case, `_` for `-`."""
    return name.strip().lstrip("-+").lower().replace("-", "_")


def key_spellings(key: str) -> list[str]:
    """Return the forms under which a dotted key is looked up, the most exact first."""
    parts = key.split(".")
    tail = ".".join(parts[-2:])
    if ELSEWHERE.intersection(parts[:-1]):
        return list(dict.fromkeys([key, tail]))
    return list(dict.fromkeys([key, tail, parts[-1]]))


def fact_of_key(key: str, framework: str) -> str | None:
    """Return the fact a key means, or None."""
    own = FRAMEWORK_ALIASES.get(framework, {})
    for word in key_spellings(key):
        if word in own:
            return None if own[word] == "skip" else own[word]
        if word in ALIASES:
            return ALIASES[word]
    return None


def switch_state(raw: object) -> bool | None:
    """Return whether an on/off option is on; None when it does not say."""
    word = str(raw).strip().lower()
    if word in ("true", "yes", "on", "1", "1.0"):
        return True
    return False if word in ("false", "no", "off", "0", "0.0") else None


@dataclass
class OptionFacts:
    """The facts found so far. `raw` keeps every value by key spelling, `keys` who gave a fact."""

    reference: Reference
    layer: Layer
    framework: str
    facts: dict[str, Fact] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    raw: dict[str, tuple[object, str]] = field(default_factory=dict)

    def add(self, name: str, raw: object, source: str) -> None:
        """Take one option."""
        key = option_key(name)
        for word in key_spellings(key):
            self.raw[word] = (raw, source)
        switch = next((w for w in key_spellings(key) if w in SWITCHES), None)
        fact = fact_of_key(key, self.framework)
        if switch is not None:
            state = switch_state(raw)
            if state is not None:
                for given, value in SWITCHES[switch][0 if state else 1]:
                    self.put(given, value, source, key)
        elif fact is not None:
            self.put(fact, _prepared(fact, raw), source, key)

    def put(self, fact: str, raw: object, source: str, key: str) -> None:
        """Record the value of a fact; the last one wins, as on a command line."""
        if _is_unset(fact, raw):
            return
        if isinstance(raw, str) and _UNSETTLED.search(raw):
            text = f"`{key}` is `{raw[:80]}`, which this file does not settle; give `{fact}`."
            self.problems.append(Problem(source, text))
            return
        if fact in ("model", "dataset") and _PLACEHOLDER.fullmatch(str(raw)):
            text = f"`{key}` is `{str(raw)[:80]}`, a placeholder; give `{fact}`."
            self.problems.append(Problem(source, text))
            return
        if fact == "model_family" and str(raw).startswith("Auto"):
            return  # a loading class of transformers, such as AutoModelForCausalLM
        value = self._parsed(fact, raw, source, key)
        if value is None:
            return
        earlier = self.facts.get(fact)
        if earlier and earlier.value != value and self.keys[fact] != key:
            text = (
                f"`{self.keys[fact]}` and `{key}` both give `{fact}`: {earlier.value} and "
                f"{value}; {value} is used."
            )
            self.problems.append(Problem(source, text))
        self.derive(fact, raw, source, key, _BASIS.get(self.layer, Basis.CONFIGURED))

    def derive(self, fact: str, raw: object, source: str, key: str, basis: Basis) -> None:
        """Record a value with a basis of its own, in place of an earlier one."""
        value = self._parsed(fact, raw, source, key)
        if value is None:
            return
        layer = Layer.ASSUMPTION if basis is Basis.ASSUMED else self.layer
        self.facts[fact] = Fact(fact, value, basis, source, layer)
        self.keys[fact] = key

    def _parsed(self, fact: str, raw: object, source: str, key: str) -> FactValue | None:
        try:
            return parse_fact(fact, raw, self.reference, source)
        except FactError as error:
            self.problems.append(Problem(source, f"`{key}`: {error.what}. {error.remedy}"))
            return None

    def number(self, *keys: str) -> tuple[float, str] | None:
        """Return the first of the keys that holds a positive number, and its source."""
        for key in keys:
            raw, source = self.raw.get(key, (None, ""))
            if isinstance(raw, bool):
                continue
            try:
                value = float(str(raw).replace("_", ""))
            except ValueError:
                continue
            if 0 < value < 1e18:
                return value, source
        return None


def _is_unset(fact: str, raw: object) -> bool:
    if raw is None or isinstance(raw, dict | list | tuple | set):
        return True
    word = str(raw).strip().lower()
    if word in _UNSET and not (word == "none" and VOCABULARY[fact].kind is Kind.CHOICE):
        return True
    if VOCABULARY[fact].kind.is_number:
        # An interval of 0.05 is a share of the run, known only when its length is.
        zero = r"0*\.[0-9]+|0+" if fact in _INTERVALS else r"0+(\.0*)?"
        unset = fact in _ZERO_IS_UNSET and re.fullmatch(zero, word)
        return bool(unset or re.match(r"-[0-9.]", word))
    return False


def _prepared(fact: str, raw: object) -> object:
    """Bring a raw value into the form in which facts are parsed."""
    if fact == "precision" and raw is False:
        return "no"  # YAML reads `mixed_precision: no` as false
    if isinstance(raw, list | tuple):
        return _from_list(fact, raw)
    text = raw.strip().strip("\"'") if isinstance(raw, str) else ""
    if fact in ("model", "dataset"):
        text = public_name(text)
    if fact in _LISTS and ("," in text or text.startswith(("[", "("))):
        return _from_list(fact, [p for p in text.strip("[]()").split(",") if p.strip()])
    if fact == "optimizer":
        return text.rsplit(".", maxsplit=1)[-1]
    if fact in ("model", "dataset") and _LOCAL_PATH.fullmatch(text) and "$" not in text:
        # Folders of this machine say nothing about the run and stay out of results.
        return re.split(r"[/\\]", text.rstrip("/\\"))[-1].lstrip("~.")
    return _NUMBERED.get((fact, text), text) if isinstance(raw, str) else raw


def _from_list(fact: str, items: Sequence[object]) -> object:
    """Devices and seeds are counted, of an image size the last edge counts, else one item."""
    if fact in ("gpus_per_node", "n_gpus", "seeds"):
        return len(items)
    if fact == "image_size":
        return items[-1] if items else None
    return items[0] if len(items) == 1 else None
