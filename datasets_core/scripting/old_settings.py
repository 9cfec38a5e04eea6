"""What `datasets.config` calls the settings of the library: read when they are asked for, and never changed from there."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from datasets_core.config import settings
from datasets_core.optional import is_installed

_PLAIN: dict[str, Any] = {
    "ARROW_READER_BATCH_SIZE_IN_DATASET_ITER": 10,
    "DATASET_ARROW_FILENAME": "dataset.arrow",
    "DATASET_INDICES_FILENAME": "indices.arrow",
    "DATASET_INFO_FILENAME": "dataset_info.json",
    "DATASETDICT_INFOS_FILENAME": "dataset_infos.json",
    "DATASETDICT_JSON_FILENAME": "dataset_dict.json",
    "DATASET_STATE_JSON_FILENAME": "state.json",
    "DEFAULT_IN_MEMORY_MAX_SIZE": 0,
    "DEFAULT_MAX_BATCH_SIZE": 1000,
    "HF_DATASETS_MULTITHREADING_MAX_WORKERS": 16,
    "HUB_DEFAULT_VERSION": "main",
    "LICENSE_FILENAME": "LICENSE",
    "MAX_ROW_GROUP_SIZE": "100MB",
    "MAX_SHARD_SIZE": "500MB",
    "MAX_TABLE_NBYTES_FOR_PICKLING": 4 << 30,
    "METADATA_CONFIGS_FIELD": "configs",
    "PARQUET_ROW_GROUP_SIZE_FOR_AUDIO_DATASETS": 100,
    "PARQUET_ROW_GROUP_SIZE_FOR_BINARY_DATASETS": 100,
    "PARQUET_ROW_GROUP_SIZE_FOR_IMAGE_DATASETS": 100,
    "REPOCARD_FILENAME": "README.md",
    "REPOYAML_FILENAME": ".huggingface.yaml",
    "STREAMING_OPEN_MAX_RETRIES": 20,
    "STREAMING_OPEN_RETRY_INTERVAL": 5,
    "STREAMING_READ_MAX_RETRIES": 20,
    "STREAMING_READ_RATE_LIMIT_RETRY_INTERVAL": 60,
    "STREAMING_READ_RETRY_INTERVAL": 5,
    "STREAMING_READ_SERVER_UNAVAILABLE_RETRY_INTERVAL": 20,
    "TEMP_CACHE_DIR_PREFIX": "hf_datasets-",
    "UPLOADS_MAX_NUMBER_PER_COMMIT": 50,
}
_PACKAGES = {
    "BEAM": "apache_beam", "BIOPYTHON": "Bio", "DILL": "dill", "DUCKDB": "duckdb", "FSSPEC": "fsspec",
    "HF_HUB": "huggingface_hub", "JAX": "jax", "LZ4": "lz4", "NIBABEL": "nibabel", "PANDAS": "pandas",
    "PDFPLUMBER": "pdfplumber", "PIL": "PIL", "POLARS": "polars", "PY7ZR": "py7zr", "PYARROW": "pyarrow",
    "RARFILE": "rarfile", "SQLALCHEMY": "sqlalchemy", "TF": "tensorflow", "TORCH": "torch", "TORCHCODEC": "torchcodec",
    "TORCHVISION": "torchvision", "TRIMESH": "trimesh", "ZSTANDARD": "zstandard",
}  # fmt: skip
_LIVE: dict[str, Callable[[], Any]] = {
    "DOWNLOADED_DATASETS_PATH": lambda: Path(settings().downloads_dir),
    "EXTRACTED_DATASETS_PATH": lambda: Path(settings().extracted_dir),
    "HF_CACHE_HOME": lambda: Path(settings().cache_dir).parent,
    "HF_DATASETS_CACHE": lambda: Path(settings().cache_dir),
    "HF_DATASETS_OFFLINE": lambda: settings().offline,
    "HF_ENDPOINT": lambda: settings().hub_endpoint,
    "HF_HUB_OFFLINE": lambda: settings().offline,
    "HF_MODULES_CACHE": lambda: str(Path(settings().cache_dir).parent / "modules"),
    "IN_MEMORY_MAX_SIZE": lambda: float(settings().max_memory_bytes),
    "PY_VERSION": lambda: _parsed(".".join(map(str, sys.version_info[:3]))),
}


def __getattr__(name: str) -> Any:
    """A setting by its old name."""
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _LIVE:
        return _LIVE[name]()
    what, _, kind = name.rpartition("_")
    if what in _PACKAGES and kind == "AVAILABLE":
        return is_installed(_PACKAGES[what])
    if what in _PACKAGES and kind == "VERSION":
        return _release(_PACKAGES[what])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    about = [f"{what}_{kind}" for what in _PACKAGES for kind in ("AVAILABLE", "VERSION")]
    return sorted([*_PLAIN, *_LIVE, *about])


def _release(package: str) -> Any:
    """The version of a package; "N/A" where it is not installed, as scripts expect it."""
    try:
        return _parsed(importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return "N/A"


def _parsed(text: str) -> Any:
    from packaging.version import parse  # 5 ms that only a script which asks for a version pays

    return parse(text)
