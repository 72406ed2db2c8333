"""Seconds of one optimizer step of a model known only by what one sample costs.

Two-term roofline per sample: arithmetic at peak plus stored activations at memory bandwidth
(fitted on image models; see table `sample_time` of the efficiency page).
"""

from compute_budget_planner.estimation import communication
from compute_budget_planner.estimation.device_rate import dense_peak_tflops, device_rate
from compute_budget_planner.estimation.step_time import StepTime, as_step_time
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.workload.architecture import SampleModel
from compute_budget_planner.workload.run import TrainingRun


def sample_step_time(run: TrainingRun, model: SampleModel, reference: Reference) -> StepTime:
    """Return the time of one optimizer step.

    Raises:
        FactError: the guide lacks a rate of the device.
    """
    accelerator, numerics = run.hardware.accelerator, run.numerics
    peak = dense_peak_tflops(accelerator, numerics.precision) * 1e12
    training_flops = 3.0 * model.flops_per_sample_forward
    slowdown = reference.value(slowdown_name(run, reference))
    if model.activations_per_sample is None:
        compute = training_flops / (peak * reference.value("sample_mfu_percent") / 100)
        memory = 0.0
    else:
        layout = "sample_bytes_nhwc" if numerics.channels_last else "sample_bytes_nchw"
        width = 2.0 if numerics.precision in ("fp32", "tf32") else 1.0
        bandwidth = (accelerator.memory_bandwidth_gb_s or 0.0) * 1e9
        device_rate(accelerator, numerics.precision, reference)
        compute = reference.value("sample_compute") * training_flops / peak * slowdown
        memory = model.activations_per_sample * reference.value(layout) * width / bandwidth
        memory *= slowdown
    if numerics.activation_checkpointing == "full":
        compute *= 4 / 3
        memory *= 4 / 3
    samples = run.batch.micro_batch_size * run.batch.grad_accum_steps
    params = float(model.params_total)
    exchanged = communication.data_parallel_seconds(run, params, params, reference)
    return as_step_time(
        {
            "matmuls": compute * samples,
            "memory-bound work": memory * samples,
            "communication": exchanged * reference.value("communication_exposed"),
        }
    )


def slowdown_name(run: TrainingRun, reference: Reference) -> str:
    """Return the name of the guide's measured-over-formula quantity for the run's device."""
    name = "sample_slowdown_" + run.hardware.accelerator.generation.replace("-", "_")
    known = reference.rows("sample_time")
    return name if name in known else "sample_slowdown_other"
