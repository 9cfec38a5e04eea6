"""`new`: a dataset script that runs as it stands, its data, and its test."""

from __future__ import annotations

import os

from datasets_core.errors import ConfigurationError
from datasets_core.files import disk_errors
from datasets_core.meta.naming import snakecase_to_camelcase

_SCRIPT = '''"""{title}: what it is, where it comes from."""

import csv
from collections.abc import Iterator
from typing import Any

import datasets_core as datasets


class {camel}(datasets.GeneratorBasedBuilder):
    """One sentence that says what a row is."""

    VERSION = datasets.Version("1.0.0")

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=__doc__,
            homepage="",
            license="",
            citation="",
            features=datasets.Features(
                {{
                    "text": datasets.Value("string"),
                    "label": datasets.ClassLabel(names=["no", "yes"]),
                }}
            ),
        )

    def _split_generators(self, dl_manager: datasets.DownloadManager) -> list[datasets.SplitGenerator]:
        # A URL here is downloaded, checked and cached; a relative path is read beside this file.
        files = dl_manager.download_and_extract({{"train": "data/train.csv", "test": "data/test.csv"}})
        return [datasets.SplitGenerator(name=split, gen_kwargs={{"path": path}}) for split, path in files.items()]

    def _generate_examples(self, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
        with open(path, encoding="utf-8", newline="") as lines:
            for number, row in enumerate(csv.DictReader(lines)):
                yield number, {{"text": row["text"], "label": row["label"]}}
'''

_TEST = '''"""The dataset builds, with the rows and types that it promises.  Run: pytest {name}"""

from pathlib import Path

from datasets_core import load_dataset

SCRIPT = str(Path(__file__).with_name("{name}.py"))


def test_splits_have_their_rows(tmp_path: Path) -> None:
    splits = load_dataset(SCRIPT, cache_dir=str(tmp_path))
    assert {{name: len(rows) for name, rows in splits.items()}} == {{"train": 2, "test": 1}}


def test_the_first_row_is_right(tmp_path: Path) -> None:
    rows = load_dataset(SCRIPT, split="train", cache_dir=str(tmp_path))
    assert rows[0] == {{"text": "It works.", "label": 1}}
'''

_TRAIN = "text,label\nIt works.,yes\nIt does not.,no\n"
_HELD_OUT = "text,label\nDoes it?,yes\n"


def write(name: str, parent: str) -> int:
    """Write `parent/name/` with script, data and test; nothing that exists is touched.

    Raises:
        ConfigurationError: the name is no snake_case name, or the folder exists.
    """
    if not name.isidentifier() or name != name.lower():
        raise ConfigurationError(f"{name!r} is no name for a dataset. Use lower-case letters, digits and underscores.")
    folder = os.path.join(parent, name)
    if os.path.exists(folder):
        raise ConfigurationError(f"{folder} exists already. Choose another name or --dir.")
    words = {"name": name, "camel": snakecase_to_camelcase(name), "title": name.replace("_", " ").capitalize()}
    contents = {
        f"{name}.py": _SCRIPT.format(**words),
        f"test_{name}.py": _TEST.format(**words),
        os.path.join("data", "train.csv"): _TRAIN,
        os.path.join("data", "test.csv"): _HELD_OUT,
    }
    with disk_errors(folder):
        os.makedirs(os.path.join(folder, "data"))
        for path, text in contents.items():
            with open(os.path.join(folder, path), "x", encoding="utf-8") as out:
                out.write(text)
    print(f"{folder}: {', '.join(sorted(contents))}")
    print(f"Try: datasets-core head {os.path.join(folder, name + '.py')}")
    return 0
