"""Single measurements on a device whose rates are known."""

from dataclasses import replace

import pytest
from compute_budget_planner.estimation.ranges import Range
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.measuring.backend import GptShape, Unmeasurable
from compute_budget_planner.measuring.collectives import AllReduce, measure_all_reduce
from compute_budget_planner.measuring.launch_floor import (
    LaunchFloor,
    launch_us,
    measure_launch_floor,
)
from compute_budget_planner.measuring.matmul_rate import (
    MatmulRate,
    best_rate,
    measure_matmul_rates,
)
from compute_budget_planner.measuring.memory_bandwidth import measure_memory_bandwidth
from compute_budget_planner.measuring.timing import samples, spread
from compute_budget_planner.measuring.training_steps import SHAPES, measure_steps
from hypothesis import given
from hypothesis import strategies as st
from made_up_device import CPU, H200, MadeUpDevice, Work


def close(value: Range) -> object:
    return pytest.approx((value.low, value.expected, value.high))


def ends(value: Range) -> tuple[float, float, float]:
    return value.low, value.expected, value.high


# Repeats


def test_a_range_is_the_median_between_tenth_and_ninetieth_percentile() -> None:
    assert ends(spread([float(n) for n in range(100, -1, -1)])) == (10, 50, 90)


@given(st.lists(st.floats(1e-9, 1e3), min_size=2, max_size=40))
def test_a_range_lies_within_its_samples(found: list[float]) -> None:
    value = spread(found)
    slack = 1e-9 * max(found)
    assert min(found) - slack <= value.low <= value.high <= max(found) + slack


@given(st.floats(1e-7, 5.0), st.floats(0.001, 10.0))
def test_at_least_five_samples_are_taken_and_no_more_than_the_budget_holds(
    cost: float, budget: float
) -> None:
    taken = samples(MadeUpDevice(), Work(cost), budget)
    assert 5 <= len(taken) <= 30
    assert len(taken) == 5 or sum(taken[:-1]) < budget


# Matmuls


def test_the_rate_of_every_size_is_that_of_the_device() -> None:
    rates, problem = measure_matmul_rates(MadeUpDevice(), "bf16", 20.0)
    assert problem == ""
    assert [r.size for r in rates] == [256, 512, 1024, 2048, 4096, 6144, 8192, 12288, 16384]
    assert [ends(r.tflops) for r in rates] == [close(Range.exact(720.0))] * 9


def test_sizes_end_where_their_fewest_repeats_would_outlast_the_budget() -> None:
    slow = MadeUpDevice(device=CPU, tflops={"fp32": 0.1})
    rates, problem = measure_matmul_rates(slow, "fp32", 3.0)
    # 7 products of 2048: 1.2 s at 0.1 TFLOPS, more than a third of 3 s.
    assert ([r.size for r in rates], problem) == ([256, 512, 1024], "")


def test_a_precision_without_units_is_a_problem_not_a_rate() -> None:
    found = measure_matmul_rates(MadeUpDevice(tflops={"bf16": 1.0}), "fp8", 5.0)
    assert found == ([], "fp8 matmul of 256: no such units")


def test_the_best_rate_is_that_of_the_fastest_size_of_the_precision() -> None:
    rates = [
        MatmulRate("bf16", 256, Range.exact(100)),
        MatmulRate("bf16", 512, Range.exact(300)),
        MatmulRate("bf16", 1024, Range.exact(200)),
        MatmulRate("fp8", 512, Range.exact(900)),
    ]
    assert best_rate(rates, "bf16") == rates[1]
    assert best_rate(rates, "fp16") is None


# Memory and links


def test_a_copy_counts_what_it_reads_and_what_it_writes() -> None:
    assert ends(measure_memory_bandwidth(MadeUpDevice(), 1.0)) == close(Range.exact(4320))


def test_slow_repeats_are_the_low_end_of_a_rate() -> None:
    found = measure_memory_bandwidth(MadeUpDevice(jitter=(1.0, 1.0, 1.0, 2.0)), 5.0)
    assert (found.low, found.expected) == (pytest.approx(2160), pytest.approx(4320))


def test_links_are_rated_by_the_bus_bandwidth_of_nccl_tests() -> None:
    # nccl-tests, PERFORMANCE.md: bus bandwidth = bytes / time × 2(n−1)/n.
    class EightDevices(MadeUpDevice):
        def all_reduce(self, mib: int, samples: int) -> tuple[float, ...]:
            return (mib * 2**20 / 100e9,) * samples

    rates, problem = measure_all_reduce(EightDevices(device=replace(H200, count=8)))
    assert problem == ""
    assert [(r.n_gpus, r.mib, ends(r.gb_s)) for r in rates] == [
        (8, mib, close(Range.exact(175.0))) for mib in (1, 25, 256)
    ]


def test_a_single_device_has_no_links_to_measure() -> None:
    assert measure_all_reduce(MadeUpDevice()) == ([], "")


def test_workers_that_fail_are_a_problem_not_a_crash() -> None:
    found: tuple[list[AllReduce], str] = measure_all_reduce(
        MadeUpDevice(device=replace(H200, count=2), link_gb_s=0.0)
    )
    assert found == ([], "all-reduce of 1 MiB: a worker process ended early")


# Launches


def test_the_launch_floor_of_a_layer_leaves_out_what_every_pass_needs_once() -> None:
    floor, problems = measure_launch_floor(MadeUpDevice(), 10.0, compiled=True)
    assert problems == []
    assert ends(floor.kernel_seconds) == close(Range.exact(6e-6))
    assert floor.layer_seconds is not None
    assert floor.compiled_share is not None
    assert ends(floor.layer_seconds) == close(Range.exact(510e-6))
    assert ends(floor.compiled_share) == close(Range.exact(0.5))


def test_the_time_per_kernel_times_the_kernels_of_the_guide_is_the_layer_measured() -> None:
    reference = load_reference()
    kernels = reference.value("kernels_per_layer") * (1 + reference.value("backward_passes"))
    assert launch_us(510e-6, reference) * kernels == pytest.approx(510)


def test_without_a_compiler_the_eager_floor_stands_alone() -> None:
    floor, problems = measure_launch_floor(MadeUpDevice(compiled_share=None), 10.0, compiled=True)
    assert floor.layer_seconds is not None
    assert (floor.compiled_layer_seconds, floor.compiled_share) == (None, None)
    assert problems == ["compiled layers: no compiler"]


def test_a_host_too_busy_to_tell_a_deep_from_a_shallow_stack_gives_no_floor() -> None:
    floor, problems = measure_launch_floor(MadeUpDevice(jitter=(1.0, 9.0)), 10.0, compiled=False)
    assert isinstance(floor, LaunchFloor)
    assert floor.layer_seconds is None
    assert problems == ["eager layers: the host is too busy to time them"]


# Steps


def test_the_reference_model_counts_its_parameters_as_gpt_2_does() -> None:
    # GPT-2 (Radford et al. 2019, as released): 124,439,808 parameters.
    assert GptShape(12, 768, 12, 50257, 1024, 1).params_total == 124_439_808


def test_steps_too_long_for_the_budget_are_left_out() -> None:
    fast, slow = (
        measure_steps(MadeUpDevice(), tflops, 20.0, quick=False) for tflops in (720.0, 1.0)
    )
    assert [s.shape for s in fast[0]] == list(SHAPES)
    assert [s.shape for s in slow[0]] == list(SHAPES[:2])
    assert fast[1] == slow[1] == []


def test_quick_takes_the_smaller_half_of_the_steps() -> None:
    steps, _ = measure_steps(MadeUpDevice(), 720.0, 20.0, quick=True)
    assert [s.shape for s in steps] == list(SHAPES[:3])


def test_a_step_that_does_not_fit_ends_the_steps_with_a_reason() -> None:
    class Small(MadeUpDevice):
        def training_step(self, shape: GptShape, precision: str) -> Work:
            if shape.params_total > 10e6:
                raise Unmeasurable("out of memory")
            return super().training_step(shape, precision)

    steps, problems = measure_steps(Small(), 720.0, 20.0, quick=False)
    assert [s.shape for s in steps] == list(SHAPES[:2])
    assert problems == ["training step of 124M: out of memory"]
