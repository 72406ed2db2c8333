"""Seconds of one optimizer step of a model known only by what one sample costs.

A roofline of two terms per sample: arithmetic at peak, plus traffic of the activations at
memory bandwidth. How much of either a model needs depends on its kind of layers (table
`layer_kinds` of the efficiency page), how close software comes to it on the software (table
`sample_software`). To it come the data each sample brings along, the launches of each
micro-step and the exchange of gradients.
"""

from compute_budget_planner.estimation import communication
from compute_budget_planner.estimation.device_rate import dense_peak_tflops, device_rate
from compute_budget_planner.estimation.step_time import StepTime, as_step_time
from compute_budget_planner.guide.reference import Reference, spelling
from compute_budget_planner.guide.tables import Row
from compute_budget_planner.workload.architecture import SampleModel
from compute_budget_planner.workload.run import TrainingRun

_SYNTHETIC = {"synthetic", "random", "dummy", "fake"}
_PIXELS = 224**2
"""Pixels of the image for which the guide gives the time to prepare it."""


def sample_step_time(run: TrainingRun, model: SampleModel, reference: Reference) -> StepTime:
    """Return the time of one optimizer step.

    Raises:
        FactError: the guide lacks a rate of the device.
    """
    numerics, accum = run.numerics, run.batch.grad_accum_steps
    device_rate(run.hardware.accelerator, numerics.precision, reference)
    compute, memory = _roofline_seconds(run, model, reference)
    if numerics.activation_checkpointing == "full":
        compute *= 4 / 3
        memory *= 4 / 3
    samples = run.batch.micro_batch_size
    busy = (compute + memory) * samples
    exponent = reference.value("smooth_maximum")
    launches = _launch_seconds(run, model, reference)
    waiting = (busy**exponent + launches**exponent) ** (1 / exponent)
    params = float(model.params_total)
    exchanged = communication.data_parallel_seconds(run, params, params, reference)
    return as_step_time(
        {
            "matmuls": compute * samples * accum,
            "memory-bound work": memory * samples * accum,
            "kernel launches": (waiting - busy) * accum,
            "data loading": _loading_seconds(run, model, reference) * samples * accum,
            "communication": exchanged * reference.value("communication_exposed"),
        }
    )


def layer_kind(family: str, reference: Reference) -> Row:
    """Return the kind of layers a family of models is made of; `any` when the guide has none.

    The families of the guide are the beginnings of names; the longest that fits decides.
    """
    name = spelling(family)
    kinds = reference.rows("layer_kinds")
    fitting = [
        (len(word), row)
        for row in kinds.values()
        for word in row.words("families")
        if name.startswith(spelling(word))
    ]
    return max(fitting, key=lambda item: item[0])[1] if fitting else kinds["any"]


def sample_software(framework: str, reference: Reference) -> Row:
    """Return the class of software that trains a model counted per sample; `stock` if unnamed."""
    classes = reference.rows("sample_software")
    name = spelling(framework)
    for row in classes.values():
        if name and name in {spelling(word) for word in row.words("frameworks")}:
            return row
    return classes["stock"]


def hides_loading(run: TrainingRun, reference: Reference) -> bool:
    """Tell whether the software of a run prepares its data beside the steps."""
    software = sample_software(run.schedule.framework, reference)
    return software.required_number("loading") == 0.0


def _roofline_seconds(
    run: TrainingRun, model: SampleModel, reference: Reference
) -> tuple[float, float]:
    """Return seconds of arithmetic and of memory traffic of one sample, both passes."""
    accelerator, numerics = run.hardware.accelerator, run.numerics
    kind = layer_kind(model.family, reference)
    software = sample_software(run.schedule.framework, reference)
    wide = reference.precisions[numerics.precision].is_32bit
    last = numerics.channels_last or (software.text("layout") == "nhwc" and not wide)
    peak = dense_peak_tflops(accelerator, numerics.precision) * 1e12
    compute = kind.required_number("compute") * 3.0 * model.flops_per_sample_forward / peak
    if numerics.precision == "fp32" or (wide and not accelerator.peak_tf32_tflops):
        compute *= reference.value("sample_compute_fp32")
    activations = model.activations_per_sample
    if activations is None:
        activations = reference.value("activations_per_mac") * model.flops_per_sample_forward / 2
    moved = kind.required_number("bytes_nhwc" if last else "bytes_nchw") * activations
    moved *= reference.value("sample_width_32bit") if wide else 1.0
    memory = moved / ((accelerator.memory_bandwidth_gb_s or 0.0) * 1e9)
    speed = 1.0 if wide else software.required_number("speed")
    return compute / speed, memory / speed


def _loading_seconds(run: TrainingRun, model: SampleModel, reference: Reference) -> float:
    """Return seconds per sample that preparing and copying it adds: none for made-up data."""
    if spelling(run.data.dataset) in _SYNTHETIC or model.image_size is None:
        return 0.0
    software = sample_software(run.schedule.framework, reference)
    one = reference.value("sample_loading_ms") / 1e3 * (model.image_size**2 / _PIXELS)
    return one * software.required_number("loading")


def _launch_seconds(run: TrainingRun, model: SampleModel, reference: Reference) -> float:
    """Return the host time to launch the kernels of one micro-step."""
    kernels = layer_kind(model.family, reference).required_number("kernels")
    launches = kernels * run.numerics.framework_class.launch_us / 1e6
    return launches * (reference.value("compile_launch") if run.numerics.compile else 1.0)
