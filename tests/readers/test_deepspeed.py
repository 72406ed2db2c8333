from compute_budget_planner.readers.contract import SourceFile
from compute_budget_planner.readers.deepspeed import READER
from file_facts import problem_texts, reading_of, values


def test_batch_stage_offload_and_precision_are_read():
    text = """\
{
  "train_batch_size": 512,
  "train_micro_batch_size_per_gpu": 4,
  "gradient_accumulation_steps": 8,
  "gradient_clipping": 1.0,
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3,
    "sub_group_size": 1e9,
    "offload_optimizer": {"device": "cpu", "pin_memory": true}
  },
  "optimizer": {"type": "AdamW", "params": {"lr": 3e-5}}
}
"""
    reading = reading_of(READER, "ds.json", text)
    assert values(reading.facts) == {
        "global_batch_size": 512,
        "micro_batch_size": 4,
        "grad_accum_steps": 8,
        "sharding": "zero3",
        "offload": "optimizer",
        "precision": "bf16",
        "optimizer": "adamw",
        "learning_rate": 3e-5,
    }
    assert {f.name: f.source for f in reading.facts}["sharding"] == "ds.json:8"
    assert problem_texts(reading) == []


def test_auto_decides_nothing():
    text = """\
{
  "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": "auto", "bf16": {"enabled": "auto"},
  "optimizer": {"type": "AdamW", "params": {"lr": "auto"}},
  "zero_optimization": {"stage": 2}
}
"""
    reading = reading_of(READER, "ds.json", text)
    assert values(reading.facts) == {"sharding": "zero2", "optimizer": "adamw"}
    assert problem_texts(reading) == []


def test_offload_to_a_device_called_none_is_no_offload():
    text = (
        '{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "none"},'
        ' "offload_param": {"device": "none"}}}'
    )
    assert values(reading_of(READER, "ds.json", text).facts) == {"sharding": "zero3"}


def test_offloaded_weights_take_the_optimizer_along():
    text = (
        '{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"},'
        ' "offload_param": {"device": "nvme"}}, "fp16": {"enabled": true}}'
    )
    assert values(reading_of(READER, "ds.json", text).facts) == {
        "sharding": "zero3",
        "offload": "parameters",
        "precision": "fp16",
    }


def test_stage_zero_is_plain_data_parallel_and_a_stage_that_is_none_is_told():
    assert values(reading_of(READER, "d.json", '{"zero_optimization": {"stage": 0}}').facts) == {
        "sharding": "ddp"
    }
    odd = reading_of(READER, "d.json", '{"zero_optimization": {"stage": 7}}')
    assert odd.facts == ()
    assert problem_texts(odd)[0].startswith("d.json:1: `sharding` is '7'")


def test_a_batch_size_alone_or_a_gpt_neox_file_is_not_deepspeed():
    for text in (
        '{"train_batch_size": 32, "fp16": true}',
        '{"train_micro_batch_size_per_gpu": 4, "num-layers": 12}',
        '{"zero_optimization": ',
    ):
        assert not READER.matches(SourceFile("a.json", text))
