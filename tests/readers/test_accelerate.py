from compute_budget_planner.readers.accelerate import READER
from compute_budget_planner.readers.contract import SourceFile
from file_facts import problem_texts, reading_of, values


def test_processes_count_all_machines_together():
    text = """\
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: bf16
num_machines: 2
num_processes: 16
"""
    reading = reading_of(READER, "accelerate.yaml", text)
    assert values(reading.facts) == {
        "n_gpus": 16,
        "n_nodes": 2,
        "precision": "bf16",
        "sharding": "ddp",
    }
    assert {f.name: f.source for f in reading.facts}["n_gpus"] == "accelerate.yaml:5"


def test_fsdp_settings_give_sharding_checkpointing_and_offload():
    text = """\
distributed_type: FSDP
fsdp_config:
  fsdp_sharding_strategy: FULL_SHARD
  fsdp_activation_checkpointing: true
  fsdp_offload_params: true
mixed_precision: bf16
num_machines: 1
num_processes: 4
"""
    assert values(reading_of(READER, "a.yaml", text).facts) == {
        "n_gpus": 4,
        "n_nodes": 1,
        "precision": "bf16",
        "sharding": "fsdp",
        "activation_checkpointing": "full",
        "offload": "parameters",
    }


def test_the_second_fsdp_has_no_strategy_but_says_whether_it_reshards():
    text = "distributed_type: FSDP\nnum_processes: 4\nfsdp_config:\n  fsdp_version: 2\n"
    assert values(reading_of(READER, "a.yaml", text).facts)["sharding"] == "fsdp"
    kept = text + "  fsdp_reshard_after_forward: false\n"
    assert values(reading_of(READER, "a.yaml", kept).facts)["sharding"] == "zero2"


def test_strategies_may_be_numbers():
    text = "distributed_type: FSDP\nnum_processes: 4\nfsdp_config:\n  fsdp_sharding_strategy: 2\n"
    assert values(reading_of(READER, "a.yaml", text).facts)["sharding"] == "zero2"


def test_deepspeed_settings_are_read_and_missing_processes_are_normal():
    text = """\
distributed_type: DEEPSPEED
deepspeed_config:
  zero_stage: 3
  gradient_accumulation_steps: auto
  offload_optimizer_device: none
  deepspeed_config_file: configs/zero3.json
mixed_precision: bf16
"""
    reading = reading_of(READER, "a.yaml", text)
    assert values(reading.facts) == {"precision": "bf16", "sharding": "zero3"}
    assert [(r.path, r.role) for r in reading.references] == [("configs/zero3.json", "deepspeed")]
    assert problem_texts(reading) == []


def test_no_mixed_precision_is_fp32_with_or_without_quotes():
    for word in ("no", "'no'"):
        text = f"distributed_type: 'NO'\nnum_processes: 1\nmixed_precision: {word}\n"
        assert values(reading_of(READER, "a.yaml", text).facts) == {
            "n_gpus": 1,
            "precision": "fp32",
            "sharding": "none",
        }


def test_processes_on_the_cpu_are_no_gpus():
    text = "distributed_type: MULTI_CPU\nnum_processes: 8\nuse_cpu: true\n"
    assert values(reading_of(READER, "a.yaml", text).facts) == {}


def test_other_mappings_are_not_accelerate_s():
    for text in ("num_processes: 8\n", "distributed_type: MULTI_GPU\n", "distributed_type: ["):
        assert not READER.matches(SourceFile("a.yaml", text))
