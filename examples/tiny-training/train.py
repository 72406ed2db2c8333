"""Train four small language models on one CPU core and log their losses.

The text comes from a source of known entropy: a fixed random network that looks at the last three
symbols and draws the next of 24. Each model is a network of the same kind, so that one of few
units cannot represent the source, and one of many can. What differs between the four runs is the
width, how many different tokens there are, and how long is trained. Needs numpy only:

    python train.py            # all four runs, about a minute
    python train.py healthy    # one of them
"""

import csv
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

SYMBOLS, CONTEXT, EMBEDDING = 24, 3, 8
BATCH, WARM_UP_STEPS, VALIDATION_TOKENS = 128, 100, 40_000
FOLDER = Path(__file__).parent / "lightning_logs"


@dataclass
class Run:
    """One run: hidden units, different tokens in the training text, optimizer steps, peak rate."""

    hidden: int
    unique_tokens: int
    steps: int
    learning_rate: float


RUNS = {
    "capacity-limited": Run(hidden=2, unique_tokens=3_000_000, steps=12_000, learning_rate=3e-3),
    "overfitting": Run(hidden=192, unique_tokens=6_000, steps=3_000, learning_rate=3e-3),
    "under-trained": Run(hidden=192, unique_tokens=3_000_000, steps=240, learning_rate=3e-3),
    "healthy": Run(hidden=192, unique_tokens=3_000_000, steps=20_000, learning_rate=3e-3),
}


class Network:
    """Embedding of the context, one hidden layer with tanh, logits over the symbols."""

    def __init__(self, hidden: int, rng: np.random.Generator, scale: float = 0.1) -> None:
        width = CONTEXT * EMBEDDING
        self.parameters = {
            "embedding": rng.normal(0, 1, (SYMBOLS, EMBEDDING)),
            "w1": rng.normal(0, width**-0.5, (width, hidden)),
            "b1": np.zeros(hidden),
            "w2": rng.normal(0, scale * hidden**-0.5, (hidden, SYMBOLS)),
            "b2": np.zeros(SYMBOLS),
        }

    def forward(self, context: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return inputs, hidden layer and log-probabilities of contexts (n, CONTEXT)."""
        p = self.parameters
        inputs = p["embedding"][context].reshape(len(context), -1)
        hidden = np.tanh(inputs @ p["w1"] + p["b1"])
        logits = hidden @ p["w2"] + p["b2"]
        logits -= logits.max(axis=1, keepdims=True)
        return inputs, hidden, logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def loss(self, context: np.ndarray, target: np.ndarray) -> float:
        """Return the mean cross-entropy in nats per symbol."""
        return float(-self.forward(context)[2][np.arange(len(target)), target].mean())

    def gradients(self, context: np.ndarray, target: np.ndarray) -> tuple[float, dict]:
        """Return the loss of a batch and its gradient."""
        p, n = self.parameters, len(target)
        inputs, hidden, log_probabilities = self.forward(context)
        rows = np.arange(n)
        loss = float(-log_probabilities[rows, target].mean())
        by_logits = np.exp(log_probabilities)
        by_logits[rows, target] -= 1
        by_logits /= n
        by_hidden = (by_logits @ p["w2"].T) * (1 - hidden**2)
        by_inputs = (by_hidden @ p["w1"].T).reshape(n, CONTEXT, EMBEDDING)
        embedding = np.zeros_like(p["embedding"])
        np.add.at(embedding, context, by_inputs)
        return loss, {
            "embedding": embedding,
            "w1": inputs.T @ by_hidden,
            "b1": by_hidden.sum(axis=0),
            "w2": hidden.T @ by_logits,
            "b2": by_logits.sum(axis=0),
        }


def text_of(source: Network, length: int, rng: np.random.Generator) -> np.ndarray:
    """Draw many short texts side by side and return them one after another."""
    streams = max(1, length // 400)
    text = rng.integers(0, SYMBOLS, (streams, CONTEXT))
    while text.size < length:
        probabilities = np.exp(source.forward(text[:, -CONTEXT:])[2])
        drawn = (probabilities.cumsum(axis=1) < rng.random((streams, 1))).sum(axis=1)
        text = np.hstack([text, np.minimum(drawn, SYMBOLS - 1)[:, None]])
    return text


def examples_of(text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all contexts of a text and the symbols that follow them."""
    windows = np.lib.stride_tricks.sliding_window_view(text, CONTEXT + 1, axis=1)
    flat = windows.reshape(-1, CONTEXT + 1)
    return flat[:, :-1].copy(), flat[:, -1].copy()


def rate_at(step: int, run: Run) -> float:
    """Return the learning rate: linear warm-up, then a cosine to zero."""
    if step < WARM_UP_STEPS:
        return run.learning_rate * (step + 1) / WARM_UP_STEPS
    done = (step - WARM_UP_STEPS) / (run.steps - WARM_UP_STEPS)
    return run.learning_rate * 0.5 * (1 + np.cos(np.pi * done))


def train(name: str, run: Run) -> None:
    """Train with Adam; log the mean loss every 1/120 of the run and validate every 1/40."""
    source = Network(48, np.random.default_rng(7), scale=3.5)
    rng = np.random.default_rng(11)
    validation = examples_of(text_of(source, VALIDATION_TOKENS, np.random.default_rng(5)))
    context, target = examples_of(text_of(source, run.unique_tokens, np.random.default_rng(3)))
    model = Network(run.hidden, rng)
    first = {k: np.zeros_like(v) for k, v in model.parameters.items()}
    second = {k: np.zeros_like(v) for k, v in model.parameters.items()}
    log_every, validate_every = max(1, run.steps // 120), max(1, run.steps // 40)
    rows, since = [], []
    for step in range(run.steps):
        batch = rng.integers(0, len(target), BATCH)
        loss, gradients = model.gradients(context[batch], target[batch])
        rate = rate_at(step, run)
        for key, gradient in gradients.items():
            first[key] = 0.9 * first[key] + 0.1 * gradient
            second[key] = 0.99 * second[key] + 0.01 * gradient**2
            mean = first[key] / (1 - 0.9 ** (step + 1))
            spread = second[key] / (1 - 0.99 ** (step + 1))
            model.parameters[key] -= rate * mean / (np.sqrt(spread) + 1e-8)
        epoch = step * BATCH // len(target)
        since.append(loss)
        if step % log_every == 0 or step == run.steps - 1:
            rows.append([epoch, step, f"{np.mean(since):.4f}", ""])
            since.clear()
        if step % validate_every == 0 or step == run.steps - 1:
            rows.append([epoch, step, "", f"{model.loss(*validation):.4f}"])
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "metrics.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["epoch", "step", "train_loss", "val_loss"], *rows])
    options = {
        "num_params": sum(p.size for p in model.parameters.values()),
        "global_batch_size": BATCH,
        "seq_len": 1,
        "max_steps": run.steps,
        "dataset_examples": len(target),
        "learning_rate": run.learning_rate,
    }
    text = "".join(f"{key}: {value}\n" for key, value in options.items())
    (folder / "hparams.yaml").write_text(text, encoding="utf-8")
    print(name, asdict(run), "floor", round(source.loss(*validation), 4), rows[-1])


if __name__ == "__main__":
    for chosen in sys.argv[1:] or RUNS:
        train(chosen, RUNS[chosen])
