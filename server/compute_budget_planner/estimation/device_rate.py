"""How fast a device multiplies matrices, by precision and shape, and moves memory."""

from dataclasses import dataclass

from compute_budget_planner.errors import FactError
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.rows import Accelerator, Generation

_REFERENCE_TFLOPS = 262.0
"""Achievable rate of the A100 the shape factor is anchored at (see the efficiency page)."""


@dataclass(frozen=True)
class DeviceRate:
    """Rates of one device at one precision: FLOP/s and bytes/s."""

    peak_flops: float
    achievable_flops: float
    attention_flops: float
    bytes_per_second: float
    generation: Generation
    shape_scale: float

    def matmul_flops(self, tokens: float, d_in: float, d_out: float) -> float:
        """Return the FLOP/s of a `tokens × d_in` by `d_in × d_out` matmul."""
        generation = self.generation
        slow = (
            (1 + generation.shape_tokens * self.shape_scale / max(tokens, 1.0))
            * (1 + generation.shape_width * self.shape_scale / d_in)
            * (1 + generation.shape_width * self.shape_scale / d_out)
        )
        return self.achievable_flops * generation.matmul_level / slow


def dense_peak_tflops(accelerator: Accelerator, precision: str) -> float:
    """Return the dense peak in TFLOPS at which MFU is quoted: the 16-bit one for FP8 as well.

    Raises:
        FactError: the guide gives no peak of that precision for the device.
    """
    # Without 16-bit units, 16-bit numbers are multiplied at the rate of 32-bit ones.
    sixteen = (
        accelerator.peak_bf16_tflops or accelerator.peak_fp16_tflops or accelerator.peak_fp32_tflops
    )
    by_precision = {
        "fp32": accelerator.peak_fp32_tflops,
        "tf32": accelerator.peak_tf32_tflops or accelerator.peak_fp32_tflops,
        "fp16": accelerator.peak_fp16_tflops or sixteen,
        "bf16": sixteen,
        "bf16-true": sixteen,
        "fp8": sixteen,
    }
    peak = by_precision[precision]
    if not peak:
        raise FactError(
            f"the guide gives no {precision} peak for `{accelerator.name}`",
            remedy="Add it to `accelerator_compute` on a lab page, or name another precision.",
        )
    return peak


def device_rate(accelerator: Accelerator, precision: str, reference: Reference) -> DeviceRate:
    """Return the rates of a device.

    Raises:
        FactError: the guide lacks the device's peak or memory bandwidth.
    """
    if not accelerator.memory_bandwidth_gb_s:
        raise FactError(
            f"the guide gives no memory bandwidth for `{accelerator.name}`",
            remedy="Add it to table `accelerator_memory` on a lab page.",
        )
    generation = reference.generations[accelerator.generation]
    peak = dense_peak_tflops(accelerator, precision)
    achievable = _achievable_tflops(accelerator, precision, peak, reference)
    sixteen_bit = _achievable_tflops(
        accelerator, "bf16" if precision == "fp8" else precision, peak, reference
    )
    return DeviceRate(
        peak_flops=peak * 1e12,
        achievable_flops=achievable * 1e12,
        attention_flops=sixteen_bit * 1e12 * generation.attention_level,
        bytes_per_second=accelerator.memory_bandwidth_gb_s
        * 1e9
        * reference.value("bandwidth_share"),
        generation=generation,
        shape_scale=(achievable / _REFERENCE_TFLOPS) ** reference.value("shape_power"),
    )


def _achievable_tflops(
    accelerator: Accelerator, precision: str, peak: float, reference: Reference
) -> float:
    bf16, fp16 = accelerator.achievable_bf16_tflops, accelerator.achievable_fp16_tflops
    share = {"fp32": "achievable_share_fp32", "tf32": "achievable_share_tf32"}
    guess = peak * reference.value(share.get(precision, "achievable_share"))
    if precision in ("bf16", "bf16-true"):
        if accelerator.peak_bf16_tflops is None:
            return bf16 or guess / 10
        return bf16 or fp16 or guess
    if precision == "fp16":
        return fp16 or (bf16 if accelerator.peak_bf16_tflops else None) or guess
    if precision == "fp8":
        sixteen = bf16 or guess
        if not accelerator.peak_fp8_tflops:
            return sixteen
        return sixteen * reference.value("fp8_speed")
    return guess


def emulates_bf16(accelerator: Accelerator, precision: str) -> bool:
    """Tell whether bfloat16 has no hardware here and runs 8 to 20 times slower than fp16."""
    return precision in ("bf16", "bf16-true") and accelerator.peak_bf16_tflops is None
