import json

from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.hf_results import READER
from file_facts import problem_texts, reading_of, values


def measured(**metrics: object) -> dict[str, object]:
    return values(reading_of(READER, "train_results.json", json.dumps(metrics)).measured)


def test_rates_that_leave_one_step_count_give_the_steps():
    # 976 s × (0.1725 … 0.1735) holds 169 alone.
    facts = measured(
        epoch=3.0,
        train_runtime=976.0,
        train_samples_per_second=5.531,
        train_steps_per_second=0.173,
    )
    assert facts == {
        "wall_clock_hours": 976 / 3600,
        "samples_per_second": 5.531,
        "epochs": 3,
        "steps_done": 169,
        "step_seconds": 976 / 169,
    }


def test_a_long_run_s_steps_come_from_whole_epochs_of_its_data():
    # The rounded rate alone allows 215 310 … 215 364; three epochs of ⌈287 113 / 4⌉ is 215 337.
    facts = measured(
        epoch=3.0,
        train_runtime=54713.2,
        train_samples=287113,
        train_samples_per_second=15.743,
        train_steps_per_second=3.936,
    )
    assert facts["steps_done"] == 215337
    assert facts["dataset_examples"] == 287113


def test_ambiguous_rates_give_a_step_time_but_no_steps():
    # 6000 steps in 52 040 s are 8.67 s each; the rounded rate says 8.70 and 5960 … 6010 steps.
    facts = measured(
        epoch=11.0,
        train_runtime=52040.1,
        train_samples_per_second=3.689,
        train_steps_per_second=0.115,
    )
    assert "steps_done" not in facts
    assert facts["step_seconds"] == 1 / 0.115


def test_a_rate_of_a_few_thousandths_is_no_step_time():
    text = json.dumps({"train_runtime": 50000.0, "train_steps_per_second": 0.009})
    reading = reading_of(READER, "all_results.json", text)
    assert values(reading.measured) == {"wall_clock_hours": 50000 / 3600}
    assert "too coarsely" in problem_texts(reading)[0]


def test_no_global_batch_is_made_up_from_epochs_with_a_partial_last_step():
    # 848 examples × 5 epochs over 65 steps are 65.2 per step; the real batch was another.
    facts = measured(
        epoch=4.91,
        train_runtime=61.5304,
        train_samples_per_second=68.909,
        train_steps_per_second=1.056,
    )
    assert facts == {
        "wall_clock_hours": 61.5304 / 3600,
        "samples_per_second": 68.909,
        "steps_done": 65,
        "step_seconds": 61.5304 / 65,
    }


def test_gpu_memory_adds_what_was_held_before_to_the_growth():
    facts = measured(
        train_runtime=100.0,
        train_samples_per_second=10.0,
        before_init_mem_gpu=0,
        init_mem_gpu_alloc_delta=2**30,
        train_mem_gpu_alloc_delta=2 * 2**30,
        train_mem_gpu_peaked_delta=3 * 2**30,
    )
    assert facts["peak_memory_gib"] == 6.0


def test_host_memory_is_never_gpu_memory():
    facts = measured(
        train_runtime=100.0, train_samples_per_second=10.0, train_mem_cpu_peaked_delta=2**33
    )
    assert "peak_memory_gib" not in facts


def test_fractional_epochs_and_notes_are_passed_over():
    facts = measured(
        epoch=38.17, train_runtime=100.0, train_samples_per_second=3.2, note="双卡4090"
    )
    assert facts == {"wall_clock_hours": 100 / 3600, "samples_per_second": 3.2}


def test_a_results_file_is_of_a_finished_run():
    text = '{"train_runtime": 10.0, "train_steps_per_second": 2.0}'
    assert reading_of(READER, "train_results.json", text).finished is True


def test_look_alikes_without_a_run_time_are_not_taken():
    for text in ('{"train_loss": 0.1}', '{"train_runtime": 5}', '{"eval_runtime": 5.0}', "{"):
        assert not READER.matches(SourceFile("all_results.json", text))


def test_the_loss_of_the_last_evaluation_is_a_point_and_the_mean_training_loss_is_none():
    metrics = {"epoch": 3.0, "train_runtime": 976.0, "train_steps_per_second": 0.173}
    text = json.dumps(metrics | {"train_loss": 0.5, "eval_loss": 0.75})
    (series,) = reading_of(READER, "all_results.json", text).losses
    assert (series.name, series.steps, series.values) == ("validation", (3,), (0.75,))
    assert series.unit == "epochs"
