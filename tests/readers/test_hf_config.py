"""A model's config.json: every spelling, the class defaults, and what is refused."""

import json

import pytest
from compute_budget_planner.errors import FormatError
from compute_budget_planner.guide.reference import build_reference
from compute_budget_planner.readers.contract import Problem, Reading, SourceFile
from compute_budget_planner.readers.hf_config import READER
from compute_budget_planner.workload.facts import Basis, Fact, Layer
from hypothesis import given
from hypothesis import strategies as st

REFERENCE = build_reference([])


def as_file(config: dict, path: str = "models/config.json") -> SourceFile:
    return SourceFile(path, json.dumps(config, indent=2))


def read(config: dict) -> Reading:
    file = as_file(config)
    assert READER.matches(file)
    return READER.read(file, REFERENCE)


def values(reading: Reading) -> dict:
    return {fact.name: fact.value for fact in reading.facts}


LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 8192,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "vocab_size": 50257}
MIXTRAL = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "sliding_window": None,
    "vocab_size": 32000,
}
QWEN3_MOE = {
    "model_type": "qwen3_moe",
    "decoder_sparse_step": 1,
    "head_dim": 128,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "mlp_only_layers": [],
    "moe_intermediate_size": 768,
    "num_attention_heads": 32,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 48,
    "num_key_value_heads": 4,
    "sliding_window": None,
    "use_sliding_window": False,
    "vocab_size": 151936,
}
DEEPSEEK_V3 = {
    "model_type": "deepseek_v3",
    "attention_bias": False,
    "first_k_dense_replace": 3,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "moe_intermediate_size": 2048,
    "moe_layer_freq": 1,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "topk_group": 4,
    "v_head_dim": 128,
    "vocab_size": 129280,
}
GPT_OSS = {
    "model_type": "gpt_oss",
    "attention_bias": True,
    "experts_per_token": 4,
    "head_dim": 64,
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "num_attention_heads": 64,
    "num_hidden_layers": 24,
    "num_key_value_heads": 8,
    "num_local_experts": 32,
    "sliding_window": 128,
    "vocab_size": 201088,
}
BERT = {
    "model_type": "bert",
    "architectures": ["BertForMaskedLM"],
    "hidden_size": 768,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "pooler_num_fc_layers": 3,
    "type_vocab_size": 2,
    "vocab_size": 30522,
}
VIT = {
    "model_type": "vit",
    "architectures": ["ViTForImageClassification"],
    "hidden_size": 768,
    "id2label": {str(i): f"class {i}" for i in range(1000)},
    "image_size": 224,
    "intermediate_size": 3072,
    "num_attention_heads": 12,
    "num_channels": 3,
    "num_hidden_layers": 12,
    "patch_size": 16,
    "qkv_bias": True,
}
OPT = {
    "model_type": "opt",
    "ffn_dim": 3072,
    "hidden_size": 768,
    "max_position_embeddings": 2048,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "vocab_size": 50272,
    "word_embed_proj_dim": 768,
}
FALCON = {
    "model_type": "falcon",
    "bias": False,
    "hidden_size": 4544,
    "multi_query": True,
    "new_decoder_architecture": False,
    "num_attention_heads": 71,
    "num_hidden_layers": 32,
    "num_kv_heads": 71,
    "parallel_attn": True,
    "vocab_size": 65024,
}
GEMMA3 = {
    "model_type": "gemma3_text",
    "head_dim": 256,
    "hidden_size": 1152,
    "intermediate_size": 6912,
    "num_attention_heads": 4,
    "num_hidden_layers": 26,
    "num_key_value_heads": 1,
    "sliding_window": 512,
    "sliding_window_pattern": 6,
    "vocab_size": 262144,
}
DBRX = {
    "model_type": "dbrx",
    "attn_config": {"kv_n_heads": 8},
    "d_model": 6144,
    "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
    "n_heads": 48,
    "n_layers": 40,
    "vocab_size": 100352,
}


def test_a_llama_is_read_with_the_line_of_every_key():
    def configured(name, value, line):
        source = f"models/config.json:{line}"
        return Fact(name, value, Basis.CONFIGURED, source, Layer.MODEL_CONFIG)

    reading = read(LLAMA)
    assert (reading.path, reading.format, reading.kind, reading.problems) == (
        "models/config.json",
        "hf_model_config",
        "model_config",
        (),
    )
    assert set(reading.facts) == {
        configured("model_family", "llama", 9),
        configured("n_layers", 32, 11),
        configured("d_model", 4096, 6),
        configured("n_heads", 32, 10),
        configured("n_kv_heads", 8, 12),
        configured("d_ff", 14336, 7),
        configured("vocab_size", 128256, 15),
        configured("tied_embeddings", False, 13),
        configured("qkv_bias", False, 5),
        configured("attention_out_bias", False, 5),
        Fact(
            "params_total",
            8_030_261_248,
            Basis.DERIVED,
            "models/config.json",
            Layer.MODEL_CONFIG,
        ),
    }


@pytest.mark.parametrize(
    ("config", "params_total"),
    [
        (GPT2, 124_439_808),
        ({**GPT2, "n_inner": None, "n_layer": 6, "n_positions": 1024}, 81_912_576),
        (MIXTRAL, 46_702_792_704),
        (QWEN3_MOE, 30_532_122_624),
        (DEEPSEEK_V3, 671_026_419_200),
        (GPT_OSS, 20_914_757_184),
        (BERT, 109_482_240),
        (VIT, 86_567_656),
        (OPT, 125_239_296),
        (FALCON, 6_921_720_704),
        (GEMMA3, 999_885_952),
        (DBRX, 131_596_523_520),
        (
            {
                "model_type": "mistral",
                "hidden_size": 4096,
                "intermediate_size": 14336,
                "num_attention_heads": 32,
                "num_hidden_layers": 32,
                "num_key_value_heads": 8,
                "sliding_window": 4096,
                "vocab_size": 32000,
            },
            7_241_732_096,
        ),
        (
            {
                "model_type": "qwen2",
                "hidden_size": 3584,
                "intermediate_size": 18944,
                "num_attention_heads": 28,
                "num_hidden_layers": 28,
                "num_key_value_heads": 4,
                "tie_word_embeddings": False,
                "vocab_size": 152064,
            },
            7_615_616_512,
        ),
        (
            {
                "model_type": "gemma",
                "head_dim": 256,
                "hidden_size": 2048,
                "intermediate_size": 16384,
                "num_attention_heads": 8,
                "num_hidden_layers": 18,
                "num_key_value_heads": 1,
                "vocab_size": 256000,
            },
            2_506_172_416,
        ),
        (
            {
                "model_type": "phi",
                "hidden_size": 2560,
                "intermediate_size": 10240,
                "num_attention_heads": 32,
                "num_hidden_layers": 32,
                "num_key_value_heads": 32,
                "vocab_size": 51200,
            },
            2_779_683_840,
        ),
        (
            {
                "model_type": "gpt_neox",
                "hidden_size": 512,
                "intermediate_size": 2048,
                "num_attention_heads": 8,
                "num_hidden_layers": 6,
                "vocab_size": 50304,
            },
            70_426_624,
        ),
        (
            {
                "model_type": "roberta",
                "hidden_size": 768,
                "intermediate_size": 3072,
                "max_position_embeddings": 514,
                "num_attention_heads": 12,
                "num_hidden_layers": 12,
                "type_vocab_size": 1,
                "vocab_size": 50265,
            },
            124_645_632,
        ),
        (
            {
                "model_type": "distilbert",
                "dim": 768,
                "hidden_dim": 3072,
                "max_position_embeddings": 512,
                "n_heads": 12,
                "n_layers": 6,
                "vocab_size": 30522,
            },
            66_362_880,
        ),
        (
            {
                "model_type": "qwen2_moe",
                "hidden_size": 2048,
                "intermediate_size": 5632,
                "moe_intermediate_size": 1408,
                "num_attention_heads": 16,
                "num_experts": 60,
                "num_experts_per_tok": 4,
                "num_hidden_layers": 24,
                "num_key_value_heads": 16,
                "shared_expert_intermediate_size": 5632,
                "vocab_size": 151936,
            },
            14_315_784_192,
        ),
        (
            {
                "model_type": "mpt",
                "d_model": 4096,
                "expansion_ratio": 4,
                "max_seq_len": 2048,
                "n_heads": 32,
                "n_layers": 32,
                "vocab_size": 50432,
            },
            6_649_286_656,
        ),
    ],
    ids=lambda value: value["model_type"] if isinstance(value, dict) else "",
)
def test_the_count_is_the_published_one(config, params_total):
    reading = read(config)
    assert reading.problems == ()
    assert values(reading)["params_total"] == params_total


def test_active_parameters_are_given_for_experts_only():
    assert values(read(MIXTRAL))["params_active"] == 12_879_925_248
    assert "params_active" not in values(read(LLAMA))


def test_a_context_limit_is_not_the_training_length():
    assert "seq_len" not in values(read(LLAMA))
    assert "max_positions" not in values(read(LLAMA))


def test_positions_are_rows_only_where_they_are_learned():
    assert values(read(BERT))["max_positions"] == 512
    assert values(read(OPT))["max_positions"] == 2050


def test_low_ranks_of_latent_attention_are_not_adapters():
    found = values(read(DEEPSEEK_V3))
    assert (found["q_lora_rank"], found["kv_lora_rank"]) == (1536, 512)
    assert not {"lora_rank", "method"} & found.keys()


def test_tying_is_the_default_of_the_class_when_the_file_is_silent():
    tied = {fact.name: fact for fact in read(GPT2).facts}["tied_embeddings"]
    assert tied == Fact(
        "tied_embeddings",
        True,
        Basis.FRAMEWORK_DEFAULT,
        "models/config.json",
        Layer.MODEL_CONFIG,
    )
    untied = {k: v for k, v in LLAMA.items() if k != "tie_word_embeddings"}
    assert values(read(untied))["tied_embeddings"] is False


@pytest.mark.parametrize("key", ["num_experts_per_token", "moe_top_k", "num_selected_experts"])
def test_experts_per_token_are_read_by_every_name(key):
    config = {k: v for k, v in QWEN3_MOE.items() if k != "num_experts_per_tok"}
    found = values(read({**config, key: 8}))
    assert (found["experts_per_token"], found["params_total"]) == (8, 30_532_122_624)


def test_an_unknown_expert_key_leaves_the_shape_open_instead_of_dense():
    config = {k: v for k, v in MIXTRAL.items() if k != "num_experts_per_tok"}
    reading = read({**config, "experts_used": 2})
    assert set(values(reading)) == {"model_family", "vocab_size", "tied_embeddings"}
    assert reading.problems == (
        Problem(
            "models/config.json",
            "the experts per token stand under no known key; the model's shape is left open."
            " Give `n_layers`, `d_model`, `n_heads`, `n_experts`, `experts_per_token` and"
            " `moe_d_ff` as facts.",
        ),
    )


def test_a_dense_type_with_experts_is_not_believed():
    reading = read({**LLAMA, "expert_pool_size": 16})
    assert set(values(reading)) == {"model_family", "vocab_size", "tied_embeddings"}
    assert reading.problems[0].source == "models/config.json:16"
    assert reading.problems[0].text.startswith("`expert_pool_size` speaks of experts")


@pytest.mark.parametrize("odd", ["eight", -8, 2.5])
def test_an_odd_number_of_experts_leaves_the_shape_open_as_well(odd):
    reading = read({**LLAMA, "num_experts": odd, "num_experts_per_tok": 2})
    assert "n_layers" not in values(reading)
    assert reading.problems[0].source == "models/config.json:16"


def test_first_dense_layers_are_read_from_either_spelling():
    assert values(read({**QWEN3_MOE, "mlp_only_layers": [0, 1]}))["n_dense_layers"] == 2
    listed = {k: v for k, v in DEEPSEEK_V3.items() if k != "first_k_dense_replace"}
    found = values(read({**listed, "moe_layer_freq": [0] * 3 + [1] * 58}))
    assert (found["n_dense_layers"], found["params_total"]) == (3, 671_026_419_200)


def test_dense_layers_in_the_middle_are_refused():
    reading = read({**QWEN3_MOE, "mlp_only_layers": [5, 7]})
    assert "n_layers" not in values(reading)
    assert "`mlp_only_layers` names others than the first layers" in reading.problems[0].text


def test_a_window_counts_only_when_it_is_switched_on():
    config = {**LLAMA, "model_type": "qwen2", "sliding_window": 131072}
    assert "sliding_window" not in values(read({**config, "use_sliding_window": False}))
    assert values(read({**config, "use_sliding_window": True}))["sliding_window"] == 131072


def test_the_pattern_of_windowed_layers_is_read():
    assert values(read(GPT_OSS))["full_attention_every"] == 2
    assert values(read(GEMMA3))["full_attention_every"] == 6
    first_full = ["full_attention", "sliding_attention", "sliding_attention"] * 4
    assert values(read({**GPT_OSS, "layer_types": first_full}))["full_attention_every"] == 3


def test_the_language_part_of_a_multimodal_model_is_read_and_the_rest_named():
    nested = {k: v for k, v in LLAMA.items() if k != "architectures"}
    reading = read({"model_type": "llava", "text_config": nested, "vision_config": {"depth": 2}})
    found = values(reading)
    assert (found["model_family"], found["d_model"]) == ("llama", 4096)
    assert "params_total" not in found
    assert [problem.text for problem in reading.problems] == [
        "`vision_config` is not counted; the facts are those of the language model alone."
    ]
    assert next(f.source for f in reading.facts if f.name == "d_model") == "models/config.json:5"


def test_an_unknown_type_gives_its_plain_keys_and_a_problem():
    config = {
        "model_type": "t5",
        "d_ff": 2048,
        "d_kv": 64,
        "d_model": 512,
        "num_decoder_layers": 6,
        "num_heads": 8,
        "num_layers": 6,
        "vocab_size": 32128,
    }
    reading = read(config)
    assert len(reading.facts) == len(values(reading))
    assert values(reading) == {
        "model_family": "t5",
        "n_layers": 12,
        "d_model": 512,
        "n_heads": 8,
        "head_dim": 64,
        "d_ff": 2048,
        "vocab_size": 32128,
    }
    assert [problem.source for problem in reading.problems] == ["models/config.json:2"]
    assert reading.problems[0].text.startswith("`model_type` is 't5', whose layers are not known")


def test_a_missing_key_is_named_as_a_fact():
    reading = read({k: v for k, v in LLAMA.items() if k != "num_hidden_layers"})
    assert reading.problems == (
        Problem("models/config.json", "no known key gives `n_layers`. Give them as facts."),
    )
    assert "params_total" not in values(reading)


def test_a_value_that_is_no_number_is_a_problem_with_its_line():
    reading = read({**LLAMA, "num_hidden_layers": "many"})
    assert reading.problems[0] == Problem(
        "models/config.json:11", "`n_layers` is 'many'. It takes a whole number of at least 1."
    )


def test_contradicting_widths_are_a_problem_not_an_error():
    reading = read({**LLAMA, "num_attention_heads": 30})
    assert [p.text for p in reading.problems] == [
        "`d_model` 4096 is not a multiple of `n_heads` 30. Correct one of them, or give `head_dim`."
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"per_device_train_batch_size": 8, "num_train_epochs": 3}',
        '{"model_type": "llama"}',
        '{"global_step": 10, "log_history": []}',
        '["model_type", "hidden_size"]',
        '{"model_type": "llama", "hidden_size":',
        "",
    ],
)
def test_other_files_are_left_to_other_readers(text):
    assert not READER.matches(SourceFile("config.json", text))


def test_a_broken_file_is_named_with_its_line():
    with pytest.raises(FormatError, match=r"config\.json:2"):
        READER.read(SourceFile("config.json", '{\n"model_type": }'), REFERENCE)


BASES = st.sampled_from([LLAMA, GPT2, MIXTRAL, QWEN3_MOE, DEEPSEEK_V3, GPT_OSS, VIT, FALCON, DBRX])
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**20),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@given(BASES, st.data())
def test_no_value_makes_the_reader_fail_otherwise_than_by_a_format_error(base, data):
    keys = data.draw(st.lists(st.sampled_from(sorted(base)), max_size=4))
    file = as_file({**base, **{key: data.draw(ODD) for key in keys}})
    if not READER.matches(file):
        return
    try:
        reading = READER.read(file, REFERENCE)
    except FormatError:
        return
    names = [fact.name for fact in reading.facts]
    assert len(names) == len(set(names))
    assert all(fact.source.startswith("models/config.json") for fact in reading.facts)
