"""What is loaded of each script of this folder, and rows as JSON, by whatever library they were made."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
LOADS: dict[str, list[dict[str, Any]]] = {
    "boxed_objects": [{}],
    "column_steps": [{}],
    "csv_reviews": [{}],
    "dtype_names": [{}],
    "episodes": [{}],
    "held_members": [{}],
    "glued_tasks": [{}, {"config": "mood"}],
    "idx_digits": [{}],
    "inner_modules": [{}],
    "jsonl_answers": [{}, {"config": "lower"}],
    "manual_notes": [{"manual": True}],
    "many_resources": [{}],
    "many_tensors": [{}],
    "optional_parts": [{}],
    "ordered_steps": [{}],
    "parallel_lines": [{}, {"config": "en_to_de"}],
    "record_files": [{}],
    "short_films": [{}],
    "spoken_words": [{}],
    "tagged_words": [{"config": "ner"}, {"config": "conll2003"}],
    "tar_pictures": [{}],
    "told_apart": [{}],
    "two_versions": [{}, {"version": "3.0.0"}],
    "whole_shards": [{}],
    "with_siblings": [{}],
    "zip_scenes": [{}],
}
"""Name → the ways to load it; `same_split_twice`, `needs_tensorflow` and `beam_lines` are loaded by tests of their own."""
LOSSY = frozenset({"lossy"})  # columns of JPEG, whose pixels depend on the decoder
MISSING = {"optional_parts": {"number": -2147483648, "text": ""}}  # what TFDS gives for None


def script(name: str) -> Path:
    """The file of a script."""
    plain = HERE / name / f"{name}.py"
    return plain if plain.exists() else HERE / name / f"{name}_dataset_builder.py"


def title(name: str, load: dict[str, Any]) -> str:
    """What a golden file calls a load."""
    return "-".join([name, *(str(value) for value in load.values() if value is not True)])


def described(row: Any) -> Any:
    """A value as JSON: numbers and texts in nested lists, with their type; pictures as a digest of their pixels."""
    if isinstance(row, dict):
        return {str(name): described(value) for name, value in row.items() if name not in LOSSY}
    if type(row).__module__.startswith("tensorflow_datasets"):  # a dataset in a row
        return described(_stacked(list(row)))
    kind, values = _plain(row)
    if isinstance(values, np.ndarray):
        if values.dtype == np.uint8 and values.ndim >= 3:
            digest = hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
            return {"type": "uint8", "shape": list(values.shape), "sha256": digest}
        values = values.tolist()
    return {"type": "none" if isinstance(values, list) and not values else kind, "values": _texts(values)}


def _stacked(steps: list[Any]) -> Any:
    """Dicts of values as one of lists of them."""
    if steps and isinstance(steps[0], dict):
        return {name: _stacked([step[name] for step in steps]) for name in steps[0]}
    same = len({np.shape(step) for step in steps}) == 1 and not isinstance(steps[0], bytes)
    return np.stack(steps) if same else steps


def _plain(value: Any) -> tuple[str, Any]:
    if hasattr(value, "to_list"):  # ragged
        return str(np.dtype(value.dtype.as_numpy_dtype)), value.to_list()
    if isinstance(value, np.ndarray) and value.dtype == object and any(isinstance(each, np.ndarray) for each in value.flat):
        kinds = {_plain(each)[0] for each in value.flat}
        return "/".join(sorted(kinds)), [_listed(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype), value
    if isinstance(value, list):
        kinds = {_plain(each)[0] for each in value}
        return "/".join(sorted(kinds)) or "none", [_listed(each) for each in value]
    return "object" if isinstance(value, (str, bytes)) else type(value).__name__, value


def _listed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_listed(each) for each in value] if value.dtype == object else value.tolist()
    return [_listed(each) for each in value] if isinstance(value, list) else value


def _texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_texts(each) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.generic):
        return _texts(value.item())
    return repr(value) if isinstance(value, float) else value
