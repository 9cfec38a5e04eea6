"""How each script of the corpus is loaded, and what came of it as JSON: the same text for Hugging Face `datasets` and for us.

`scripts/corpus_golden.py` runs this with that library, in an interpreter that has it, and writes `golden/<name>.json`;
`tests/flows/test_corpus.py` runs it with ours and compares.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import hashlib
import os
import threading
import urllib.parse
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LONG = 2000  # longer texts stand in a golden file by their digest

_NO_CHECKS = {"verification_mode": "no_checks"}
_BASE = {"data_dir": "{base}"}
_FEATURES = {"a": {"dtype": "float32", "_type": "Value"}, "b": {"dtype": "large_string", "_type": "Value"}}

# What is loaded of a script: a list of arguments of load_dataset.  Without an entry, each config alone.
# {here} is the script's folder, {base} the URL of its folder `served`.
CALLS: dict[str, list[dict[str, Any]]] = {
    "config_data_files": [
        {"data_files": {"train": ["{here}/given/a.txt", "{here}/given/b.txt"], "test": "{here}/given/b.txt"}},
        {"data_files": "{here}/given/a.txt"},
        {},
    ],
    "config_from_data_dir": [{"name": "own"}, {"name": "given", "data_dir": "{here}/elsewhere"}],
    "config_options": [
        {},
        {"name": "loud"},
        {"name": "loud", "words": ["rum"], "suffix": "?"},
        {"words": ["a", "b"], "times": {"a": 2}, "upper": True},
        {"name": "plain", "words": []},
    ],
    "config_without_configs": [{}, {"start": 5, "stop": 8}, {"name": "named", "labels": ["x", "y"]}],
    "default_config": [{}, {"name": "small"}, {"name": "medium"}, {"name": "enormous"}],
    "http_and_local": [_BASE],
    "http_archive": [{"name": "tar", "base_url": "{base}"}, {"name": "zip", "base_url": "{base}"}],
    "http_many": [_BASE],
    "http_missing": [{"name": "caught", **_BASE}, {"name": "raised", **_BASE}],
    "http_pictures": [_BASE],
    "http_plain": [_BASE],
    "http_query": [{"name": name, **_BASE} for name in ("zip", "gz", "plain", "redirected")],
    "http_rewritten": [{"name": name, **_BASE} for name in ("beside", "over", "in_folder")],
    "http_shards": [{"base_url": "{base}"}, {"base_url": "{base}", "count": 1}],
    "init_overridden": [{}, {"name": "a"}],
    "keys_without_checks": [{"name": name, **_NO_CHECKS} for name in ("tuple", "numpy", "float", "twice", "restarted")]
    + [{"name": name} for name in ("twice", "restarted")],
    "manual_folder": [{"data_dir": "{here}/by_hand"}, {"data_dir": "{here}"}, {}],
    "names-with_both.v1-2k": [{"name": "de"}, {"name": "it"}, {}],
    "recorded_infos": [
        {"name": "right"},
        {"name": "not_recorded"},
        {"name": "more_rows"},
        {"name": "more_rows", **_NO_CHECKS},
        {"name": "more_splits"},
        {"name": "right", "verification_mode": "all_checks"},
    ],
    "two_tongues": [
        {"name": "da-nl"},
        {"name": "da-cy"},
        {"name": "nl-da", "language_pair": ["nl", "da"]},
        {"language_pair": ["da", "cy"]},
    ],
    "user_features": [{}, {"features": _FEATURES}],
}
NEEDS = {
    "conllu_trees": "conllu",
    "excel_sheets": "openpyxl",
    "lxml_pages": "lxml",
    "pandas_chunks": "pandas",
    "picture_values": "PIL",
    "soup_pages": "bs4",
    "sound_values": "soundfile",
    "zst_lines": "zstandard",
}
NEEDS |= dict.fromkeys(("folder_labels", "http_pictures", "tile_pictures"), "PIL") | {"spoken_words": "soundfile"}


def names() -> list[str]:
    """The names of all scripts."""
    return sorted(path.name for path in HERE.iterdir() if (path / f"{path.name}.py").exists())


def script(name: str) -> str:
    return str(HERE / name / f"{name}.py")


def filled(call: Any, here: str, base: str) -> Any:
    """A call with the places that are known only when it is made."""
    if isinstance(call, str):
        return call.replace("{here}", here).replace("{base}", base)
    if isinstance(call, dict):
        return {key: filled(value, here, base) for key, value in call.items()}
    return [filled(value, here, base) for value in call] if isinstance(call, list) else call


def arguments(library: Any, name: str, call: dict[str, Any], server: str) -> dict[str, Any]:
    """The keyword arguments of load_dataset for one call."""
    found = filled(call, str(HERE / name), f"{server}/{name}")
    if "features" in found:
        found["features"] = library.Features.from_dict(found["features"])
    return found


# -- what came of it ---------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value as JSON that tells its type; media by digest and name, long texts by digest.

    >>> plain([1, 1.0, b"a", {"bytes": b"a", "path": "/x/y.png"}])
    [1, 1.0, {'$bytes': '61'}, {'$media': 'ca978112ca1b', 'name': 'y.png'}]
    """
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, str):
        short = len(value) <= LONG
        return value if short else {"$long": len(value), "sha256": hashlib.sha256(value.encode()).hexdigest()}
    if isinstance(value, dict) and sorted(value) == ["bytes", "path"]:
        return _media(value["bytes"], value["path"])
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, decimal.Decimal):
        return {"$decimal": str(value)}
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return {f"${'datetime' if isinstance(value, dt.datetime) else type(value).__name__}": value.isoformat()}
    if isinstance(value, dt.timedelta):
        return {"$seconds": value.total_seconds()}
    if type(value).__module__ == "numpy" and not getattr(value, "shape", None):
        return plain(value.item())  # half floats are scalars of numpy
    return [plain(inner) for inner in value]


def _media(content: bytes | None, path: str | None) -> Any:
    if content is None and path is not None:
        content = Path(path).read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:12] if content is not None else None
    return {"$media": digest, "name": os.path.basename(path) if path else None}


def has_media(feature: Any) -> bool:
    """Whether an image or a sound is somewhere in a feature."""
    if isinstance(feature, dict):
        return any(has_media(inner) for inner in feature.values())
    if isinstance(feature, (list, tuple)):
        return has_media(feature[0])
    if type(feature).__name__ in ("Image", "Audio"):
        return True
    inner = getattr(feature, "feature", None)
    return inner is not None and has_media(inner)


def rows(dataset: Any) -> list[Any]:
    """All rows as they come out of a dataset; columns that hold media as they are stored."""
    media = [name for name, feature in dataset.features.items() if has_media(feature)]
    if not media:
        return [plain(row) for row in dataset]
    stored = dataset.with_format("arrow")[:].select(media).to_pylist()
    rest = dataset.remove_columns(media)
    others = list(rest) if rest.column_names else [{}] * len(stored)
    return [
        {name: plain((a if name in a else b)[name]) for name in dataset.features} for a, b in zip(stored, others, strict=True)
    ]


def decoded(dataset: Any) -> list[Any]:
    """The pictures and sounds of the top columns, decoded: their sizes, and the first numbers."""
    import numpy as np

    found = []
    for name, feature in dataset.features.items():
        for row in dataset.select_columns([name]) if type(feature).__name__ in ("Image", "Audio") else ():
            value = row[name]
            if value is None:
                found.append(None)
            elif type(feature).__name__ == "Image":
                array = np.array(value)
                found.append([value.mode, list(value.size), hashlib.sha256(array.tobytes()).hexdigest()[:12]])
            else:
                array = np.asarray(value["array"])
                found.append([value["sampling_rate"], list(array.shape)])
    return found


def described(group: Any, empty: Sequence[str] = ()) -> dict[str, Any]:
    """What load_dataset gave, as JSON; with the names of splits that have no rows, where they are no datasets."""
    if not group:
        return {"splits": {str(split): {"num_rows": 0, "rows": []} for split in empty}}
    first = max(group.values(), key=len)
    info, schema = first.info, first.with_format("arrow")[:].schema if len(first) else first.data.schema
    found = {
        "config_name": info.config_name,
        "version": str(info.version),
        "description": info.description,
        "citation": info.citation,
        "homepage": info.homepage,
        "license": info.license,
        "supervised_keys": [info.supervised_keys.input, info.supervised_keys.output] if info.supervised_keys else None,
        "features": first.features.to_dict(),
        "types": {field.name: str(field.type) for field in schema if "extension" not in str(field.type)},
        "splits": {str(split): {"num_rows": dataset.num_rows, "rows": rows(dataset)} for split, dataset in group.items()}
        | {str(split): {"num_rows": 0, "rows": []} for split in empty},
    }
    if any(has_media(feature) for feature in first.features.values()):
        found["decoded"] = {str(split): decoded(dataset) for split, dataset in group.items()}
    return found


# -- the server --------------------------------------------------------------------------------------------------------


class _Handler(BaseHTTPRequestHandler):
    """Serves `/<script>/<file>` out of `<script>/served/`; `/moved/...` sends there, `/<script>/get?name=...` has no ending."""

    def do_GET(self) -> None:
        self._answer(True)

    def do_HEAD(self) -> None:
        self._answer(False)

    def _answer(self, whole: bool) -> None:
        parsed = urllib.parse.urlsplit(self.path)
        parts = [urllib.parse.unquote(part) for part in parsed.path.split("/")[1:]]
        if parts[0] == "moved":
            self.send_response(302)
            self.send_header("Location", "/" + "/".join(parts[1:]))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        name = urllib.parse.parse_qs(parsed.query)["name"][0] if parts[-1] == "get" else parts[-1]
        path = HERE / parts[0] / "served" / name
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.end_headers()
        if whole:
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The URL of a server for the files that scripts fetch."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
