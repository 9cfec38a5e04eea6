"""Datasets of every kind of column, and a viewer that answers."""

import http.client
import io
import json
import struct
import wave as wav
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core import Array2D, Audio, ClassLabel, Dataset, Features, Image, List, Pdf, Value
from datasets_core.viewer.opening import Opened, open_rows
from datasets_core.viewer.server import Viewer


def png(width: int = 40, height: int = 30, colour: str = "teal") -> bytes:
    from PIL import Image as Pillow

    sink = io.BytesIO()
    Pillow.new("RGB", (width, height), colour).save(sink, "PNG")
    return sink.getvalue()


def sound(seconds: float = 0.5, rate: int = 8000) -> bytes:
    sink = io.BytesIO()
    with wav.open(sink, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        tone = (8000 * np.sin(np.arange(int(seconds * rate)) / 8)).astype("<i2")
        file.writeframes(tone.tobytes())
    return sink.getvalue()


def huge_png() -> bytes:
    """The head of a picture of 50,000 x 50,000 pixels."""
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 10)) + chunk(b"IEND", b"")


PDF = (
    b"%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]>>endobj\ntrailer<</Root 1 0 R>>\n"
)
ATTACK = "<script>window.hurt=1</script><img src=x onerror='window.hurt=1'>"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='window.hurt=1'><script>window.hurt=1</script></svg>"


def every_kind() -> Dataset:
    """Three rows of every kind of column."""
    features = Features(
        {
            "number": Value("float64"),
            "count": Value("int64"),
            "flag": Value("bool"),
            "label": ClassLabel(names=["cat", "dog"]),
            "text": Value("string"),
            "when": Value("timestamp[s]"),
            "data": Value("binary"),
            "words": List(Value("string")),
            "nested": {"a": Value("int32"), "b": List({"c": Value("string")})},
            "chat": List({"role": Value("string"), "content": Value("string")}),
            "grid": Array2D((2, 3), "float32"),
            "picture": Image(),
            "boxes": List(List(Value("float32"))),
            "sound": Audio(),
            "paper": Pdf(),
        }
    )
    rows = [
        {
            "number": 1.5, "count": 2**60, "flag": True, "label": 0, "text": "שלום " + "x" * 900, "when": 0,
            "data": b"\x00\xff", "words": ["one", "two"], "nested": {"a": 1, "b": [{"c": "deep"}]},
            "chat": [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Good day."}],
            "grid": [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], "picture": {"bytes": png(), "path": "teal.png"},
            "boxes": [[4, 4, 10, 10]], "sound": {"bytes": sound(), "path": "tone.wav"},
            "paper": {"bytes": PDF, "path": "a.pdf"},
        },
        {
            "number": float("nan"), "count": 3, "flag": False, "label": 1, "text": "", "when": 86_400, "data": b"", "words": [],
            "nested": {"a": None, "b": []}, "chat": [], "grid": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
            "picture": {"bytes": b"no picture", "path": "bad.png"}, "boxes": [],
            "sound": {"bytes": b"no sound", "path": "bad.wav"}, "paper": {"bytes": b"no paper", "path": "bad.pdf"},
        },
        dict.fromkeys(features),
    ]  # fmt: skip
    return Dataset.from_list(rows, features=features)


def numbers(rows: int = 1000) -> Dataset:
    random = np.random.default_rng(3)
    return Dataset(
        pa.table(
            {
                "i": pa.array(np.arange(rows)),
                "x": pa.array(random.normal(size=rows), from_pandas=False),
                "kind": pa.array(np.array(["low", "mid", "high"])[np.arange(rows) % 3]),
                "half": pa.array([None if n % 2 else n for n in range(rows)], pa.int32()),
                "text": pa.array([f"row {n} {'y' * (n % 40)}" for n in range(rows)]),
            }
        )
    )


class Client:
    """A browser without a page: it asks a viewer."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.token = viewer.url.rpartition("token=")[2]

    def get(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.viewer.port, timeout=30)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if "authorization" not in given and "cookie" not in given:
            given["authorization"] = f"Bearer {self.token}"
        try:
            connection.request(method, path, body, {name: value for name, value in given.items() if value})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def ask(self, name: str, **asked: Any) -> Any:
        status, headers, data = self.get(f"/api/{name}", "POST", json.dumps(asked), content_type="application/json")
        if headers["content-type"].startswith("application/vnd.apache.arrow"):
            return pa.ipc.open_stream(data).read_all()
        found = json.loads(data)
        return found if status == 200 else (status, found["error"])


@pytest.fixture
def serve() -> Iterator[Callable[..., Client]]:
    """Starts viewers of datasets, and ends them."""
    running: list[Viewer] = []

    def start(given: Any, other: Any = None) -> Client:
        opened = given if isinstance(given, Opened) else open_rows(given, other)
        running.append(Viewer(opened).start())
        return Client(running[-1])

    yield start
    for viewer in running:
        viewer.close()


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "birds" / "birds.csv"
    path.parent.mkdir()
    path.write_text("name,mass\nalba,3\nbrno,4\nciro,5\n")
    return str(path)
