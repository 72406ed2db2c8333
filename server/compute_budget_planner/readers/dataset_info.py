"""`dataset_info.json` of the Hugging Face cache: examples and bytes of each split.

Source: `DatasetInfo` and `SplitInfo` in huggingface/datasets.
"""

from compute_budget_planner.guide.reference import Reference
from compute_budget_planner.readers.contract import Problem, Reading, SourceFile
from compute_budget_planner.readers.dataset_sizes import dataset_reading
from compute_budget_planner.readers.structured import load_mapping, mapping_of


class DatasetInfoReader:
    """What the library writes beside the data it prepared."""

    format = "dataset_info"

    def matches(self, file: SourceFile) -> bool:
        """Tell whether the mapping names splits with their numbers of examples."""
        document = mapping_of(file) if file.name.lower().endswith(".json") else None
        splits = document.root.get("splits") if document is not None else None
        return splits is not None and any(
            split.get("num_examples") is not None for split in splits.mapping.values()
        )

    def read(self, file: SourceFile, reference: Reference) -> Reading:
        """Return the examples of the training split.

        Raises:
            FormatError: the file is no valid JSON.
        """
        splits = load_mapping(file).root.mapping["splits"]
        train = splits.get("train", "num_examples")
        value = train.scalar if train is not None else None
        number = value if isinstance(value, int) and value > 0 else None
        names = ", ".join(f"`{name[:40]}`" for name in list(splits.mapping)[:8])
        text = f"there is no split `train`, but {names}; give `dataset_examples`"
        problems = [] if number else [Problem(file.at(splits.line), text)]
        return dataset_reading(
            file.path, self.format, reference, examples=number, problems=problems
        )


READER = DatasetInfoReader()
