"""The alias: `import datasets` gives this library, from `install` to `uninstall`, also in child processes."""

from __future__ import annotations

import bz2
import copy
import dataclasses
import gzip
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import lzma
import multiprocessing
import operator
import os
import pickle
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import datasets_core
from datasets_core import DatasetInfo, Features, Value, as_datasets, config
from datasets_core.as_datasets import COMPATIBLE_VERSION, internals
from datasets_core.distributed import split_dataset_by_node as node_split
from datasets_core.errors import CastError, ConfigurationError, WorkerDiedError
from datasets_core.features import base
from datasets_core.fetch.streaming import StreamingDownloadManager
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.store.commit import find_garbage
from datasets_core.store.rows.view import RowBlock

pytestmark = pytest.mark.skipif("datasets" in sys.modules, reason="the library datasets is imported already")

ROOT = Path(__file__).parents[1]

# Names of `datasets` that two libraries of PyPI or more use (imports and attribute chains in 57 libraries, November 2026).
USED = [
    "config.DEFAULT_HF_CACHE_HOME",
    "config.DEFAULT_HF_DATASETS_CACHE",
    "config.DEFAULT_HF_MODULES_CACHE",
    "config.DOWNLOADED_DATASETS_DIR",
    "config.ENV_VARS_TRUE_VALUES",
    "config.IS_OPUS_SUPPORTED",
    "config.USE_PARQUET_EXPORT",
    "config.USE_TORCH",
    "config.EXTRACTED_DATASETS_DIR",
    "config.MODULE_NAME_FOR_DYNAMIC_MODULES",
    "packaged_modules.folder_based_builder.folder_based_builder.FolderBasedBuilder",
    "packaged_modules.imagefolder.imagefolder.ImageFolderConfig",
    "Array2D",
    "Array3D",
    "Array4D",
    "Array5D",
    "Audio",
    "ClassLabel",
    "Column",
    "Dataset",
    "Dataset.from_dict",
    "Dataset.from_file",
    "Dataset.from_generator",
    "Dataset.from_list",
    "Dataset.from_pandas",
    "DatasetDict",
    "DatasetInfo",
    "DownloadConfig",
    "DownloadManager",
    "DownloadMode",
    "DownloadMode.FORCE_REDOWNLOAD",
    "DownloadMode.REUSE_DATASET_IF_EXISTS",
    "Features",
    "GeneratorBasedBuilder",
    "Image",
    "IterableDataset",
    "IterableDatasetDict",
    "List",
    "Sequence",
    "Split.TEST",
    "SplitDict",
    "SplitGenerator",
    "Value",
    "Video",
    "__version__",
    "arrow_dataset.Dataset",
    "arrow_writer.ArrowWriter",
    "concatenate_datasets",
    "config",
    "config.EXTRACTED_DATASETS_PATH",
    "config.HF_ENDPOINT",
    "data_files.EmptyDatasetError",
    "disable_caching",
    "distributed.split_dataset_by_node",
    "download.download_config.DownloadConfig",
    "download.download_manager.DownloadManager",
    "enable_caching",
    "exceptions.DatasetGenerationError",
    "exceptions.DatasetNotFoundError",
    "features.Features",
    "features.Sequence",
    "features.Value",
    "features._torchcodec.AudioDecoder",
    "filesystems.is_remote_filesystem",
    "fingerprint",
    "fingerprint.generate_random_fingerprint",
    "get_dataset_config_names",
    "get_dataset_infos",
    "get_dataset_split_names",
    "interleave_datasets",
    "is_caching_enabled",
    "load_dataset",
    "load_dataset_builder",
    "load_from_disk",
    "logging.disable_progress_bar",
    "packaged_modules._EXTENSION_TO_MODULE",
    "packaged_modules._hash_python_lines",
    "utils.extract.ExtractManager",
    "utils.file_utils.is_local_path",
    "utils.filelock.FileLock",
    "utils.logging.disable_progress_bar",
    "utils.logging.set_verbosity_error",
    "utils.metadata.MetadataConfigs",
    "arrow_reader.ArrowReader",
    "features.features.register_feature",
    "formatting.formatting.LazyBatch",
    "formatting.formatting.LazyRow",
    "table.embed_table_storage",
]


@pytest.fixture
def alias() -> Iterator[Any]:
    with as_datasets.install():
        yield importlib.import_module("datasets")


def _run(code: str, *, cwd: Path, **environ: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, cwd=cwd, env={**os.environ, **environ}
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def test_it_is_there_from_install_to_uninstall() -> None:
    found = importlib.util.find_spec("datasets")
    before = dict(os.environ), list(sys.path), list(sys.meta_path)
    with as_datasets.install():
        assert as_datasets.is_installed()
        datasets = importlib.import_module("datasets")
        assert datasets.Dataset is datasets_core.Dataset
        assert importlib.import_module("datasets.arrow_dataset").Dataset is datasets_core.Dataset
        as_datasets.install()  # again: nothing
    assert not as_datasets.is_installed()
    assert "datasets" not in sys.modules
    assert (dict(os.environ), list(sys.path), list(sys.meta_path)) == before
    assert (importlib.util.find_spec("datasets") is None) == (found is None)


def test_another_datasets_that_is_imported_already_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    other = ModuleType("datasets")
    other.__file__ = "/elsewhere/datasets/__init__.py"
    monkeypatch.setitem(sys.modules, "datasets", other)
    with pytest.raises(ConfigurationError, match="already imported from /elsewhere/datasets"):
        as_datasets.install()
    assert not as_datasets.is_installed()


@pytest.mark.parametrize("name", USED)
def test_names_that_libraries_use_are_there(alias: ModuleType, name: str) -> None:
    found: Any = alias
    for part in name.split("."):
        if isinstance(found, ModuleType) and f"{found.__name__}.{part}" in as_datasets.MODULES:
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    assert found is not None


def test_every_name_opens(alias: ModuleType) -> None:
    for module, names in as_datasets.MODULES.items():
        opened = importlib.import_module(module)
        for name in names:
            assert name == "*" or hasattr(opened, name), (module, name)
        assert {name for name in dir(opened) if not name.startswith("__")} >= set(names) - {"*", "__version__"}


def test_the_version_is_that_of_datasets_and_tells_ours(alias: ModuleType) -> None:
    assert alias.__version__ == importlib.metadata.version("datasets") == COMPATIBLE_VERSION
    assert f"5.2.0+core.{datasets_core.__version__}" == COMPATIBLE_VERSION
    assert "datasets" in importlib.metadata.packages_distributions()["datasets"]
    assert "datasets_core" in Path(str(alias.__file__)).read_text()
    assert importlib.util.find_spec("datasets") is not None
    assert "huggingface" in importlib.metadata.metadata("datasets")["Home-page"]  # as sentence-transformers asks


def test_an_absent_name_says_what_to_use(alias: ModuleType) -> None:
    with pytest.raises(AttributeError, match=r"'load_metric' of datasets .*datasets 5\.2\.0: .*the package 'evaluate'"):
        _ = alias.load_metric
    with pytest.raises(ModuleNotFoundError, match=r"'tasks' of datasets .*removed in datasets 3\.0"):
        importlib.import_module("datasets.tasks")
    with pytest.raises(ImportError, match=r"'dataset_module_factory' of datasets\.load .*load_dataset_builder"):
        exec("from datasets.load import dataset_module_factory")
    with pytest.raises(ImportError, match=r"'PackagedDatasetModuleFactory' of datasets\.load .*load_dataset_builder"):
        exec("from datasets.load import PackagedDatasetModuleFactory")
    with pytest.raises(ImportError, match=r"removed in datasets 3\.0; use the package 'evaluate'"):
        exec("from datasets import load_metric")
    assert not hasattr(alias, "__wrapped__")


def test_modules_are_pickled_by_name(alias: ModuleType) -> None:
    assert pickle.loads(pickle.dumps(alias)) is alias


def test_settings_are_changed_or_refused(alias: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "_assigned", None)
    monkeypatch.setattr(config, "_ASSIGNED", [])
    alias.config.HF_DATASETS_CACHE = str(tmp_path)
    assert str(tmp_path) == alias.config.HF_DATASETS_CACHE  # as it was given
    alias.config.HF_DATASETS_CACHE = tmp_path
    assert config.settings().cache_dir == str(tmp_path)
    assert tmp_path == alias.config.HF_DATASETS_CACHE
    assert tmp_path / "downloads" == alias.config.DOWNLOADED_DATASETS_PATH
    assert str(tmp_path.parent) == alias.config.HF_CACHE_HOME
    assert tmp_path.parent / "modules" == alias.config.HF_MODULES_CACHE
    alias.config.PARQUET_ROW_GROUP_SIZE_FOR_IMAGE_DATASETS = 100  # as it is
    with pytest.raises(ConfigurationError, match="PARQUET_ROW_GROUP_SIZE_FOR_IMAGE_DATASETS cannot be changed"):
        alias.config.PARQUET_ROW_GROUP_SIZE_FOR_IMAGE_DATASETS = 7
    with pytest.raises(ConfigurationError, match="NO_SUCH_SETTING cannot be changed"):
        alias.config.NO_SUCH_SETTING = 7


def test_a_setting_that_is_deleted_is_what_it_was_before(alias: ModuleType) -> None:
    before, here = config.settings(), config.settings().max_memory_bytes
    with pytest.raises(AttributeError, match="IN_MEMORY_MAX_SIZE"):
        del alias.config.IN_MEMORY_MAX_SIZE
    for size in (1000, 2000):
        alias.config.IN_MEMORY_MAX_SIZE = size
    assert config.settings().max_memory_bytes == 2000
    del alias.config.IN_MEMORY_MAX_SIZE
    assert config.settings().max_memory_bytes == 1000
    with pytest.MonkeyPatch.context() as patches:  # takes back by `del`
        patches.setattr("datasets.config.IN_MEMORY_MAX_SIZE", 3000)
        patches.setattr("datasets.config.MAX_SHARD_SIZE", "1MB")
        assert (alias.config.IN_MEMORY_MAX_SIZE, alias.config.MAX_SHARD_SIZE) == (3000, "1MB")
        with config.using(batch_rows=7):
            patches.undo()
            assert config.settings().max_memory_bytes == 1000
    assert (alias.config.IN_MEMORY_MAX_SIZE, alias.config.MAX_SHARD_SIZE) == (1000, "500MB")
    del alias.config.IN_MEMORY_MAX_SIZE
    assert (config.settings(), config.settings().max_memory_bytes) == (before, here)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing_have_it(alias: ModuleType, method: str) -> None:
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(eval, ("__import__('datasets').__version__",)) == COMPATIBLE_VERSION


def test_programs_that_are_started_have_it(alias: ModuleType, tmp_path: Path) -> None:
    code = "import datasets, importlib.metadata; print(datasets.__version__, importlib.metadata.version('datasets'))"
    assert _run(code, cwd=tmp_path) == f"{COMPATIBLE_VERSION} {COMPATIBLE_VERSION}"


def test_the_variable_installs_it_with_the_library(tmp_path: Path) -> None:
    code = "import datasets_core, datasets; print(datasets.Dataset is datasets_core.Dataset)"
    assert _run(code, cwd=tmp_path, DATASETS_CORE_AS_DATASETS="1") == "True"
    code = "import datasets_core, sys; print('datasets' in sys.modules, 'datasets_core.as_datasets' in sys.modules)"
    assert _run(code, cwd=tmp_path) == "False False"


@pytest.mark.parametrize(("value", "is_ours"), [("1", True), ("0", False), ("", False), (None, False)])
def test_the_variable_alone_puts_an_installed_alias_on_the_path(value: str | None, is_ours: bool, tmp_path: Path) -> None:
    (tmp_path / "datasets_core").symlink_to(ROOT / "datasets_core")
    (tmp_path / "alias.pth").write_bytes((ROOT / "compat/datasets_core_alias.pth").read_bytes())
    (tmp_path / "datasets.py").write_text("__version__ = 'the other'")
    code = """
    import os, site, sys
    site.addsitedir(os.getcwd())
    print(any(name.partition(".")[0] in ("datasets", "datasets_core") for name in sys.modules))
    import datasets
    print(datasets.__version__)
    """
    environ = {name: text for name, text in os.environ.items() if name not in (as_datasets.VARIABLE, "PYTHONPATH")}
    command = [sys.executable, "-P", "-c", textwrap.dedent(code)]
    environ |= {} if value is None else {as_datasets.VARIABLE: value}
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environ)
    assert found.stdout.split("\n")[:2] == ["False", COMPATIBLE_VERSION if is_ours else "the other"], found.stderr


def test_a_script_and_a_module_are_run_with_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("NAME = 'beside'\n")
    (tmp_path / "program.py").write_text(
        "import sys, datasets, beside\nprint(__name__, sys.argv[1:], beside.NAME, datasets.Dataset.from_dict({'a': [1]})[0])\n"
    )
    for how in (["program.py"], ["-m", "program"]):
        command = [sys.executable, "-m", "datasets_core.as_datasets", *how, "--x", "1"]
        found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert found.stdout == "__main__ ['--x', '1'] beside {'a': 1}\n", found.stderr
    found = subprocess.run([sys.executable, "-m", "datasets_core.as_datasets"], capture_output=True, text=True)
    assert (found.returncode, "script.py [arguments]" in found.stderr) == (2, True)


def test_the_table_of_a_dataset_has_its_table(alias: ModuleType) -> None:
    dataset = alias.Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0])
    assert dataset.data.table.column_names == dataset.data.column_names == ["a"]
    assert isinstance(dataset.data, alias.table.Table)
    assert pa.table(dataset.data) == dataset.data.table
    assert dataset._indices["indices"].to_pylist() == [2, 0]

    class Mine(alias.Dataset):  # type: ignore[misc, name-defined]
        def __init__(self, other: Any) -> None:
            super().__init__(other.data, info=other.info, indices_table=other._indices, fingerprint=other._fingerprint)

    assert Mine(dataset)["a"][:] == [3, 1]
    assert alias.Dataset.from_dict({"a": [1]}).with_format("numpy", dtype="int8")._format_kwargs == {"dtype": "int8"}


def test_rows_are_written_and_read_as_arrow_files(alias: ModuleType, tmp_path: Path) -> None:
    from datasets.arrow_reader import ArrowReader  # type: ignore[import-not-found]
    from datasets.arrow_writer import ArrowWriter, SchemaInferenceError  # type: ignore[import-not-found]

    path = str(tmp_path / "a.arrow")
    features = alias.Features({"n": alias.Value("int8"), "t": alias.Value("string")})
    with ArrowWriter(features=features, path=path, writer_batch_size=2) as writer:
        for number in range(5):
            writer.write({"n": number, "t": str(number)})
        writer.write_batch({"n": [5, 6], "t": ["5", "6"]})
        writer.write_table(pa.table({"n": [7], "t": ["7"]}))
        assert writer.finalize()[0] == 8
    dataset = alias.Dataset.from_file(path)
    assert (dataset.features, dataset["n"][:]) == (features, list(range(8)))
    read = ArrowReader(str(tmp_path), dataset.info).read_files(
        [{"filename": "a.arrow", "skip": 2, "take": 3}, {"filename": path}]
    )
    assert alias.Dataset(**read)["n"][:] == [2, 3, 4, *range(8)]
    with pytest.raises(SchemaInferenceError, match="no rows and no features"):
        ArrowWriter(path=str(tmp_path / "b.arrow")).finalize()


def test_functions_get_rows_and_batches_by_their_old_classes(alias: ModuleType) -> None:
    from datasets.formatting.formatting import LazyBatch, LazyDict, LazyRow  # type: ignore[import-not-found]

    seen: list[tuple[bool, bool, bool]] = []

    def kinds(given: Any) -> dict[str, Any]:
        seen.append((isinstance(given, LazyRow), isinstance(given, LazyBatch), isinstance(given, LazyDict)))
        return {"b": given["a"]}

    dataset = alias.Dataset.from_dict({"a": [1, 2], "t": ["x", "y"]})
    dataset.map(kinds, load_from_cache_file=False)
    dataset.map(kinds, batched=True, load_from_cache_file=False)
    assert seen[0] == (True, False, True)
    assert seen[-1] == (False, True, True)


def test_a_stream_tells_its_features(alias: ModuleType) -> None:
    stream = alias.Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset().map(lambda row: {"b": str(row["a"])})
    assert stream.features is None
    found = stream._resolve_features()
    assert found.features == {"a": alias.Value("int64"), "b": alias.Value("string")}
    assert list(found) == list(stream) == [{"a": 1, "b": "1"}, {"a": 2, "b": "2"}]


def test_indexes_are_used_as_those_of_datasets() -> None:
    from datasets_core.dataset.insight.indexes import TextIndex, VectorIndex

    for method in (VectorIndex.search, VectorIndex.search_batch, TextIndex.search, TextIndex.search_batch):
        assert inspect.signature(method).parameters["k"].default == 10
    inspect.signature(VectorIndex.save).bind("the index", "the file")
    inspect.signature(VectorIndex.load).bind("the file")


def test_small_helpers(alias: ModuleType, tmp_path: Path) -> None:
    py_utils = importlib.import_module("datasets.utils.py_utils")
    assert py_utils.string_to_dict("data/train-0.csv", "data/{split}-{n}.csv") == {"split": "train", "n": "0"}
    assert py_utils.string_to_dict("x", "data/{split}") is None
    assert list(py_utils.iter_batched(range(5), 2)) == [[0, 1], [2, 3], [4]]
    sharding = importlib.import_module("datasets.utils.sharding")
    parts = sharding._split_gen_kwargs({"files": [1, 2, 3], "n": 7}, 2)
    assert parts == [{"files": [1, 2], "n": 7}, {"files": [3], "n": 7}]
    assert sharding._merge_gen_kwargs(parts) == {"files": [1, 2, 3], "n": 7}
    fingerprint = importlib.import_module("datasets.fingerprint")
    assert len(fingerprint.generate_random_fingerprint()) == 16
    with pytest.raises(ValueError, match="cannot contain '/'"):
        fingerprint.validate_fingerprint("a/b")
    writer = importlib.import_module("datasets.arrow_writer")
    assert pa.array(writer.OptimizedTypedSequence([[1, 0], [1]], col="attention_mask")).type == pa.list_(pa.int8())
    assert pa.array(writer.TypedSequence(["x"], try_type=alias.Value("int8"))).type == pa.string()
    features = importlib.import_module("datasets.features.features")
    assert features.generate_from_dict({"a": {"dtype": "int8", "_type": "Value"}}) == {"a": alias.Value("int8")}
    assert features.get_nested_type(alias.List(alias.Value("int8"))) == pa.list_(pa.int8())
    assert features._FEATURE_TYPES["ClassLabel"] is alias.ClassLabel
    (tmp_path / "a.txt").write_text("plain")
    extract = importlib.import_module("datasets.utils.extract")
    assert extract.Extractor.is_extractable(tmp_path / "a.txt") is False
    assert extract.ExtractManager(str(tmp_path)).extract(str(tmp_path / "a.txt")) == str(tmp_path / "a.txt")
    assert alias.utils.hub.hf_dataset_url("org/a", "x y.csv").endswith("/datasets/org/a/resolve/main/x%20y.csv")


# -- rows of a tensor format, as collate functions get them -------------------------------------------------------------

_ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def _changed(rows: Any) -> Any:
    rows[0]["a"] = 7
    rows[1] = {"a": 8}
    return rows


@pytest.mark.parametrize(
    "read",
    [
        list, tuple, len, bool, repr, copy.copy, copy.deepcopy, json.dumps, np.array, pa.array, pa.Table.from_pylist,
        pd.DataFrame, _changed,
        lambda rows: sorted(rows, key=lambda row: -row["a"]),
        lambda rows: [*rows],
        lambda rows: (rows[0], rows[-1:]),
        lambda rows: operator.add([{}], rows),
        lambda rows: operator.add(rows, [{}]),
        lambda rows: rows + rows,
        lambda rows: rows * 2,
        lambda rows: (rows == _ROWS, operator.eq(_ROWS, rows), rows != _ROWS),
        lambda rows: list(reversed(rows)),
        lambda rows: (rows.pop(), rows),
        lambda rows: (rows.index(_ROWS[1]), _ROWS[0] in rows),
        lambda rows: list(zip(rows, rows, strict=True)),
        lambda rows: rows.append({}) or rows,
        lambda rows: rows.sort(key=lambda row: -row["a"]) or rows,
        lambda rows: pickle.loads(pickle.dumps(rows)),
        lambda rows: operator.iadd([], rows),
    ],
)  # fmt: skip
def test_whatever_reads_rows_of_a_tensor_format_finds_a_list_of_dicts(read: Callable[[Any], Any]) -> None:
    block = RowBlock({"a": [1, 2], "b": ["x", "y"]}, 2)
    assert isinstance(block, list)
    assert str(read(block)) == str(read([dict(row) for row in _ROWS]))


# -- sounds, as pipelines get them ---------------------------------------------------------------------------------------


@pytest.mark.optional("soundfile")
def test_a_sound_is_a_dict_that_is_read_on_use() -> None:
    from datasets_core.features.media.audio import wav_bytes

    stored = {"bytes": wav_bytes(np.array([0.0, 0.5, 0.25, 0.0]), 8), "path": None}
    dataset = datasets_core.Dataset.from_dict({"s": [stored]}, features=datasets_core.Features({"s": datasets_core.Audio()}))
    sound: Any = dataset[0]["s"]
    assert isinstance(sound, dict)
    assert sound._samples is None and "array" in sound and "raw" not in sound and sound._samples is None
    wanted = {"path": None, "array": [0.0, 0.5, 0.25, 0.0], "sampling_rate": 8}
    for made in (
        dict(sound),
        {**sound},
        sound.copy(),
        sound | {},
        {} | sound,
        dict(sound.items()),
        {k: sound.get(k) for k in sound},
    ):
        assert type(made) is dict
        assert {key: value if key != "array" else value.tolist() for key, value in made.items()} == wanted
    assert (len(sound), bool(sound), list(sound.keys()), sound.get("raw", 1)) == (
        3,
        True,
        ["path", "array", "sampling_rate"],
        1,
    )
    assert sound == dataset[0]["s"] == pickle.loads(pickle.dumps(sound)) == copy.copy(sound)
    assert operator.ne(sound, dataset[0]["s"]) is False
    for change in (lambda: sound.pop("path"), lambda: sound.update(a=1), lambda: operator.setitem(sound, "a", 1)):
        with pytest.raises(TypeError, match=r"sound\.copy\(\)"):
            change()
    again = dataset.map(lambda row: {"t": row["s"]}, load_from_cache_file=False)
    assert (again.features["t"], again[0]["t"]["array"].tolist()) == (datasets_core.Audio(), wanted["array"])


def test_feature_types_that_are_not_below_ours(alias: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "REGISTERED", dict(base.REGISTERED))
    for module in ("datasets_core.as_datasets.tables", "datasets_core.features.serialization"):
        monkeypatch.setattr(f"{module}.REGISTERED", base.REGISTERED)
    monkeypatch.setattr(base, "_ADOPTED", {})
    register = importlib.import_module("datasets.features.features").register_feature
    register(Frame, "Frame")
    register(Celsius, "Celsius")
    register(Frame, "Frame")  # again, as where a module is reloaded

    features = alias.Features({"frame": Frame(), "t": alias.List(Celsius(digits=1))})
    rows = [{"frame": {"path": "a.mp4", "timestamp": 0.5}, "t": ["20.5°C", "7.0°C"]}, {"frame": None, "t": []}]
    dataset = alias.Dataset.from_list(rows, features=features)
    assert dataset[:] == {"frame": [row["frame"] for row in rows], "t": [row["t"] for row in rows]}
    assert dataset.data.table.schema.field("t").type == pa.list_(pa.float64())
    assert isinstance(dataset.features["frame"], Frame)
    assert dataset.features["frame"] == Frame()
    assert dataset.features["t"].feature == Celsius(digits=1) != Celsius(digits=2)
    assert pickle.loads(pickle.dumps(dataset.features)) == features
    assert dataset.map(lambda row: row, load_from_cache_file=False).features == features
    assert dataset.to_iterable_dataset().features == features

    dataset.save_to_disk(str(tmp_path / "saved"))
    assert alias.load_from_disk(str(tmp_path / "saved"))[:] == dataset[:]
    dataset.to_parquet(str(tmp_path / "a.parquet"))
    read = alias.Dataset.from_parquet(str(tmp_path / "a.parquet"), cache_dir=str(tmp_path / "cache"))
    assert (read.features, read[:]) == (features, dataset[:])
    assert alias.Features.from_dict(features.to_dict()) == features

    with pytest.raises(ConfigurationError, match="already"):
        register(dataclasses.make_dataclass("Other", [], namespace={"pa_type": pa.int8()}), "Frame")
    with pytest.raises(ConfigurationError, match="is not a feature type"):
        register(int, "Int")


@dataclasses.dataclass
class Frame:
    """A feature type as `datasets` has them: no encoding, a struct."""

    pa_type: ClassVar[Any] = pa.struct({"path": pa.string(), "timestamp": pa.float32()})
    _type: str = dataclasses.field(default="Frame", init=False, repr=False)

    def __call__(self) -> pa.DataType:
        return self.pa_type


@dataclasses.dataclass
class Celsius:
    """A feature type as `datasets` has them: with options, encoded and decoded."""

    digits: int = 2
    dtype: ClassVar[str] = "float64"
    pa_type: ClassVar[Any] = pa.float64()
    _type: str = dataclasses.field(default="Celsius", init=False, repr=False)

    def encode_example(self, value: str) -> float:
        return float(value.removesuffix("°C"))

    def decode_example(self, value: float) -> str:
        return f"{value:.{self.digits}f}°C"


def test_what_libraries_take_from_datasets_and_streams(alias: ModuleType, tmp_path: Path) -> None:
    dataset = alias.Dataset.from_dict({"a": [1]})
    assert dataset._get_cache_file_path("12ab").endswith("cache-12ab.arrow")
    dataset.save_to_disk(str(tmp_path / "rows"))
    kept = alias.load_from_disk(str(tmp_path / "rows"))
    assert kept._get_cache_file_path("12ab") == str(tmp_path / "rows" / "cache-12ab.arrow")
    kept.map(lambda row: {"b": 2}, cache_file_name=kept._get_cache_file_path("12ab"), new_fingerprint="12ab")
    assert alias.Dataset.from_file(kept._get_cache_file_path("12ab"))[0] == {"a": 1, "b": 2}
    made = alias.Dataset._build_local_temp_path("s3://some/place")
    assert made.is_absolute()
    assert made.parts[-2:] == ("some", "place")
    stream = dataset.to_iterable_dataset()
    assert stream._formatting is None
    assert stream.with_format("arrow")._formatting.format_type == "arrow"


def test_arrays_of_one_element_are_numbers(alias: ModuleType) -> None:
    """lerobot stores features of shape (1,) as values."""
    features = alias.Features({"done": alias.Value("bool"), "n": alias.Value("int8"), "x": alias.Value("float32")})
    columns = {"done": np.array([[True], [False]]), "n": np.array([[1], [2]]), "x": [np.array([0.5]), np.array([[1.5]])]}
    found = alias.Dataset.from_dict(columns, features=features)
    assert found[:] == {"done": [True, False], "n": [1, 2], "x": [0.5, 1.5]}
    for name in features:
        with pytest.raises(ValueError, match="is not a valid"):
            alias.Dataset.from_dict({name: [np.array([1, 0])]}, features=alias.Features({name: features[name]}))


def test_arrays_of_arrays_fit_a_shape(alias: ModuleType) -> None:
    """A column of pandas that was read from Parquet holds nested lists so."""
    value = np.empty(2, object)
    value[:] = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])]
    features = alias.Features({"grid": alias.Array2D((2, 3), "float32")})
    assert alias.Dataset.from_dict({"grid": [value]}, features=features)[0] == {"grid": [[1, 2, 3], [4, 5, 6]]}
    with pytest.raises(ValueError, match="does not fit"):
        alias.Dataset.from_dict({"grid": [value[:1]]}, features=features)


def test_datasets_of_a_subclass_are_joined(alias: ModuleType) -> None:
    class Tokens(alias.Dataset):  # type: ignore[misc, name-defined]
        def __init__(self, function: Any, rows: Any) -> None:
            super().__init__(rows.map(function, load_from_cache_file=False).data)

    made = [Tokens(lambda row: {"n": row["a"] + 1}, alias.Dataset.from_dict({"a": [i]})) for i in range(2)]
    below = alias.concatenate_datasets(made)
    assert below[:] == {"a": [0, 1], "n": [1, 2]}
    assert type(below) is alias.Dataset
    assert alias.concatenate_datasets([made[0], made[1].rename_columns({"a": "b", "n": "m"})], axis=1)[0] == {
        "a": 0, "n": 1, "b": 1, "m": 2,
    }  # fmt: skip
    assert alias.interleave_datasets(made)["n"][:] == [1, 2]
    assert made[0].select([0]).map(lambda row: {"k": 1}, load_from_cache_file=False)[0] == {"a": 0, "n": 1, "k": 1}


def test_a_format_is_set_again(alias: ModuleType) -> None:
    dataset = alias.Dataset.from_dict({"a": [1], "b": [2]}).with_format("numpy", columns=["a"], dtype="int8")
    assert dataset.with_format("arrow").with_format(**dataset.format).format == dataset.format
    plain = alias.Dataset.from_dict({"a": [1]})
    assert plain.with_format(**plain.format).format == plain.format


def test_pictures_become_bytes(alias: ModuleType) -> None:
    pillow = pytest.importorskip("PIL.Image")
    image = importlib.import_module("datasets.features.image")
    picture = pillow.fromarray(np.full((2, 3, 3), 7, "uint8"))
    found = image.image_to_bytes(picture)
    assert found.startswith(b"\x89PNG")
    assert image.encode_pil_image(picture) == {"path": None, "bytes": found} == image.encode_np_array(np.asarray(picture))


def test_a_function_is_copied(alias: ModuleType) -> None:
    class Metric:
        def compute(self, *, scale: int = 2) -> int:
            """Compute."""
            return scale

    copyfunc = importlib.import_module("datasets.utils.py_utils").copyfunc
    metric = Metric()
    made = copyfunc(metric.compute)
    made.__doc__ += " More."
    assert made(metric) == 2
    assert (made.__doc__, Metric.compute.__doc__) == ("Compute. More.", "Compute.")


# -- the wheel `compat` ------------------------------------------------------------------------------------------------


def _home() -> str:
    metadata = (ROOT / "datasets_core/as_datasets/path/datasets.dist-info/METADATA").read_text()
    return next(line.removeprefix("Home-page: ") for line in metadata.splitlines() if line.startswith("Home-page"))


def test_all_places_name_the_same_version() -> None:
    assert f"url = {_home()}" in (ROOT / "compat/setup.cfg").read_text()
    assert f'version = "{COMPATIBLE_VERSION}"' in (ROOT / "compat/pyproject.toml").read_text()
    metadata = ROOT / "datasets_core/as_datasets/path/datasets.dist-info/METADATA"
    assert f"Version: {COMPATIBLE_VERSION}\n" in metadata.read_text()


@pytest.mark.parametrize(("version", "is_refused"), [("5.2.0", True), ("5.2.0+core.0.1.0", False), (None, False)])
def test_the_wheel_is_not_built_over_another_datasets(
    version: str | None, is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if version is not None:
        (tmp_path / f"datasets-{version}.dist-info").mkdir()
        (tmp_path / f"datasets-{version}.dist-info" / "METADATA").write_text(f"Name: datasets\nVersion: {version}\n")
    spec = importlib.util.spec_from_file_location("compat_backend", ROOT / "compat/backend.py")
    assert spec is not None
    assert spec.loader is not None
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    monkeypatch.setattr(backend.sysconfig, "get_path", lambda name: str(tmp_path))
    if is_refused:
        with pytest.raises(SystemExit, match=r"datasets 5\.2\.0 is installed in .*It is not overwritten"):
            backend._check()
    else:
        backend._check()


def test_nodes_get_shards_where_they_divide_them(alias: ModuleType) -> None:
    stream = alias.IterableDataset.from_dict({"a": list(range(12))}, num_shards=4)
    split = alias.distributed.split_dataset_by_node
    parts = [split(stream, rank, 2) for rank in range(2)]
    assert [each.num_shards for each in parts] == [2, 2]
    assert [list(each["a"]) for each in parts] == [
        [0, 1, 2, 6, 7, 8],
        [3, 4, 5, 9, 10, 11],
    ]
    assert list(split(parts[1], 0, 2)["a"]) == list(split(stream, 2, 4)["a"]) == [6, 7, 8]
    lanes = [list(split(stream, rank, 2, strategy="lanes")["a"]) for rank in range(2)]
    assert lanes == [list(node_split(stream, rank, 2)["a"]) for rank in range(2)]
    uneven = [list(split(stream, rank, 3)["a"]) for rank in range(3)]
    assert uneven == [list(node_split(stream, rank, 3)["a"]) for rank in range(3)]

    examples = split(stream, 1, 2, strategy="examples")
    assert list(split(examples, 0, 2)["a"]) == [2, 6, 10]
    with pytest.raises(ValueError, match="Cannot change the strategy"):
        split(examples, 0, 2, strategy="shards")


def test_the_shares_of_a_node_are_put_together_as_its_share(alias: ModuleType) -> None:
    first, second = (alias.IterableDataset.from_dict({"a": list(range(at, at + 6))}, num_shards=3) for at in (0, 10))
    split, joined = alias.distributed.split_dataset_by_node, alias.concatenate_datasets
    for strategy in ("auto", "examples"):
        shares = [joined([split(each, rank, 2, strategy=strategy) for each in (first, second)]) for rank in range(2)]
        whole = [split(joined([first, second]), rank, 2, strategy=strategy) for rank in range(2)]
        rows = [list(each["a"]) for each in shares]
        assert rows == [list(each["a"]) for each in whole]
        assert sorted(rows[0] + rows[1]) == [*range(6), *range(10, 16)]
    with pytest.raises(ValueError, match="identically split_by_node"):
        joined([split(first, 0, 2), second])
    mapped = split(second, 0, 2).map(lambda row: row)
    assert len(list(joined([split(first, 0, 2), mapped]))) == 6


@pytest.mark.parametrize("first", ["import fsspec, datasets", "import datasets, fsspec"])
def test_fsspec_knows_compressed_files(first: str, tmp_path: Path) -> None:
    for name, opened in (("gz", gzip.open), ("bz2", bz2.open), ("xz", lzma.open)):
        with opened(tmp_path / f"rows.txt.{name}", "wb") as file:
            file.write(b"one\ntwo\n")
    code = f"""
    from datasets_core import as_datasets
    as_datasets.install()
    {first}
    for name, protocol in (("gz", "gzip"), ("bz2", "bz2"), ("xz", "xz")):
        with fsspec.open(f"{{protocol}}://rows.txt::rows.txt.{{name}}", "rt") as file:
            print(file.read().split())
    system, path = fsspec.core.url_to_fs("gzip://rows.txt::rows.txt.gz")
    print(system.isfile(path), system.isfile("other.txt"), system.ls(""))
    print([each.protocol for each in datasets.filesystems.COMPRESSION_FILESYSTEMS])
    """
    lines = _run(textwrap.dedent(code), cwd=tmp_path).split("\n")
    assert lines[:3] == ["['one', 'two']"] * 3
    assert lines[3].startswith("True False [{") and "'name': 'rows.txt'" in lines[3]
    assert lines[4] == "['bz2', 'gzip', 'lz4', 'xz', 'zstd']"


def test_metadata_of_configs_is_written_and_read(tmp_path: Path) -> None:
    infos = internals.DatasetInfosDict(
        {"a": DatasetInfo(features=Features({"x": Value("int32")}), dataset_size=3), "b": DatasetInfo(dataset_size=5)}
    )
    assert internals.DatasetInfosDict.from_directory(tmp_path) == {}
    internals.DatasetInfosDict().write_to_directory(tmp_path)
    assert not list(tmp_path.iterdir())
    infos.write_to_directory(tmp_path)
    found = internals.DatasetInfosDict.from_directory(tmp_path)
    assert {name: (info.features, info.dataset_size) for name, info in found.items()} == {
        "a": ({"x": Value("int32")}, 3),
        "b": (None, 5),
    }
    (tmp_path / "dataset_infos.json").write_text('{"c": {"dataset_size": 7}}')
    internals.DatasetInfosDict({"b": DatasetInfo(dataset_size=6)}).write_to_directory(tmp_path)
    assert {name: info.dataset_size for name, info in internals.DatasetInfosDict.from_directory(tmp_path).items()} == {
        "a": 3,
        "b": 6,
    }
    assert set(json.loads((tmp_path / "dataset_infos.json").read_text())) == {"a", "b"}
    internals.DatasetInfosDict({"b": DatasetInfo(dataset_size=6)}).write_to_directory(tmp_path, overwrite=True)
    assert [*internals.DatasetInfosDict.from_directory(tmp_path)] == ["b"]


def test_files_by_patterns(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "c.txt"):
        (tmp_path / name).write_text("x")
    found = DataFilesDict.from_patterns({"train": ["*.csv"], "test": ["*"]}, tmp_path, allowed_extensions=[".csv"])
    assert found == {split: [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")] for split in ("train", "test")}
    assert len(found["train"].identities) == 2
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        DataFilesList.from_patterns(["nothing.csv"], tmp_path)


# What is as in `datasets` under the alias alone.


class Numbers(datasets_core.GeneratorBasedBuilder):
    """Rows of one split."""

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"a": Value("int64")}))

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        return [datasets_core.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self) -> Iterator[tuple[int, dict[str, int]]]:
        yield from ((number, {"a": number}) for number in range(100))


class Tables(datasets_core.ArrowBasedBuilder):
    """Tables of one split."""

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"a": Value("int64")}))

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        return [datasets_core.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_tables(self) -> Iterator[tuple[int, pa.Table]]:
        yield from ((number, pa.table({"a": range(10 * number, 10 * number + 10)})) for number in range(10))


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
@pytest.mark.parametrize(("kind", "rows"), [(Numbers, 25), (Tables, 10)])
def test_prepared_files_have_their_names_and_rows(
    alias: ModuleType, kind: Any, rows: int, file_format: str, tmp_path: Path
) -> None:
    builder = kind(cache_dir=str(tmp_path / "cache"))
    folder, name = tmp_path / "one", builder.dataset_name
    builder.download_and_prepare(str(folder), file_format=file_format)
    assert [path.name for path in folder.glob(f"*.{file_format}")] == [f"{name}-train.{file_format}"]
    assert builder.as_dataset("train")["a"][:] == [*range(100)]
    assert alias.load_dataset(str(folder), split="train")["a"][:] == [*range(100)]

    assert Path(builder.cache_dir) == tmp_path / "cache" / name / "default" / "0.0.0"
    builder = kind(cache_dir=str(tmp_path / "cache"), writer_batch_size=25)
    builder.download_and_prepare(str(tmp_path / "many"), file_format=file_format, max_shard_size=1)  # of whole batches
    count = 100 // rows
    names = [f"{name}-train-{number:05d}-of-{count:05d}.{file_format}" for number in range(count)]
    assert sorted(path.name for path in (tmp_path / "many").glob(f"*.{file_format}")) == names
    assert builder.info.splits["train"].shard_lengths == [rows] * count
    assert builder.as_dataset("train")["a"][:] == [*range(100)]


def test_a_file_without_a_number_that_was_replaced_is_garbage(alias: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    for _ in range(2):
        builder = Numbers(cache_dir=str(tmp_path / "cache"))
        builder.download_and_prepare(str(folder), download_mode="force_redownload")
    names = [shard["filename"] for shard in builder.as_dataset("train").cache_files]
    (folder / "other-train.arrow").write_bytes(b"of somebody else")
    found = [Path(garbage.path) for garbage in find_garbage(str(folder), min_age_seconds=-60)]
    assert found == [folder / f"{builder.dataset_name}-train.arrow"]
    assert str(found[0]) not in names
    assert builder.as_dataset("train")["a"][:] == [*range(100)]


def test_prepared_files_are_numbered_without_it(tmp_path: Path) -> None:
    builder: Any = Numbers(cache_dir=str(tmp_path / "cache"), writer_batch_size=25)
    builder.download_and_prepare(str(tmp_path / "one"), max_shard_size=800)
    assert len(list((tmp_path / "one").glob("*.arrow"))) == builder.info.splits["train"].num_shards == 1
    assert (tmp_path / "one" / f"{builder.dataset_name}-train-00000-of-00001.arrow").exists()
    builder.download_and_prepare(str(tmp_path / "many"), max_shard_size=1)
    assert builder.info.splits["train"].shard_lengths == [1] * 100


def test_rows_have_the_columns_of_the_first(alias: ModuleType) -> None:
    rows: list[dict[str, Any]] = [{"a": 1}, {"a": 2, "b": "x"}, {"b": "y"}]
    assert alias.Dataset.from_list(rows)[:] == {"a": [1, 2, None]}
    assert alias.Dataset.from_list(rows, on_mixed_types="use_json")[:] == {"a": [1, 2, None]}
    assert alias.Dataset.from_list([*rows, {"b": 1}])[:] == {"a": [1, 2, None, None]}  # whatever other columns hold
    assert rows == [{"a": 1}, {"a": 2, "b": "x"}, {"b": "y"}]
    with pytest.raises(CastError) as caught:
        alias.Dataset.from_list([{"a": 1}, {"a": "x", "b": 1}])
    assert (caught.value.row, caught.value.column) == (1, "a")
    features = Features({"a": Value("int8"), "b": Value("string")})
    assert alias.Dataset.from_list(rows, features=features)["b"][:] == [None, "x", "y"]
    stream = alias.IterableDataset.from_generator(lambda: iter(rows))._resolve_features()
    assert [*stream.features] == ["a", "b"]
    as_datasets.uninstall()
    assert datasets_core.Dataset.from_list(rows)["b"][:] == [None, "x", "y"]


@pytest.mark.parametrize("num_proc", [None, 2])
def test_rows_go_with_their_last_column(alias: ModuleType, num_proc: int | None) -> None:
    dataset = alias.Dataset.from_dict({"a": [1, 2, 3]})
    emptied = dataset.map(lambda row: {}, remove_columns=["a"], num_proc=num_proc)
    assert (len(emptied), emptied.column_names) == (0, [])
    assert len(dataset.map(lambda row: {"b": 1}, remove_columns=["a"], num_proc=num_proc)) == 3
    as_datasets.uninstall()
    assert len(dataset.map(lambda row: {}, remove_columns=["a"], num_proc=num_proc)) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_worker_that_dies_is_told_in_the_words_of_datasets(alias: ModuleType) -> None:
    sentence = "One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing."
    with pytest.raises(RuntimeError) as found:
        alias.Dataset.from_dict({"a": [1, 2]}).map(lambda row: os.kill(os.getpid(), 9), num_proc=2)
    assert str(found.value) == sentence
    assert isinstance(found.value, WorkerDiedError)
    assert "rows" in found.value.__notes__[0] or "row" in found.value.__notes__[0]


@pytest.mark.parametrize(
    "name", ["train.tar", "train.tgz", "train.tar.gz", "zip://train-00000.tar.gz::https://foo.bar/data.zip"]
)
def test_tar_archives_are_not_extracted_in_streams(alias: ModuleType, name: str) -> None:
    url = name if "::" in name else f"https://foo.bar/{name}"
    with pytest.raises(NotImplementedError, match="iter_archive"):
        alias.StreamingDownloadManager().extract({"train": [url]})
    ours = StreamingDownloadManager()
    assert isinstance(ours, alias.StreamingDownloadManager)  # as a builder gets it
    assert not isinstance(alias.DownloadManager(), alias.StreamingDownloadManager)
    assert str(ours.extract(url))


def test_the_size_of_batches_is_a_setting(alias: ModuleType, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr("datasets.config.DEFAULT_MAX_BATCH_SIZE", 3)
        alias.Dataset.from_dict({"a": [*range(10)]}).save_to_disk(str(tmp_path / "saved"))
    assert alias.config.DEFAULT_MAX_BATCH_SIZE == 1000
    found = alias.load_from_disk(str(tmp_path / "saved"))
    assert max(map(len, found.data.to_batches())) == 3
    assert found["a"][:] == [*range(10)]


def test_a_folder_without_a_hash_follows_the_code(alias: ModuleType, tmp_path: Path) -> None:
    def built(number: int) -> Any:
        def rows(self: Any) -> Iterator[tuple[int, dict[str, int]]]:
            yield 0, {"a": number}

        kind = type("Numbers", (Numbers,), {"_generate_examples": rows, "VERSION": "1.0.0"})
        builder = kind(cache_dir=str(tmp_path), dataset_name="numbers", hash=None)
        builder.hash = str(number)  # of other code
        builder.download_and_prepare()
        return builder

    first, second = built(1), built(2)
    assert first.cache_dir == second.cache_dir == str(tmp_path / "numbers" / "default" / "1.0.0")
    assert second.as_dataset("train")["a"][:] == [2]


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_readers_and_writers_of_files(alias: ModuleType, kind: str, tmp_path: Path) -> None:
    module = importlib.import_module(f"datasets.io.{kind}")
    reader, writer = (getattr(module, f"{kind.capitalize()}Dataset{what}") for what in ("Reader", "Writer"))
    path, rows = tmp_path / f"a.{kind}", datasets_core.Dataset.from_dict({"a": [1, 2], "b": ["x", "y"]})
    written = writer(rows, path, num_proc=2 if kind != "parquet" else None).write()
    assert written > 0
    assert (reader.__name__, writer.__name__) == (f"{kind.capitalize()}DatasetReader", f"{kind.capitalize()}DatasetWriter")
    with pytest.raises(ConfigurationError) as caught:
        writer(rows, path, num_proc=0)
    assert caught.value.value == 0
    options = {"cache_dir": tmp_path / "cache"}
    found = reader(str(path), split="test", features=Features({"a": Value("int8"), "b": Value("string")}), **options).read()
    assert (found.split, found.features["a"], found[:]) == ("test", Value("int8"), rows[:])
    assert reader([path], **options).read().split == "train"
    assert list(reader({"x": path, "y": [path]}, **options).read()) == ["x", "y"]
    assert list(reader(path, streaming=True, **options).read()) == list(rows)
    assert list(reader({"x": path}, streaming=True, **options).read()["x"]) == list(rows)
    assert reader(path, keep_in_memory=True, **options).read().cache_files == []
    made = reader(path, **options)
    assert isinstance(made, alias.io.abc.AbstractDatasetReader)
    assert made.builder.info.builder_name == kind


def test_readers_of_texts_functions_and_databases(alias: ModuleType, tmp_path: Path) -> None:
    for name in ("text", "generator", "sql", "abc"):
        importlib.import_module(f"datasets.io.{name}")
    (path := tmp_path / "a.txt").write_text("one\ntwo\n")
    options = {"cache_dir": tmp_path / "cache"}
    assert alias.io.text.TextDatasetReader(path, **options).read()["text"][:] == ["one", "two"]
    assert alias.io.text.TextDatasetReader(path, sample_by="document", **options).read()["text"][:] == ["one\ntwo\n"]
    stream = alias.io.generator.GeneratorDatasetInputStream
    found = stream(_count, gen_kwargs={"stop": 3}, split="test", **options).read()
    assert (found.split, found["n"][:]) == ("test", [0, 1, 2])
    assert list(stream(_count, streaming=True, gen_kwargs={"stop": 2}).read()["n"]) == [0, 1]
    connection = sqlite3.connect(tmp_path / "a.db")
    assert alias.io.sql.SqlDatasetWriter(found, "numbers", connection).write() == 3
    assert alias.io.sql.SqlDatasetReader("numbers", connection, **options).read()[:] == found[:]
    connection.close()
    with pytest.raises(TypeError, match="abstract"):
        alias.io.abc.AbstractDatasetInputStream()


def _count(stop: int) -> Iterator[dict[str, int]]:
    yield from ({"n": n} for n in range(stop))


def test_text_of_databases_is_as_pandas_reads_it(
    alias: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    builders_sql = importlib.import_module("datasets_core.builders.sql")
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("create table t as select 'x' as a, 1 as b, null as c")
    connection.commit()
    uri, features = f"sqlite:///{tmp_path / 'a.db'}", Features({"a": Value("string"), "b": Value("int8"), "c": Value("null")})
    for release, wanted in (("2.3.1", "string"), ("3.0.0", "large_string")):
        monkeypatch.setattr(builders_sql, "version", lambda _, release=release: release)
        found = alias.Dataset.from_sql("t", uri, cache_dir=tmp_path / "cache")
        assert found.features == {"a": Value(wanted), "b": Value("int64"), "c": Value("null")}
        assert found[0] == {"a": "x", "b": 1, "c": None}
        assert alias.Dataset.from_sql("t", uri, features=features, cache_dir=tmp_path / "cache").features == features
    with caplog.at_level("INFO", "datasets_core"):
        alias.Dataset.from_sql("t", uri, cache_dir=tmp_path / "cache")
        assert "hashed properly" not in caplog.text
        alias.Dataset.from_sql("t", connection, cache_dir=tmp_path / "cache")
    assert "con=Connection couldn't be hashed properly" in caplog.text
    connection.close()


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "imagefolder", "videofolder", "fasta", "hdf5", "conll", "xml"])
def test_a_config_takes_only_files_that_were_found(alias: ModuleType, kind: str) -> None:
    module = importlib.import_module(f"datasets.packaged_modules.{kind}.{kind}")
    make = next(value for name in dir(module) if name.endswith("Config") and (value := getattr(module, name)))
    for given in ("a.csv", ["a.csv"], {"train": "a.csv"}, DataFilesList(["a.csv"], [])):
        with pytest.raises(ConfigurationError, match="Expected a DataFilesDict in data_files"):
            make(name="name", data_files=given)
    found = DataFilesDict(train=DataFilesList(["a.csv"], []))
    assert make(name="name", data_files=found).data_files is found
    with pytest.raises(alias.builder.InvalidConfigName, match="Bad characters"):
        make(name="a*b")


def test_features_are_visited_and_aligned(alias: ModuleType) -> None:
    inner = importlib.import_module("datasets.features.features")
    plain, nothing = base.List({"a": Value("string")}), base.List(Value("null"))
    assert inner._align_features([Features(x=nothing), Features(x=plain)]) == [Features(x=plain)] * 2
    assert inner._check_if_features_can_be_aligned([Features(x=plain), Features(y=Value("int8"))])
    with pytest.raises(ValueError, match="'x'"):
        inner._check_if_features_can_be_aligned([Features(x=Value("int8")), Features(x=Value("string"))])
    assert [inner._is_null_feature(each) for each in (Value("null"), nothing, base.LargeList(nothing), plain)] == [
        *(True, True, True, False)
    ]
    seen: list[Any] = []
    assert inner._visit(Features(x=plain), seen.append) == Features(x=plain)
    assert seen == [Value("string"), {"a": Value("string")}, plain, Features(x=plain)]
    assert inner._visit(plain, lambda each: Value("int8") if each == Value("string") else None) == base.List(
        {"a": Value("int8")}
    )
    assert inner._visit(base.List(Value("int8"), length=2), lambda each: 1 if isinstance(each, Value) else None) == base.List(
        1, 2
    )
    with pytest.raises(TypeError, match="1 is not a feature"):
        _ = Features(x=base.List(1)).arrow_schema
    with pytest.raises(TypeError, match="1 is not a feature"):
        Features(x=1)
    for dtype in (pa.decimal256(40, -3), pa.timestamp("ns", "America/New_York"), pa.large_string(), pa.time64("us")):
        assert inner.string_to_arrow(inner._arrow_to_datasets_dtype(dtype)) == dtype
    assert inner._arrow_to_datasets_dtype(pa.dictionary(pa.int32(), pa.string())) == "string"
    with pytest.raises(ValueError, match="list"):
        inner._arrow_to_datasets_dtype(pa.list_(pa.int8()))
    media, labels = base.List({"a": alias.Image()}), base.LargeList(alias.ClassLabel(names=["x"]))
    assert [inner.require_storage_cast(each) for each in (media, labels, plain)] == [True, True, False]
    assert [inner.require_storage_embed(each) for each in (media, labels, plain)] == [True, False, False]


def test_features_become_dicts_with_their_types(alias: ModuleType) -> None:
    asdict = importlib.import_module("datasets.utils.py_utils").asdict
    labels = alias.ClassLabel(names=["x", "y"])
    assert asdict(labels) == {"names": ["x", "y"], "_type": "ClassLabel"}
    generate = importlib.import_module("datasets.features.features").generate_from_dict
    for feature in (labels, alias.Image(decode=False), base.List({"a": labels}), {"a": alias.Array2D((2, 3), "int8")}):
        assert generate(asdict(feature)) == feature
    with pytest.raises(TypeError):
        alias.ClassLabel(names=np.array(["x", "y"]))


class _Named(importlib.import_module("datasets_core.as_datasets.tables").BaseReader):  # type: ignore[misc]
    """Gives each row the name of its file, of 100 rows."""

    def _get_table_from_filename(self, filename_skip_take: dict[str, Any], in_memory: bool = False) -> pa.Table:
        table = pa.table({"file": [Path(filename_skip_take["filename"]).name] * 100})
        skip, take = filename_skip_take.get("skip", 0), filename_skip_take.get("take", -1)
        return table.slice(skip) if take == -1 else table.slice(skip, take)


def test_files_of_splits_are_read_by_instructions(alias: ModuleType, tmp_path: Path) -> None:
    infos = [alias.SplitInfo("train", num_examples=300, shard_lengths=[100] * 3), alias.SplitInfo("test", num_examples=100)]
    reader = _Named(str(tmp_path), DatasetInfo())
    for spec in ("train[50:220]", alias.ReadInstruction("train", from_=50, to=220)):
        found = alias.Dataset(**reader.read("a", spec, infos))
        counts = {"a-train-00000-of-00003": 50, "a-train-00001-of-00003": 100, "a-train-00002-of-00003": 20}
        assert pd.Series(found["file"][:]).value_counts(sort=False).to_dict() == counts
        assert found.split == "train[50:220]"
    found = alias.Dataset(**reader.read("a", "test[:33%]+train[:10]", infos))
    assert found["file"][30:36] == ["a-test"] * 3 + ["a-train-00000-of-00003"] * 3
    with pytest.raises(ConfigurationError) as caught:
        reader.read("a", "test[5:5]", infos)
    assert caught.value.value == "test[5:5]"
    make = importlib.import_module("datasets.arrow_reader").make_file_instructions
    made = make("a", infos, "train[150:]+test", filetype_suffix="arrow", prefix_path="d")
    assert made.num_examples == 250
    assert made.file_instructions == [
        {"filename": os.path.join("d", "a-train-00001-of-00003.arrow"), "skip": 50, "take": -1},
        {"filename": os.path.join("d", "a-train-00002-of-00003.arrow"), "skip": 0, "take": -1},
        {"filename": os.path.join("d", "a-test.arrow"), "skip": 0, "take": 100},
    ]
    for wrong, kind in (("", ValueError), (None, TypeError)):
        with pytest.raises(kind):
            make(wrong, infos, "train")
