"""Calls on the Hub by either library, and what comes of them as JSON; the interpreter of the other library runs this file."""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from pathlib import Path
from typing import Any


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": hashlib.sha256(value).hexdigest()[:16]}
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "getexif"):  # a picture
        return {"image": [*value.size, value.mode, hashlib.sha256(value.tobytes()).hexdigest()[:16]]}
    if isinstance(value, float):
        return {"float": repr(value)}
    return value if value is None or isinstance(value, (bool, int, str)) else repr(value)


def _without_sound(library: Any, dataset: Any) -> Any:
    """The dataset with encoded sound: what decodes it is not everywhere."""
    for name, feature in dataset.features.items() if dataset.features else ():
        if type(feature).__name__ == "Audio":
            dataset = dataset.cast_column(name, library.Audio(decode=False))
    return dataset


def _sound(value: Any) -> Any:
    """What an encoded sound holds, wherever it is."""
    if isinstance(value, dict) and set(value) == {"bytes", "path"}:
        content = value["bytes"] if value["bytes"] is not None else Path(value["path"]).read_bytes()
        return {"sound": hashlib.sha256(content).hexdigest()[:16]}
    return value


def described(library: Any, dataset: Any) -> Any:
    """Rows and features; and those of each split, if there are several."""
    if isinstance(dataset, dict):
        return {split: described(library, each) for split, each in dataset.items()}
    if isinstance(dataset, list):
        return [described(library, each) for each in dataset]
    features = json.loads(json.dumps(dataset.features.to_dict())) if dataset.features else None
    rows = [
        _plain({name: _sound(value) for name, value in row.items() if name != "__url__"})  # the path of a file
        for row in _without_sound(library, dataset)
    ]
    return {"features": features, "rows": rows}


def _rooted(value: Any, root: str) -> Any:
    if isinstance(value, dict):
        return {key: _rooted(inner, root) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rooted(inner, root) for inner in value]
    return value.replace("HUB", root) if isinstance(value, str) else value


def _load(library: Any, repo: str, **arguments: Any) -> Any:
    return described(library, library.load_dataset(repo, **arguments))


def _stream(library: Any, repo: str, **arguments: Any) -> Any:
    found = library.load_dataset(repo, streaming=True, **arguments)
    splits = found if isinstance(found, dict) else {"": found}
    return {
        name: [_plain({key: value for key, value in row.items() if not key.startswith("__")}) for row in split]
        for name, split in splits.items()
    }


def _formatted(library: Any, repo: str, *, path: str, **arguments: Any) -> Any:
    return described(library, library.load_dataset(path, **arguments))


def _names(library: Any, repo: str) -> Any:
    names = library.get_dataset_config_names(repo)
    infos = library.get_dataset_infos(repo)
    return {
        "configs": names,
        "default": library.get_dataset_default_config_name(repo),
        "splits": {name: library.get_dataset_split_names(repo, name) for name in names},
        "infos": {
            name: {
                "features": info.features and json.loads(json.dumps(info.features.to_dict())),
                "splits": info.splits and list(info.splits),
            }
            for name, info in infos.items()
        },
    }


def _builder(library: Any, repo: str, **arguments: Any) -> Any:
    made = library.load_dataset_builder(repo, **arguments)
    info = made.info
    return {
        "config": made.config.name,
        "dataset": made.dataset_name,
        "features": info.features and json.loads(json.dumps(info.features.to_dict())),
        "splits": info.splits and {name: [each.num_examples, each.num_bytes] for name, each in info.splits.items()},
        "sizes": [info.download_size, info.dataset_size],
    }


ACTS = {"load": _load, "stream": _stream, "formatted": _formatted, "names": _names, "builder": _builder}


def outcome(library: Any, what: str, repo: str, arguments: dict[str, Any]) -> Any:
    """What a call gives: a value, or the builtin kinds of the exception that it raises."""
    try:
        return {"found": ACTS[what](library, repo, **_rooted(arguments, f"hf://datasets/{repo}"))}
    except Exception as error:  # which one is the outcome
        builtin = [each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins"]
        return {"error": builtin[0], "message": f"{type(error).__name__}: {error}"}


def _answer() -> None:
    library = importlib.import_module(sys.argv[1])
    library.disable_progress_bars()
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        what, repo, arguments = json.loads(line)
        answers.write(json.dumps(outcome(library, what, repo, arguments)) + "\n")
        answers.flush()


if __name__ == "__main__":
    _answer()
