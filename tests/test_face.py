"""The public names, and that none of them costs anything before it is used."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import datasets_core

HEAVY = {"pyarrow", "numpy", "fsspec", "huggingface_hub", "pandas", "httpx2", "yaml", "tqdm", "cloudpickle", "torch"}
EXPECTED = {
    "load_dataset", "load_dataset_builder", "load_from_disk", "lock_dataset",
    "builder_from_directory", "builder_from_directories",
    "get_dataset_config_info", "get_dataset_config_names", "get_dataset_default_config_name", "get_dataset_infos",
    "get_dataset_split_names",
    "Dataset", "DatasetDict", "IterableDataset", "IterableDatasetDict", "Column", "IterableColumn",
    "concatenate_datasets", "interleave_datasets", "view",
    "Features", "Value", "ClassLabel", "Sequence", "List", "LargeList", "Array2D", "Array3D", "Array4D", "Array5D",
    "Translation", "TranslationVariableLanguages", "Json",
    "Image", "Audio", "Video", "Pdf", "Nifti", "Mesh", "BioSequence", "BioStructure",
    "BuilderConfig", "DatasetBuilder", "GeneratorBasedBuilder", "ArrowBasedBuilder", "BeamBasedBuilder", "SplitGenerator",
    "DownloadManager", "StreamingDownloadManager", "DownloadConfig", "DownloadMode", "VerificationMode",
    "Split", "NamedSplit", "ReadInstruction", "ReadConfig", "SplitInfo", "SubSplitInfo", "SplitDict",
    "Version", "Experiment", "BlockedVersions", "DatasetInfo",
    "SupervisedKeysData", "DatasetsError", "Hasher",
    "enable_caching", "disable_caching", "is_caching_enabled",
    "enable_progress_bars", "disable_progress_bars", "are_progress_bars_disabled",
    "enable_progress_bar", "disable_progress_bar", "is_progress_bar_enabled",
    "config", "distributed", "errors", "exceptions", "files", "inspect", "load", "logging", "progress",
    "records", "slim", "tfds",
    "even_splits", "split_for_process", "split_for_jax_process", "split_for_torch_process",
    "register_feature", "register_engine", "register_format", "merge_states", "audit",
    "__version__",
}  # fmt: skip


# What a dataset that stands is read without, though a build needs much of it.
BUILDERS_OWN = {
    *("pandas", "torch", "fsspec", "yaml", "httpx2", "huggingface_hub", "tqdm", "cloudpickle", "filelock"),
    *("pyarrow.compute", "pyarrow.csv", "pyarrow.json", "pyarrow.parquet", "pyarrow.dataset", "pyarrow.fs"),
    *("asyncio", "ssl", "http", "urllib.request", "zipfile", "tarfile", "lzma", "bz2", "pydoc", "zoneinfo"),
    *("importlib.metadata", "concurrent.futures", "multiprocessing", "secrets", "shutil"),
    *("datasets_core.building.write.build", "datasets_core.fetch.downloads", "datasets_core.store.writer"),
}
FILES = {
    "csv": "a,b\n1,x\n2,y\n3,z\n",
    "json": '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n{"a": 3, "b": "z"}\n',
    "text": "x\ny\nz\n",
}


def _modules_after(code: str, *folders: Path) -> set[str]:
    script = f"import sys, json\nsys.path[:0] = {list(map(str, folders))}\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("name", sorted(name for name in EXPECTED if callable(getattr(datasets_core, name))))
def test_a_public_name_says_what_it_is_with_an_example(name: str) -> None:
    assert ">>> " in (getattr(datasets_core, name).__doc__ or "")


def test_importing_the_package_loads_no_other_package() -> None:
    assert _modules_after("import datasets_core") & HEAVY == set()


def test_listing_the_names_loads_no_other_package() -> None:
    assert _modules_after("import datasets_core; dir(datasets_core)") & HEAVY == set()


def test_a_light_name_loads_no_heavy_package() -> None:
    assert (
        _modules_after("from datasets_core import Version, ReadInstruction, disable_progress_bars, logging, errors") & HEAVY
        == set()
    )


def test_load_dataset_leaves_optional_and_network_packages_alone() -> None:
    heavy = {"pandas", "torch", "tensorflow", "jax", "fsspec", "httpx2", "yaml", "huggingface_hub"}
    assert _modules_after("from datasets_core import load_dataset") & heavy == set()


@pytest.fixture
def no_pandas(tmp_path: Path) -> Path:
    """A folder whose pandas nobody may import: pyarrow would, for values that it cannot take in otherwise."""
    folder = tmp_path / "no_pandas"
    folder.mkdir()
    (folder / "pandas.py").write_text("raise RuntimeError('pandas was imported')\n")
    return folder


@pytest.mark.parametrize("name", FILES)
def test_a_dataset_that_stands_is_read_without_what_builds_it(name: str, tmp_path: Path, no_pandas: Path) -> None:
    data = tmp_path / "data"
    data.write_text(FILES[name])
    load = f"load_dataset({name!r}, data_files={str(data)!r}, split='train', cache_dir={str(tmp_path)!r})"
    code = f"from datasets_core import load_dataset\nrows = {load}"
    assert "datasets_core.building.write.build" in _modules_after(code)

    reading = f"{code}\nassert rows[1] == list(rows)[1]\nassert len(rows[:2]) == len(rows[2])"

    assert (_modules_after(reading, no_pandas) - _modules_after("import numpy, pyarrow")) & BUILDERS_OWN == set()


def test_a_table_of_python_values_needs_arrow_alone() -> None:
    code = "import datasets_core\nassert datasets_core.Dataset.from_dict({'a': [1, 2], 'b': ['x', 'y']})[1]['a'] == 2"

    assert (_modules_after(code) - _modules_after("import numpy, pyarrow")) & BUILDERS_OWN == set()


def test_the_public_names_are_these() -> None:
    assert set(datasets_core.__all__) == EXPECTED


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_public_name_opens(name: str) -> None:
    assert getattr(datasets_core, name) is not None
    assert name in dir(datasets_core)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = datasets_core.no_such_name
    assert caught.value.name == "no_such_name"


FEATURES = sorted(name for name, home in datasets_core._HOMES.items() if home.startswith("datasets_core.features."))


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_opens_by_the_path_that_scripts_write(name: str) -> None:
    assert getattr(datasets_core.features, name) is getattr(datasets_core, name)


def test_the_face_of_the_features_has_all_of_them_and_opens_none() -> None:
    for_others = ["Feature", "TabularFormat", "register_tabular"]  # packages that add kinds of columns and of frames
    assert sorted(importlib.import_module("datasets_core.features").__all__) == sorted([*FEATURES, *for_others])
    assert _modules_after("import datasets_core.features; dir(datasets_core.features)") & HEAVY == set()


@pytest.mark.parametrize("package", [datasets_core, importlib.import_module("datasets_core.features")])
def test_editors_see_the_names_that_the_table_has(package: ModuleType) -> None:
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: f"{node.module}.{alias.name}" if node.module == "datasets_core" else node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == package._HOMES
