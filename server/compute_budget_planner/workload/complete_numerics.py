"""Fill in arithmetic, optimizer and kernels, each unstated one with its plausible others."""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.rows import Accelerator, FrameworkClass
from compute_budget_planner.workload.architecture import Architecture
from compute_budget_planner.workload.ledger import Ledger
from compute_budget_planner.workload.run import Model, Numerics

_OLD_GENERATION = "volta-turing"
_USUAL_LORA_RANK = 16


def complete_numerics(
    ledger: Ledger, model: Model, accelerator: Accelerator, reference: Reference
) -> Numerics:
    """Return the numerics of a run on a device."""
    transformer = isinstance(model, Architecture)
    method = _method(ledger)
    framework_class = _framework_class(ledger, reference, transformer)
    if not ledger.has("precision"):
        sixteen = "bf16" if accelerator.peak_bf16_tflops else "fp16"
        # Nobody trains a wide transformer, or adapters, in 32 bit by oversight.
        wide = isinstance(model, Architecture) and model.d_model >= 2048
        others = () if wide or method in ("lora", "qlora") else ("tf32",)
        ledger.assume("precision", sixteen, "no file or argument gives a precision", *others)
    if not ledger.has("optimizer"):
        # What is counted per sample may be a transformer too; the HF Trainer defaults to AdamW.
        adam = transformer or framework_class.name == "hf-trainer"
        usual = "adamw" if adam else "sgd-momentum"
        # Adapters are too few for their optimizer to matter.
        smaller = ("adamw-8bit",) if transformer and method not in ("lora", "qlora") else ()
        ledger.assume("optimizer", usual, "usual for this kind of model", *smaller)
    if not ledger.has("objective"):
        ledger.derive("objective", _usual_objective(model), "usual for this kind of model")
    if not ledger.has("activation_checkpointing"):
        if transformer and method == "qlora":
            why = "preparing a quantised model for training switches it on (PEFT)"
            ledger.assume("activation_checkpointing", "full", why, "none")
        else:
            recomputed = ("full",) if transformer else ()
            why = "no file or argument switches it on"
            ledger.assume("activation_checkpointing", "none", why, *recomputed)
    if transformer:
        _transformer_kernels(ledger, accelerator, framework_class)
    elif not ledger.has("channels_last"):
        ledger.assume("channels_last", False, "the default layout of PyTorch", True)
    if not ledger.has("compile"):
        # Compilation saves launches: it matters where the framework leaves them.
        compiled = (True,) if transformer else ()
        ledger.assume("compile", False, "no file or argument switches it on", *compiled)
    return Numerics(
        precision=str(ledger.text("precision")),
        optimizer=str(ledger.text("optimizer")),
        method=method,
        objective=str(ledger.text("objective")),
        lora_rank=ledger.count("lora_rank") or 0,
        quantization=ledger.text("quantization") or "none",
        activation_checkpointing=str(ledger.text("activation_checkpointing")),
        attention=ledger.text("attention") or "sdpa",
        compile=bool(ledger.flag("compile")),
        fused_loss=bool(ledger.flag("fused_loss")),
        gradient_dtype=ledger.text("gradient_dtype") or "bf16",
        offload=ledger.text("offload") or "none",
        channels_last=bool(ledger.flag("channels_last")),
        framework_class=framework_class,
    )


def _method(ledger: Ledger) -> str:
    method = ledger.text("method")
    if method is None:
        quantised = ledger.text("quantization") not in (None, "none")
        if quantised:
            method = "qlora"
            ledger.derive("method", method, "quantised weights are trained through adapters")
        elif ledger.has("lora_rank"):
            method = "lora"
            ledger.derive("method", method, "a lora_rank is given")
        else:
            method = "pretrain"
            ledger.assume("method", method, "no file or argument freezes weights")
    if method in ("lora", "qlora") and not ledger.has("lora_rank"):
        ledger.assume("lora_rank", _USUAL_LORA_RANK, "no rank is given")
    if method == "qlora" and not ledger.has("quantization"):
        ledger.derive("quantization", "nf4", "usual for qlora")
    return method


def _framework_class(ledger: Ledger, reference: Reference, transformer: bool) -> FrameworkClass:
    framework = ledger.text("framework")
    found = reference.framework_class_of(framework) if framework else None
    if found is not None:
        return found
    why = (
        f"the guide does not know the framework `{framework}`"
        if framework
        else "no file or argument names the framework"
    )
    others = ("megatron", "hf-trainer") if transformer else ()
    ledger.assume("framework", "pytorch-native", why, *others)
    return reference.framework_classes["pytorch-native"]


def _transformer_kernels(
    ledger: Ledger, accelerator: Accelerator, framework_class: FrameworkClass
) -> None:
    if not ledger.has("attention"):
        if accelerator.generation == _OLD_GENERATION:
            ledger.assume("attention", "eager", "FlashAttention needs a later device", "sdpa")
        else:
            ledger.assume("attention", "sdpa", "the default of PyTorch 2")
    if not ledger.has("fused_loss"):
        usual = framework_class.fused_loss
        why = f"usual for the class {framework_class.name}"
        ledger.assume("fused_loss", usual, why, not usual)
    if not ledger.has("gradient_dtype"):
        same_as_weights = "fp32" if ledger.text("precision") in ("fp32", "tf32") else "bf16"
        other = ("fp32",) if same_as_weights == "bf16" else ()
        ledger.assume(
            "gradient_dtype",
            same_as_weights,
            "gradients as the weights, unless kept in fp32",
            *other,
        )


def _usual_objective(model: Model) -> str:
    if isinstance(model, Architecture) and not model.num_classes:
        return "lm" if model.causal else "mlm"
    return "classification"
