import json

from compute_budget_planner.readers.contract import Basis, SourceFile
from compute_budget_planner.readers.trainer_state import READER
from file_facts import of_basis, problem_texts, reading_of, values

LOGS = [{"epoch": 1.0, "loss": 2.1, "step": 100}, {"epoch": 2.0, "eval_runtime": 30.5, "step": 200}]
END = {
    "epoch": 3.0,
    "step": 300,
    "total_flos": 0.0,
    "train_runtime": 1440.0,
    "train_samples_per_second": 1.667,
    "train_steps_per_second": 0.208,
}


def state(**changes: object) -> str:
    whole = {
        "epoch": 3.0,
        "eval_steps": 500,
        "global_step": 300,
        "log_history": [*LOGS, END],
        "max_steps": 300,
        "num_train_epochs": 3,
        "save_steps": 500,
        "train_batch_size": 8,
    }
    return json.dumps(whole | changes, indent=1)


def test_a_finished_run_gives_steps_duration_and_step_time_from_the_wall():
    reading = reading_of(READER, "out/trainer_state.json", state())
    assert reading.finished is True
    assert reading.kind == "log"
    assert reading.facts == ()
    assert of_basis(reading.measured, Basis.MEASURED) == {
        "steps_done": 300,
        "max_steps": 300,
        "micro_batch_size": 8,
        "epochs": 3,
        "wall_clock_hours": 0.4,
        "step_seconds": 4.8,
        "samples_per_second": 1.667,
    }
    assert problem_texts(reading) == []


def test_an_unfinished_run_says_so_and_evaluation_time_is_not_training_time():
    text = state(global_step=200, epoch=2.0, log_history=LOGS)
    reading = reading_of(READER, "trainer_state.json", text)
    assert reading.finished is False
    assert values(reading.measured) == {
        "steps_done": 200,
        "max_steps": 300,
        "micro_batch_size": 8,
        "epochs": 3,
    }
    assert "not finished (step 200 of 300)" in problem_texts(reading)[0]


def test_stopped_early_the_step_time_counts_the_steps_made():
    text = state(global_step=150, epoch=1.5)
    assert values(reading_of(READER, "s.json", text).measured)["step_seconds"] == 9.6


def test_the_losses_of_the_history_are_curves():
    text = state(log_history=[*LOGS, {"eval_loss": 2.5, "step": 200}, END])
    train, validation = reading_of(READER, "s.json", text).losses
    assert (train.name, train.steps, train.values) == ("train", (100,), (2.1,))
    assert (validation.name, validation.steps, validation.values) == ("validation", (200,), (2.5,))


def test_the_sessions_of_a_run_that_was_continued_are_added():
    text = state(log_history=[END | {"step": 150, "train_runtime": 720.0}, *LOGS, END])
    reading = reading_of(READER, "s.json", text)
    measured = values(reading.measured)
    assert (measured["wall_clock_hours"], measured["step_seconds"]) == (0.6, 7.2)
    assert "samples_per_second" not in measured
    assert "2 sessions; their times are added" in problem_texts(reading)[0]


def test_a_resumed_run_whose_evaluations_outlast_its_session_has_no_speed():
    evaluations = [{"eval_runtime": 200.0, "step": 20 * n} for n in range(1, 15)]
    reading = reading_of(READER, "s.json", state(log_history=[*evaluations, END]))
    assert not {"wall_clock_hours", "step_seconds"} & set(values(reading.measured))
    assert "the run was resumed" in problem_texts(reading)[0]
    assert reading.finished is True


def test_epochs_of_a_run_by_steps_are_rounded_up_and_left_out():
    text = state(num_train_epochs=39, epoch=38.17)
    assert "epochs" not in values(reading_of(READER, "s.json", text).measured)


def test_tokens_seen_are_the_training_tokens():
    text = state(num_input_tokens_seen=2_457_600)
    assert values(reading_of(READER, "s.json", text).measured)["train_tokens"] == 2_457_600
    unset = state(num_input_tokens_seen=0)
    assert "train_tokens" not in values(reading_of(READER, "s.json", unset).measured)


def test_rates_too_small_for_three_decimals_are_left_out():
    text = state(log_history=[END | {"train_samples_per_second": 0.009}])
    assert "samples_per_second" not in values(reading_of(READER, "s.json", text).measured)


def test_odd_values_in_a_state_are_passed_over():
    for odd in (None, "x", [], {}, True, -5):
        text = state(global_step=odd, epoch=odd, max_steps=odd, log_history=[END, odd])
        reading = reading_of(READER, "s.json", text)
        assert reading.finished is False
        assert "steps_done" not in values(reading.measured)


def test_other_mappings_are_no_state():
    for text in ('{"log_history": []}', '{"global_step": 3}', '{"global_step": '):
        assert not READER.matches(SourceFile("trainer_state.json", text))
