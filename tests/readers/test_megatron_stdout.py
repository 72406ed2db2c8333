import pytest
from compute_budget_planner.guide.shipped import load_reference
from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.megatron_stdout import READER
from file_facts import problem_texts, reading_of, values

ARGUMENTS = """\
using world size: 16, data-parallel-size: 2, tensor-model-parallel size: 4, pipeline 2
------------------------ arguments ------------------------
  bf16 ............................................ True
  checkpoint_activations .......................... True
  data_path ....................................... ['/scratch/someone/corpus_text_document']
  ffn_hidden_size ................................. 16384
  fp16 ............................................ False
  hidden_size ..................................... 4096
  lr .............................................. 0.0003
  max_position_embeddings ......................... 4096
  micro_batch_size ................................ 2
  num_attention_heads ............................. 32
  num_layers ...................................... 24
  optimizer ....................................... adam
  pipeline_model_parallel_size .................... 2
  seq_length ...................................... 2048
  tensor_model_parallel_size ...................... 4
  train_samples ................................... None
  world_size ...................................... 16
-------------------- end of arguments ---------------------
"""


def iteration(done: int, seconds: float, *, total: int = 500, unit: str = "ms") -> str:
    time = seconds * 1000 if unit == "ms" else seconds
    return (
        f" iteration {done:8d}/{total:8d} | consumed samples: {done * 32:12d} | elapsed time per "
        f"iteration ({unit}): {time:.1f} | learning rate: 3.000E-04 | global batch size:    32 | "
        f"lm loss: {10 - done / 100:.6E} | number of skipped iterations:   0 |\n"
    )


def test_arguments_pace_and_losses_are_read():
    text = ARGUMENTS + "".join(iteration(n, 90.0 if n == 1 else 4.0) for n in range(1, 101))
    text += " validation loss at iteration 100 | lm loss value: 8.500000E+00 | lm loss PPL: 1 |\n"
    reading = reading_of(READER, "logs/train.out", text)
    assert values(reading.measured) == {
        "n_gpus": 16,
        "steps_done": 100,
        "max_steps": 500,
        "global_batch_size": 32,
        "samples_per_second": 8.0,
        "grad_accum_steps": 8,
        "step_seconds": 4.0,
        "precision": "bf16",
        "activation_checkpointing": "full",
        "d_ff": 16384,
        "d_model": 4096,
        "learning_rate": 0.0003,
        "micro_batch_size": 2,
        "n_heads": 32,
        "n_layers": 24,
        "optimizer": "adam",
        "pp": 2,
        "seq_len": 2048,
        "tp": 4,
    }
    assert reading.finished is False
    train, validation = reading.losses
    assert (train.steps[0], train.steps[-1], train.values[0]) == (1, 100, 9.99)
    assert (validation.steps, validation.values) == ((100,), (8.5,))
    assert reading.notes["timed_steps"] == 90


def test_older_versions_print_seconds():
    text = "".join(iteration(n, 5.0, unit="s") for n in range(1, 31))
    assert values(reading_of(READER, "a.out", text).measured)["step_seconds"] == 5.0


def test_tensor_and_pipeline_ranks_do_not_multiply_the_batch():
    text = ARGUMENTS + "".join(iteration(n, 4.0) for n in range(1, 41))
    facts = values(reading_of(READER, "a.out", text).measured)
    # 16 ranks hold 2 copies: 32 samples are 2 × 2 samples × 8 passes.
    assert facts["grad_accum_steps"] == 8


def test_three_iterations_of_minutes_tell_the_pace_without_the_first():
    text = "".join(iteration(n, s) for n, s in ((1, 155.5), (2, 129.1), (3, 128.9)))
    reading = reading_of(READER, "a.out", text)
    assert values(reading.measured)["step_seconds"] == pytest.approx(129.0)


def test_a_few_quick_iterations_give_no_pace_but_a_problem():
    reading = reading_of(READER, "a.out", "".join(iteration(n, 1.0) for n in range(1, 6)))
    assert "step_seconds" not in values(reading.measured)
    assert problem_texts(reading) == [
        (
            "a.out:5: only 4 steps in 4 s are timed after the warm-up: too little for a step time; "
            "state `step_seconds`"
        )
    ]


def test_memory_is_that_of_the_fullest_rank_with_its_kind():
    memory = (
        "[Rank {}] (after 10 iterations) memory (MB) | allocated: 100.0 | max allocated: {} "
        "| reserved: 1.0 | max reserved: {}\n"
    )
    text = iteration(1, 9) + memory.format(0, 10240.0, 20480.0) + memory.format(1, 11264.0, 15360.0)
    reading = reading_of(READER, "a.out", text)
    assert values(reading.measured)["peak_memory_gib"] == 20.0
    assert reading.notes["peak_memory_kind"] == "reserved"
    assert reading.notes["peak_memory_allocated_gib"] == 11.0


def test_a_finished_run_says_so_and_a_frame_gives_the_duration():
    text = "Job name: big\nStart: Mon Dec  1 10:00:00 UTC 2025\n"
    text += "".join(iteration(n, 4.0, total=60) for n in range(1, 61))
    assert reading_of(READER, "a.out", text.partition("UTC 2025\n")[2]).finished is True
    framed = reading_of(READER, "a.out", text + "End: Mon Dec  1 12:00:00 UTC 2025\nExit: 0\n")
    assert (framed.finished, framed.job_name) == (True, "big")
    assert values(framed.measured)["wall_clock_hours"] == 2.0


def test_lines_of_a_sampled_log_have_no_number():
    text = "".join(iteration(n, 4.0) for n in range(1, 61))
    file = SourceFile("a.out", text, sampled=True)
    reading = READER.read(file, load_reference())
    assert {fact.source for fact in reading.measured} == {"a.out"}
