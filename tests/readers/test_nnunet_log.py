from compute_budget_planner.readers.nnunet_log import READER
from file_facts import problem_texts, reading_of, values

HEAD = (
    "Please cite nnU-Net\nThis is the configuration used by this training:\n"
    " {'batch_size': 12, 'patch_size': [256, 320], 'spacing': [1.0, 1.0]}\n"
    "2026-01-05 1:00:00.1: This split has 40 training and 10 validation cases.\n"
)


def epochs(*seconds):
    return "".join(
        f"2026-01-05 1:00:00.1: Epoch {n}\n2026-01-05 1:00:00.2: Pseudo dice [np.float32(0.9)]\n"
        f"2026-01-05 1:00:00.3: Epoch time: {s} s\n"
        for n, s in enumerate(seconds)
    )


def test_an_epoch_is_250_steps_whatever_the_data_and_compiling_is_left_out():
    text = HEAD + epochs(350.0, *[100.0] * 9) + "2026-01-05 2:00:00.1: Training done.\n"
    found = reading_of(READER, "log.txt", text)
    assert values(found.measured) == {
        "framework": "nnu-net",
        "micro_batch_size": 12,
        "image_size": 320,
        "dataset_examples": 40,
        "steps_done": 2500,
        "step_seconds": 0.4,
        "epochs": 10.0,
    }
    assert found.finished is True


def test_a_log_cut_off_in_a_line_counts_its_whole_epochs_and_says_so():
    text = HEAD + epochs(100.0, 100.0) + "2026-01-05 2:00:00.1: Epoch 2\n2026-01-05 2:0"
    found = reading_of(READER, "log.txt", text)
    assert values(found.measured)["steps_done"] == 500
    assert "epochs" not in values(found.measured)
    assert problem_texts(found)[-1] == "log.txt:10: the log ends before the training does"
