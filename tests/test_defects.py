"""Twelve mistakes of compute guides (D1 to D12) that these pages must not make."""

import math
import re
from pathlib import Path

import pytest
from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.guide.shipped import load_reference

ROOT = Path(__file__).resolve().parent.parent
SKILL = (ROOT / "SKILL.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "references" / "estimation-guide.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reference() -> Reference:
    return load_reference()


def section(heading: str) -> str:
    """Return one section of the guide, lines joined to one text."""
    return GUIDE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def joined(text: str) -> str:
    """Return text with its line breaks taken out."""
    return " ".join(text.split())


def example() -> dict[str, tuple[str, str]]:
    """Return the worked example: quantity → (how, value)."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", section("Worked example"), re.MULTILINE)
    return {quantity: (how, value) for quantity, how, value in rows if quantity != "quantity"}


def numbers(text: str) -> list[float]:
    """Return the numbers of a text, thousands separators allowed."""
    found = re.findall(r"\d[\d,]*(?:\.\d+)?(?:e\d+)?", text)
    return [float(number.replace(",", "")) for number in found]


def three(name: str) -> list[float]:
    """Return the low, expected and high value of a row of the example."""
    low, expected, high = numbers(example()[name][1].removesuffix(" percent"))
    return [low, expected, high]


def test_d1_a_rate_per_gpu_is_never_multiplied_by_the_number_of_gpus() -> None:
    text = joined(section("GPU-hours and wall-clock"))
    per_gpu = "From a rate per GPU: GPU-hours = samples / (samples per second and GPU × 3600)."
    assert per_gpu in text
    whole_job = "wall-clock hours = samples / (samples per second × 3600); GPU-hours = wall-clock"
    assert whole_job in text
    for gpu_hours, wall_clock in zip(three("GPU-hours"), three("wall-clock hours"), strict=True):
        assert gpu_hours / 8 == pytest.approx(wall_clock, abs=0.06)


def test_d2_the_worked_example_follows_from_its_own_numbers(reference: Reference) -> None:
    rows = example()
    n_layers, width, seq_len = 16, 2_048, 4_096
    (params,) = numbers(rows["parameters"][1])
    six, params_again, twelve, *attention = numbers(rows["FLOPs per token"][0])
    assert (params_again, attention) == (params, [n_layers, width, seq_len])
    (flops_per_token,) = numbers(rows["FLOPs per token"][1])
    assert six * params + twelve * math.prod(attention) == pytest.approx(flops_per_token, rel=1e-4)

    (tokens_per_step,) = numbers(rows["tokens per optimizer step"][1])
    assert math.prod(numbers(rows["tokens per optimizer step"][0])) == tokens_per_step
    (steps,) = numbers(rows["optimizer steps"][1])
    assert math.ceil(10_000_000_000 / tokens_per_step) == steps
    (tokens,) = numbers(rows["tokens trained on"][1])
    assert steps * tokens_per_step == tokens
    (flops,) = numbers(rows["FLOPs of the run"][1])
    assert flops_per_token * tokens == pytest.approx(flops, rel=1e-4)

    short = reference.row("short_form", "dense_a100")
    columns = ("low_mfu_percent", "middle_mfu_percent", "high_mfu_percent")
    mfu = [short.required_number(column) / 100 for column in columns]
    assert [100 * share for share in mfu] == pytest.approx(three("class"))
    peak_tflops = reference.accelerators["A100-SXM-80GB"].peak_bf16_tflops
    assert peak_tflops is not None
    assert numbers(rows["dense peak"][1]) == [peak_tflops]

    shares = sorted(mfu, reverse=True)
    peak = peak_tflops * 1e12
    step_seconds = [tokens_per_step * flops_per_token / (8 * share * peak) for share in shares]
    assert step_seconds == pytest.approx(three("seconds per step"), abs=0.005)
    bare = [flops / (share * peak * 3600) for share in shares]
    assert bare == pytest.approx(three("GPU-hours, steps only"), abs=0.05)
    factor = short.required_number("overhead_factor")
    gpu_hours = [factor * hours for hours in bare]
    assert gpu_hours == pytest.approx(three("GPU-hours"), abs=0.05)

    (state_gib,) = numbers(rows["state memory"][1])
    assert 16 * params / 2**30 == pytest.approx(state_gib, abs=0.05)
    (logits_gib,) = numbers(rows["logits"][1])
    copies = reference.value("logit_copies_fp32")
    assert 2 * seq_len * 128_256 * (2 + 4 * copies) / 2**30 == pytest.approx(logits_gib, abs=0.05)

    (smoke_steps,) = numbers(rows["smoke steps"][1])
    assert math.ceil(steps * reference.value("smoke_target_share_percent") / 100) == smoke_steps
    (smoke_minutes,) = numbers(rows["smoke wall-clock"][1])
    startup = reference.value("startup_minutes")
    assert startup + smoke_steps * step_seconds[1] / 60 == pytest.approx(smoke_minutes, abs=0.05)
    assert reference.value("smoke_min_minutes") <= smoke_minutes
    assert smoke_minutes <= reference.value("smoke_max_minutes")
    (share_percent,) = numbers(rows["smoke share"][1])
    assert 100 * smoke_minutes / 60 / gpu_hours[1] == pytest.approx(share_percent, abs=0.005)
    assert share_percent <= reference.value("smoke_max_share_percent")
    assert 3 * three("GPU-hours")[1] == pytest.approx(numbers(rows["three seeds"][1])[0], abs=0.05)


def test_d3_every_full_training_row_holds_its_state_in_memory(reference: Reference) -> None:
    pure_bf16 = reference.precisions["bf16-true"]
    least_bytes = (
        pure_bf16.weight_bytes
        + pure_bf16.gradient_bytes
        + reference.optimizers["adamw"].moment_bytes_16bit
    )
    assert least_bytes == 8
    checked = 0
    for row in reference.rows("published_runs").values():
        n_gpus = row.number("n_gpus")
        capacities = [a.memory_gib or 0 for a in reference.find_accelerators(row.required("gpu"))]
        assert capacities, row.place("gpu")
        if n_gpus is None or row.text("method") not in ("pretrain", "full-ft"):
            continue
        # TPU memory is not reported by a driver; its label is decimal
        if not any(capacities):
            continue
        needed_gib = least_bytes * row.required_number("params_total") / 2**30
        assert needed_gib < n_gpus * max(capacities), row.place("params_total")
        checked += 1
    assert checked > 25
    assert "112 GB of state before a single activation" in joined(section("Memory"))
    for verdict in ("FITS", "TIGHT", "UNCERTAIN", "OOM"):
        assert f"- **{verdict}**: " in section("Memory")


def mfu_percents(reference: Reference, name: str) -> tuple[float, float, float]:
    """Return low, middle and high of a row of the short form."""
    row = reference.row("short_form", name)
    return (
        row.required_number("low_mfu_percent"),
        row.required_number("middle_mfu_percent"),
        row.required_number("high_mfu_percent"),
    )


def test_d4_efficiency_depends_on_size_device_and_precision(reference: Reference) -> None:
    for name in reference.rows("short_form"):
        low, middle, high = mfu_percents(reference, name)
        assert 0 < low < middle < high
    for name in ("dense_a100", "dense_a100_large", "dense_hopper", "dense_hopper_large"):
        assert 35 <= mfu_percents(reference, name)[1] <= 55
    for device in ("a100", "hopper", "blackwell"):
        small = mfu_percents(reference, f"dense_{device}_small")[1]
        assert small < mfu_percents(reference, f"dense_{device}")[1]
    middle_of_small = [
        mfu_percents(reference, f"dense_{device}_small")[1]
        for device in ("a100", "hopper", "blackwell")
    ]
    assert middle_of_small == sorted(middle_of_small, reverse=True)
    # FP8 is never twice the speed of 16 bit (NVIDIA, torchtitan, Mosaic tables: 1.1 to 1.6)
    for size in ("", "_large"):
        bf16 = mfu_percents(reference, f"dense_hopper{size}")[1]
        assert 1.1 <= mfu_percents(reference, f"dense_hopper_fp8{size}")[1] / bf16 <= 1.6


PUBLISHED_SHAPES = {
    # name of the run: row of the short form, layers, heads × head width, sequence length
    "llama1-7b": ("dense_a100", 32, 4096, 2048),
    "llama2-7b": ("dense_a100", 32, 4096, 4096),
    "llama2-70b": ("dense_a100_large", 80, 8192, 4096),
    "llama3-8b": ("dense_hopper", 32, 4096, 8192),
    "llama3-70b": ("dense_hopper_large", 80, 8192, 8192),
    "llama3.1-405b": ("dense_hopper_large", 126, 16384, 8192),
    "smollm2-135m": ("dense_hopper_small", 30, 576, 2048),
    "smollm2-1.7b": ("dense_hopper", 24, 2048, 2048),
    "mpt-7b": ("dense_a100", 32, 4096, 2048),
    "gpt-neox-20b": ("dense_a100_large", 44, 6144, 2048),
    "bloomberggpt-50b": ("dense_a100_large", 70, 7680, 2048),
    "mgpt-1.3b": ("dense_volta_turing", 24, 2048, 512),
    "olmoe-1b-7b": ("moe_hopper", 16, 2048, 4096),
    "deepseek-v3-671b": ("moe_hopper_fp8", 61, 128 * 128, 4096),
}


@pytest.mark.parametrize("run", PUBLISHED_SHAPES)
def test_d4_the_short_form_contains_what_published_runs_have_cost(
    reference: Reference, run: str
) -> None:
    short_form, n_layers, width, seq_len = PUBLISHED_SHAPES[run]
    row = reference.row("published_runs", run)
    params = row.number("params_active") or row.required_number("params_total")
    flops = (6 * params + 12 * n_layers * width * seq_len) * row.required_number("train_tokens")
    device = reference.find_accelerators(row.required("gpu"))[0]
    peak_tflops = device.peak_bf16_tflops or device.peak_fp16_tflops
    assert peak_tflops is not None
    factor = reference.row("short_form", short_form).required_number("overhead_factor")
    high, _, low = (
        flops / (percent / 100 * peak_tflops * 1e12 * 3600) * factor
        for percent in mfu_percents(reference, short_form)
    )
    assert low <= row.required_number("gpu_hours") <= high


def test_d4_no_run_is_faster_than_its_device(reference: Reference) -> None:
    for row in reference.rows("published_runs").values():
        tokens = row.number("train_tokens")
        if tokens is None:
            continue
        params = row.number("params_active") or row.required_number("params_total")
        device = reference.find_accelerators(row.required("gpu"))[0]
        peak = (
            device.peak_fp8_tflops or device.peak_bf16_tflops or device.peak_fp16_tflops or 0
        ) * 1e12
        assert 6 * params * tokens < row.required_number("gpu_hours") * 3600 * peak, row.place(
            "gpu_hours"
        )


def test_d5_one_smoke_rule_with_its_numbers_in_one_table(reference: Reference) -> None:
    names = list(reference.rows("smoke_rules"))
    assert {name: reference.value(name) for name in names} == {
        "smoke_max_minutes": 30,
        "smoke_min_minutes": 10,
        "smoke_max_share_percent": 5,
        "smoke_target_share_percent": 1,
        "smoke_min_steps": 100,
        "smoke_startup_flag_percent": 50,
    }
    prose = [line for line in section("Smoke test").splitlines() if line[:1] not in ("|", "T")]
    without_ordinals = re.sub(r"(?m)^\d\. ", "", "\n".join(prose))
    assert re.findall(r"\d+", without_ordinals) == []
    order = re.findall(r"(?m)^\d\. .*?`(\w+)`", section("Smoke test"))
    assert order == [
        "smoke_max_minutes",
        "smoke_max_share_percent",
        "smoke_min_steps",
        "smoke_min_minutes",
        "smoke_target_share_percent",
    ]
    step = joined(SKILL.split("## Step 3", 1)[1].split("## Step 4", 1)[0])
    rule = (
        "At most 5 % of the full compute, ideally 1 to 2 %; one GPU; 10 to 30 minutes; "
        "max(100, 1 % of the steps) to start from"
    )
    assert rule in step


def test_d6_steps_are_counted_as_the_framework_does() -> None:
    ledger = joined(section("Steps ledger"))
    for part in (
        "accumulation × `dp`",
        "Packed: total tokens / sequence length, rounded up",
        "down when the last incomplete batch is dropped",
        "Hugging Face Trainer",
        "Lightning",
        "Megatron",
        "GRPO",
        "`max_steps` is set, which wins",
    ):
        assert part in ledger


def test_d7_seeds_trials_evaluation_and_baselines_are_multipliers() -> None:
    overheads = joined(section("Overheads"))
    assert (
        "seeds, tuning trials, evaluation of baselines, reproduction of the baselines" in overheads
    )
    assert "reruns after failures" in overheads
    ablations = joined(section("Ablations"))
    assert "one model × one data set × one seed is the atom" in ablations
    assert "Multiplier = one seed of the variant / one seed of the baseline" in ablations
    assert "multiplier × GPU-hours of one baseline seed × seeds" in ablations
    for priority in ("**required**", "**should-have**", "**optional**"):
        assert priority in ablations


def test_d8_overheads_margins_rounding_and_segments_are_there(reference: Reference) -> None:
    for name in ("startup_minutes", "eval_sample_cost", "checkpoint_bytes_full"):
        assert reference.value(name) > 0
    for name in ("limit_save_margin_minutes", "walltime_margin_percent", "walltime_round_minutes"):
        assert reference.value(name) > 0
    limits = joined(section("Compute limits and chained jobs"))
    assert "limit − set-up − `limit_save_margin_minutes`" in limits
    assert "training time / usable time, rounded up" in limits
    # the worked example at the high end of its range needs the two jobs the text names
    used = reference.value("segment_setup_minutes") + reference.value("limit_save_margin_minutes")
    assert math.ceil(three("wall-clock hours")[2] / (24 - used / 60)) == 2
    assert "a chain of two jobs" in joined(section("Worked example"))


def test_d9_faster_hardware_shows_gpu_hours_and_wall_clock() -> None:
    text = joined(section("Cheaper alternatives"))
    found = re.search(
        r"One A100 for four V100 at r = ([\d.]+): GPU-hours × ([\d.]+), wall-clock × ([\d.]+)\.",
        text,
    )
    assert found is not None
    ratio, gpu_hours, wall_clock = map(float, found.groups())
    assert gpu_hours == pytest.approx(1 / ratio, abs=0.005)
    assert wall_clock == pytest.approx(4 / ratio, abs=0.005)


def test_d10_the_pass_criterion_follows_the_task() -> None:
    text = joined(section("Smoke test"))
    assert "From scratch: the first losses lie near ln(classes) or ln(vocabulary)" in text
    assert "Fine-tuning that starts near its floor: the loss does not rise beyond its noise" in text
    assert "A checkpoint is saved and training resumes from it" in text
    assert "no rise beyond noise when fine-tuning starts near its floor" in joined(SKILL)


def test_d11_fewer_steps_need_their_schedule_stretched() -> None:
    rows = [line for line in section("Cheaper alternatives").splitlines() if line.startswith("| ")]
    (fewer,) = [row for row in rows if row.startswith("| fewer steps")]
    assert "re-stretch warm-up and decay" in fewer.split("|")[4]
    six = {
        "smaller model",
        "shorter sequence",
        "smaller image",
        "fewer steps",
        "less data",
        "adapters instead of full training",
        "faster hardware",
    }
    assert six <= {row.split("|")[1].strip() for row in rows}
    assert "Fewer steps need the learning-rate schedule stretched anew." in joined(SKILL)


def test_d12_the_ignored_folder_is_announced() -> None:
    for text in (joined(section("Gotchas")), joined(SKILL)):
        assert "`.agent/`" in text
        assert "ignored by git" in text
        assert "`git add -f`" in text


def test_bf16_is_not_offered_where_it_is_emulated(reference: Reference) -> None:
    for accelerator in reference.accelerators.values():
        if accelerator.generation == "volta-turing":
            assert accelerator.peak_bf16_tflops is None, accelerator.name


def test_every_price_has_a_date_and_a_provider(reference: Reference) -> None:
    for row in reference.rows("accelerator_price").values():
        priced = row.number("usd_per_gpu_hour") is not None
        assert bool(re.fullmatch(r"\d{4}-\d{2}(-\d{2})?", row.text("price_date"))) == priced
        assert bool(row.text("price_source")) == priced


def test_each_quantity_stands_in_one_table(reference: Reference) -> None:
    names = [
        name
        for rows in reference.tables.values()
        for name, row in rows.items()
        if {"low", "expected", "high", "unit"} <= row.cells.keys()
    ]
    assert len(names) == len(set(names))


def test_all_accelerators_are_whole(reference: Reference) -> None:
    assert len(reference.accelerators) == 103
    for table in ("accelerator_names", "accelerator_compute", "accelerator_memory"):
        assert list(reference.rows(table)) == list(reference.accelerators)
    assert list(reference.rows("accelerator_price")) == list(reference.accelerators)
    # NVIDIA A100 data sheet: dense 16-bit tensor rate; nvidia-smi: 81920 MiB
    a100 = reference.accelerators["A100-SXM-80GB"]
    assert (a100.peak_bf16_tflops, a100.memory_gib, a100.intra_node_gb_s) == (312, 80, 300)
    # NVIDIA H100 data sheet prints 1,979 TFLOPS with sparsity: half is dense
    assert reference.accelerators["H100-SXM-80GB"].peak_bf16_tflops == pytest.approx(
        1979 / 2, rel=1e-3
    )
    assert reference.accelerators["H100-SXM-80GB"].memory_gib == 79.6
    assert reference.accelerators["L40S"].memory_gib == 45
    assert [a.name for a in reference.find_accelerators("NVIDIA A100-SXM4-80GB")] == [
        "A100-SXM-80GB"
    ]
    assert [a.name for a in reference.find_accelerators("a100")] == [
        "A100-PCIe-40GB",
        "A100-PCIe-80GB",
        "A100-SXM-40GB",
        "A100-SXM-80GB",
    ]
