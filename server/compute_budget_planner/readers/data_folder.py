"""A folder of training data: image folders, WebDataset shards, Parquet and token shards.

Told by the names and sizes of what lies in it; nothing is opened. Held-out parts are left out.
"""

from collections.abc import Mapping

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Problem, Reading
from compute_budget_planner.readers.dataset_sizes import HELD_OUT, dataset_reading

Counts = Mapping[tuple[str, str], tuple[int, int]]
"""(subfolder, ending) → (files, bytes in all)."""

_IMAGES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".jpe", ".ppm"}
_SOUNDS = {".wav", ".flac", ".mp3", ".ogg", ".m4a", ".opus"}
_SHARDS = {".tar": "WebDataset shards", ".parquet": "Parquet files", ".arrow": "Arrow files"}
_SHARDS |= {".gz": "compressed files", ".zst": "compressed files"}


def folder_reading(path: str, counts: Counts, reference: Reference, *, cut: bool) -> Reading | None:
    """Return what a folder holds, None when it is no data that is known.

    `cut` says that only a part of the folder was looked at.
    """
    training = {key: value for key, value in counts.items() if not HELD_OUT.search(key[0])}
    examples = sum(n for (_, end), (n, _) in training.items() if end in _IMAGES | _SOUNDS)
    if examples:
        text = "only a part of the folder was counted; give `dataset_examples`"
        problems = [Problem(path, text)] if cut else []
        return dataset_reading(
            path,
            "data_folder",
            reference,
            examples=None if cut else examples,
            problems=problems,
        )
    tokens = sum(size for (_, end), (_, size) in training.items() if end == ".bin") // 2
    for ending, name in _SHARDS.items():
        shards = sum(n for (_, end), (n, _) in training.items() if end == ending)
        size = sum(s for (_, end), (_, s) in training.items() if end == ending)
        if shards:
            text = f"{shards} {name}, {size / 1e9:.1f} GB: how many examples? Give"
            problem = Problem(path, f"{text} `dataset_examples`, or name one of the files.")
            notes = {"shards": shards, "bytes": size}
            return dataset_reading(path, "data_folder", reference, notes=notes, problems=[problem])
    if tokens:
        text = "16 bits a token are assumed; with a vocabulary above 65,536 it is half as many"
        return dataset_reading(
            path, "data_folder", reference, tokens=tokens, problems=[Problem(path, text)]
        )
    return None
