"""Output of nanoGPT: `iter 10: loss 9.8765, time 123.45ms, mfu 31.20%`.

The time is that of one optimizer step, accumulation included. Iteration 0 compiles, iterations
that evaluate take longer, and the printed MFU is -100 % for the first five. Source: train.py of
karpathy/nanoGPT.
"""

import re

from compute_budget_planner.readers.log_lines import log_lines, number_in
from compute_budget_planner.readers.run_log import RunLog
from compute_budget_planner.readers.stdout_reader import StdoutReader
from compute_budget_planner.readers.step_speed import Stretch

_ITERATION = re.compile(r"\biter (\d{1,12}): loss ([-+0-9.a-z]{1,20}), time ([0-9.]{1,20})ms")
_EVALUATION = re.compile(
    r"\bstep (\d{1,12}): train loss [-+0-9.a-z]{1,20}, val loss ([-+0-9.a-z]{1,20})"
)
_TOKENS = re.compile(r"tokens per iteration will be: ([\d,]{1,20})")
_PARAMETERS = re.compile(r"number of parameters: ([0-9.]{1,12})M\b")
_OVERRIDE = re.compile(r"Overriding: (\w{1,40}) = (.{1,80}?)\s*$")
_MEANT = frozenset(
    [
        *("batch_size", "block_size", "n_layer", "n_head", "n_embd", "max_iters", "dtype"),
        *("gradient_accumulation_steps", "learning_rate", "dataset", "compile", "eval_interval"),
    ]
)


def _fill(log: RunLog) -> None:
    marks = (": loss ", "val loss", "tokens per iteration", "number of param", "Overriding: ")
    for number, line in log_lines(log.file, *marks):
        if match := _ITERATION.search(line):
            step = int(match[1])
            if log.first_time(step):
                log.timed.append(Stretch(1, number_in(match[3]) / 1000))
                log.train.append((step, number_in(match[2])))
                log.speed_line = number
                # The first iteration is number 0.
                log.say("steps_done", step + 1, number)
        elif match := _EVALUATION.search(line):
            log.validation.append((int(match[1]), number_in(match[2])))
        elif match := _OVERRIDE.search(line):
            if match[1] in _MEANT:
                log.option(match[1], match[2].strip("'\""), number)
        elif match := _TOKENS.search(line):
            _tell_tokens(log, number_in(match[1]), number)
        elif match := _PARAMETERS.search(line):
            # Rounded to 10,000 and without the position table: no exact count.
            log.notes["printed_parameters_millions"] = number_in(match[1])
    planned = next((raw for name, raw, _ in log.options if name == "max_iters"), None)
    done = log.told("steps_done")
    if isinstance(done, int) and planned is not None and str(planned).isdecimal():
        log.finished = done >= int(str(planned))


def _tell_tokens(log: RunLog, tokens: float, line: int) -> None:
    """Turn tokens per iteration into sequences when the log names their length."""
    length = next((str(raw) for name, raw, _ in log.options if name == "block_size"), "")
    if length.isdecimal() and int(length) and tokens % int(length) == 0:
        log.say("global_batch_size", int(tokens) // int(length), line)
    else:
        log.notes["tokens_per_step"] = tokens


READER = StdoutReader("nanogpt_stdout", "nanogpt", ": loss ", _ITERATION, _fill)
