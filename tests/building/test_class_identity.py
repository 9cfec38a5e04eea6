"""A class is told from another by its code, with a file and without; a format by what it declares."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from datasets_core.builders import csv
from datasets_core.building.cache_key import builder_name, code_hash, is_format
from datasets_core.dataset.dataset import Dataset
from datasets_core.resolve.registry import BUILT_IN, builder_class

# The last part of the folders of formats in the caches of users: another value builds all of them again.
CACHE_KEYS = {
    "parquet": "cff1f3a490a8f0da3571ed517de04a03",
    "arrow": "eb2be05b957d83e2f563964f4990b24a",
    "json": "b386d1f8e0906c79ecc7ea2080ed1c26",
    "csv": "e86722281255b0e468f4929517b896b1",
    "imagefolder": "a4fcff5a8f5aa95df5c7c166264895a1",
    "audiofolder": "7c37abdc889dd211e341a464f3d87a93",
    "videofolder": "c7d05cf7ff28ea08ca966bd9454c47fa",
    "pdffolder": "b5d1dfb52276470e61d31dbafb8fa1af",
    "webdataset": "a878b179635aa4f5e76eb355a67d519a",
    "tfrecord": "2df004d58289ce605cf48a045237aac5",
    "hdf5": "c1f27e02cc591fc07391989677dd6bd4",
    "xml": "b475f7a04bd9dabb87a41f8a182cf415",
    "conll": "ed46f4bef3845ffb99cba7bc993c7507",
    "fasta": "93b047120d2d7b3b9aec8f757e34330a",
    "fastq": "a8b1842480141cb95900323f6ebbef16",
    "meshfolder": "98f3671485e58ff1b16c83a524b7f580",
    "niftifolder": "3fcb68951d1ef1dd6fa8181be9f2126d",
    "pandas": "f94f78d5b1eb71b79e9f73851ccb0222",
    "sql": "bcfb388b3e378cc8940547d16c94d7b2",
    "orc": "8baa49b9c0f50d2299ec2a6026f284ad",
    "avro": "02594e39147768acfd3f596f74a6338d",
    "numpy": "360b46850228ee68b028b1d8b2763b66",
    "excel": "38c104cb837c2813e06e116480a79eeb",
    "sqlite": "3fd2fa0bd7125932bafebb80b75a2aec",
    "croissant": "190470249205060193cb683f2ab4c0ee",
    "text": "fdb98129f01c78889590dfb5e1c18267",
}

CLASS_OF_A_NOTEBOOK = """
import datasets_core as datasets
FACTOR = {factor}

class Rows(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({{"a": datasets.Value("int64")}}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={{"n": 2}})]

    def _generate_examples(self, n):
        for i in range(n):
            yield i, {{"a": i * FACTOR}}
"""


def test_a_class_without_a_file_is_told_from_another_by_its_code(tmp_path):
    found = []
    for factor in (2, 2, 3):
        names = {"__name__": "of_no_file"}
        exec(CLASS_OF_A_NOTEBOOK.format(factor=factor), names)
        builder = names["Rows"](cache_dir=str(tmp_path))
        builder.download_and_prepare()
        found.append((builder.cache_dir, builder.as_dataset(split="train")["a"][:]))

    assert [rows for _, rows in found] == [[0, 2], [0, 2], [0, 3]]
    assert found[0][0] == found[1][0]


def edited(monkeypatch: pytest.MonkeyPatch, folder: Path, source: str) -> ModuleType:
    """A module of the given source, in a place of its own among the formats."""
    name, place = "datasets_core.builders.edited", folder / "edited.py"
    place.write_text(source)
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(source, place, "exec"), vars(module))  # no bytecode of an earlier source
    return module


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_format_declares_its_name_and_the_key_of_its_caches(name: str) -> None:
    cls = builder_class(name)

    assert is_format(cls) and builder_name(cls) == name
    assert code_hash(cls) == CACHE_KEYS[name]


def test_an_edited_and_moved_format_finds_its_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    found = csv.Csv(cache_dir=tmp_path / "cache", data_files=str(tmp_path / "a.csv"))
    found.download_and_prepare()
    source = Path(csv.__file__).read_text(encoding="utf-8")
    moved = edited(monkeypatch, tmp_path, f"{source}\n# a comment\n").Csv

    again = moved(cache_dir=tmp_path / "cache", data_files=str(tmp_path / "a.csv"))
    assert (again.name, again.cache_dir) == ("csv", found.cache_dir)
    built = Path(again.cache_dir).stat().st_mtime_ns
    again.download_and_prepare()
    assert Path(again.cache_dir).stat().st_mtime_ns == built
    assert isinstance(rows := again.as_dataset(split="train"), Dataset) and rows[:] == {"a": [1], "b": [2]}


def test_what_derives_from_a_format_is_a_dataset_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "from datasets_core.builders.csv import Csv\n\n\nclass Mine(Csv):\n    {line}\n"
    keys = []
    for line in ("pass", "'Other code.'"):
        cls = edited(monkeypatch, tmp_path, source.format(line=line)).Mine
        keys.append(code_hash(cls))
        assert not is_format(cls) and builder_name(cls) == "edited"
    assert len({*keys, CACHE_KEYS["csv"]}) == 3


def test_the_cache_version_of_a_format_stands_for_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "from datasets_core.builders.csv import Csv\n\n\n"
        "class Mine(Csv):\n    is_format, name, cache_version = True, {name!r}, {version!r}  # {comment}\n"
    )
    given = [("mine", "1", "a"), ("mine", "1", "b"), ("mine", "2", "a"), ("other", "1", "a")]
    given += [("mine", None, "a"), ("mine", None, "b")]
    keys = []
    for name, version, comment in given:
        cls = edited(monkeypatch, tmp_path, source.format(name=name, version=version, comment=comment)).Mine
        assert is_format(cls) and builder_name(cls) == name
        keys.append(code_hash(cls))
    assert keys[0] == keys[1]
    assert len(set(keys)) == 5  # without a version, the source counts
