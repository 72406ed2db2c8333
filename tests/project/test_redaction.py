"""What is shown or stored of a project's text is harmless and gives nobody away."""

import unicodedata
from pathlib import Path

import pytest
from compute_budget_planner.project import clean_text, private_paths
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path("/home/alice/proj")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\r\n\tc", "a b c"),
        ("\x1b[31mred\x1b[0m\x07", "red"),
        ("\x1b]8;;http://x\x07link", "link"),
        ("abc\u202egpj.exe", "abcgpj.exe"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("hid\ufe01\U000e0101den", "hidden"),
        ("café 数据 ×", "café 数据 ×"),
        ("", ""),
    ],
)
def test_invisible_and_control_characters_are_dropped(text, shown):
    assert clean_text(text) == shown


def test_long_text_is_cut_and_says_so():
    assert clean_text("x" * 500, limit=10) == "x" * 9 + "…"
    assert clean_text("x" * 10, limit=10) == "x" * 10
    assert clean_text("a" + "\u200b" * 100_000 + "b", limit=10) == "a…"


@given(st.text(), st.integers(1, 50))
def test_clean_text_is_one_bounded_visible_line_and_stays_so(text, limit):
    shown = clean_text(text, limit)
    assert len(shown) <= limit
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert clean_text(shown, limit) == shown


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("/home/alice/proj/configs/a.yaml:10", "configs/a.yaml:10"),
        ("cd /home/alice/proj && ls", "cd . && ls"),
        ("/home/alice/proj-evil/x", "$HOME/proj-evil/x"),
        ("/Users/bob/data/x", "$HOME/data/x"),
        ("/ibex/user/bob/runs/a", "$HOME/runs/a"),
        ("/root/.cache/hf ~bob/x ~/x", "$HOME/.cache/hf $HOME/x ~/x"),
        ("--output=/scratch/bob/logs/slurm-%j.out", "--output=$SCRATCH/slurm-%j.out"),
        ("/gpfs/scratch/users/bob", "$SCRATCH"),
        ("/lustre/project/k01/bob/coco", "$SCRATCH/coco"),
        ("//home//bob//x, x//home", "$HOME/x, x//home"),
        ("/data/imagenet", "$DATA/imagenet"),
        ("/tmp/bob", "$TMPDIR"),  # noqa: S108  text, not a file
        ("/opt2/bob/x", "$EXTERNAL/x"),
        ("/usr/bin/python3 train.py > /dev/null", "python3 train.py > /dev/null"),
        (r"C:\Users\bob\proj\x.yaml", "$HOME/proj/x.yaml"),
        (r"\\server\share\x", "$HOST/x"),
        ("PATH=/home/bob/bin:/scratch/bob/a/bin", "PATH=$HOME/bin:$SCRATCH/bin"),
        ("file:///home/alice/proj/a.log", "a.log"),
    ],
)
def test_absolute_paths_become_repo_paths_or_variables(text, redacted):
    assert private_paths(text, ROOT) == redacted


def test_a_root_with_spaces_becomes_relative_too():
    assert (
        private_paths("at /home/al/My Project/a.yaml", Path("/home/al/My Project")) == "at a.yaml"
    )


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("bob@login.cluster.edu:/home/bob/x", "$USER@$HOST:$HOME/x"),
        ("mail bob.b@kaust.edu.sa now", "mail $USER@$HOST now"),
        ("ssh login.cluster.edu", "ssh $HOST"),
        ("ssh $USER@login", "ssh $USER@$HOST"),
        ("10.0.0.12:29500", "$HOST:29500"),
        ("Node: gpu-017 user=bob", "Node: $HOST user=$USER"),
        ("MASTER_ADDR=n01 ssh_alias: ibex", "MASTER_ADDR=$HOST ssh_alias: $HOST"),
        ("https://u:p@git.lab.edu/x?token=1", "https://$HOST"),
        ("https://wandb.lab.internal/bob/run", "https://$HOST"),
        ("s3://bucket/bob/x", "s3://$HOST"),
        ("://home/bob/x", "://$HOST"),
        ("https://arxiv.org/abs/2001.08361", "https://arxiv.org/abs/2001.08361"),
    ],
)
def test_users_and_hosts_are_masked(text, redacted):
    assert private_paths(text, ROOT) == redacted


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("password: hunter", "password: $SECRET"),
        ("WANDB_API_KEY=abcdef", "WANDB_API_KEY=$SECRET"),
        ('"hf_token": "abc123"', '"hf_token": "$SECRET"'),
        ("train.py --token abc --lr 1", "train.py --token $SECRET --lr 1"),
        ("x sk-proj-abcdefghij1234567890 y", "x $SECRET y"),
        ("hf_abcdefghijABCDEFGHIJ", "$SECRET"),
        ("AKIAIOSFODNN7EXAMPLE", "$SECRET"),
        ("ghp_abcdefghijklmnopqrstuvwxyz01", "$SECRET"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer $SECRET"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", "$SECRET"),
        ("0123456789abcdef0123456789abcdef01234567", "$SECRET"),
        ("wJalrXUtnFEMI7K7MDENG1bPxRfiCYEXAMPLEKEY", "$SECRET"),
    ],
)
def test_secrets_are_masked(text, redacted):
    assert private_paths(text, ROOT) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "commit: 0123456789abcdef0123456789abcdef01234567",
        "pad_token: <pad>, tokenizer: gpt2, max_new_tokens: 2048",
        "flops_per_token=6.3e9, 12,000 tokens/s, 12 /s, A/B, w/o",
        "the key insight: recall@10, mAP@0.5, pass@k",
        "torchrun --nproc_per_node=8 -m pkg.train configs/base.yaml",
        "model.layers.0.self_attn, Qwen2ForConditionalGenerationWithLongName",
        "nodes=2, node: 8, $HOME/x, ${SCRATCH}/y, ../a, ./b",
        "pytorch/pytorch@sha256:abcdef0123, org/model@main",
        "A100-SXM-80GB × 8, 3.2e+21 FLOPs, 2026-01-31",
    ],
)
def test_the_words_of_the_field_are_left_alone(text):
    assert private_paths(text, ROOT) == text


PRIVATE = st.sampled_from(
    ["/home/bob/x", "//scratch/bob/y/", "bob@host.edu", "password=hunter2", "/bob@lab.org", "~bob"]
)
BETWEEN = st.sampled_from([" ", ":", "=", '"', ",", "(", "\n", "://", "; ", " -> "])


@given(st.lists(st.tuples(BETWEEN, PRIVATE)))
def test_no_user_host_or_password_survives_beside_others(pieces):
    redacted = private_paths("".join(before + piece for before, piece in pieces), ROOT)
    assert not [word for word in ("bob", "host.edu", "lab.org", "hunter2") if word in redacted]


def test_redaction_of_hostile_text_takes_no_more_than_linear_time():
    for unit in ("a_", "/a", "a.", "token ", "a@", "://", "A1a", "-----BEGIN PRIVATE KEY"):
        assert isinstance(private_paths(unit * 20_000, ROOT), str)
