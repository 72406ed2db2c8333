import pytest
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.log_text import READER
from file_facts import problem_texts, reading_of, values

ASKED = "the steps of these lines are taken as optimizer steps"


def lines(form: str, last: int = 600, every: int = 10) -> str:
    return "\n".join(
        form.format(n=n, loss=5 - n / 1000, minute=n // 60 % 60, second=n % 60)
        for n in range(every, last + 1, every)
    )


@pytest.mark.parametrize(
    "form",
    [
        "step {n}/5000 | loss {loss:.3f} | 412.0 ms/step",
        "Iter: {n} of 5000, train_loss: {loss:.3f}, 0.412 s/it",
        "[global_step {n}/5000] loss={loss:.3f} lr=1e-4 step_time: 412ms",
    ],
)
def test_a_time_that_says_it_is_per_step_is_the_step_time(form: str):
    reading = reading_of(READER, "train.log", lines(form))
    assert values(reading.measured) == {
        "steps_done": 600,
        "max_steps": 5000,
        "step_seconds": pytest.approx(0.412),
    }
    assert (reading.finished, len(reading.losses[0].steps)) == (False, 60)
    assert ASKED in problem_texts(reading)[0]


def test_dates_at_the_start_of_the_lines_are_a_clock():
    text = lines("2025-01-01 10:{minute:02d}:{second:02d},123 INFO step {n} loss {loss:.3f}")
    reading = reading_of(READER, "train.log", text)
    assert values(reading.measured) == {"steps_done": 600, "step_seconds": 1.0}


def test_a_time_for_an_unknown_number_of_steps_is_asked_about():
    reading = reading_of(READER, "train.log", lines("step {n} loss {loss:.3f} time: 4.1s"))
    assert values(reading.measured) == {"steps_done": 600}
    assert "not of how many steps; state `step_seconds`" in problem_texts(reading)[0]
    each = lines("step {n} loss {loss:.3f} time: 4.1s", last=60, every=1)
    assert values(reading_of(READER, "train.log", each).measured)["step_seconds"] == 4.1


def test_validation_losses_make_a_curve_of_their_own():
    text = lines("step {n} loss {loss:.3f} val_loss {loss:.3f} 10ms/step", last=400)
    train, validation = reading_of(READER, "train.log", text).losses
    assert (train.name, validation.name) == ("train", "validation")
    assert train.steps == validation.steps


def test_prose_about_steps_and_losses_is_no_log():
    text = "In step 1 we lower the loss by 3.\nStep two is the loss of generality.\nstep 3: done.\n"
    assert not READER.matches(SourceFile("notes.txt", text))
