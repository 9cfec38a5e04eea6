from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import MediaNotFoundError, UntrustedPathError
from datasets_core.features.base import LargeList, List, Value
from datasets_core.features.media import media
from datasets_core.features.media.media import MediaPaths, embed_table, has_media
from datasets_core.features.media.types import Image, Pdf
from datasets_core.features.schema import Features

FEATURES = Features(
    {"n": Value("int8"), "a": Image(), "b": List(Image()), "c": {"d": LargeList({"e": Pdf()}), "n": Value("int8")}}
)


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    """Ten files; file `i` holds `i` bytes."""
    for i in range(10):
        (tmp_path / f"{i}.png").write_bytes(b"x" * i)
    return [str(tmp_path / f"{i}.png") for i in range(10)]


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    return Dataset.from_list(rows, features=FEATURES).data


def whole(i: int) -> dict[str, Any]:
    return {"bytes": b"x" * i, "path": f"{i}.png"}


def test_every_file_of_a_table_is_embedded_however_deep_it_is_nested(places: list[str]) -> None:
    rows: list[dict[str, Any]] = [
        {"n": i, "a": place, "b": [place, None, {"bytes": b"y", "path": "z"}], "c": {"d": [{"e": place}], "n": 1}}
        for i, place in enumerate(places)
    ]
    table = embed_table(table_of([*rows, {"n": 3}]), FEATURES)
    table.validate(full=True)
    assert Features.from_arrow_schema(table.schema) == FEATURES
    inside = {"bytes": b"y", "path": "z"}
    assert table.to_pylist() == [
        *({"n": i, "a": whole(i), "b": [whole(i), None, inside], "c": {"d": [{"e": whole(i)}], "n": 1}} for i in range(10)),
        {"n": 3, "a": None, "b": None, "c": None},
    ]


def test_large_files_go_into_arrays_of_bounded_size(places: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "_CHUNK_BYTES", 10)
    table = embed_table(table_of([{"a": place} for place in places]), FEATURES)
    assert table.column("a").to_pylist() == [whole(i) for i in range(10)]
    assert table.column("a").num_chunks > 3


def test_local_files_or_urls_can_be_left_as_they_are(places: list[str]) -> None:
    table = table_of([{"a": places[2]}, {"a": "https://x.org/a.png"}])
    left = embed_table(table, FEATURES, local_files=False, remote_files=False)
    assert left.column("a").to_pylist() == [{"bytes": None, "path": places[2]}, {"bytes": None, "path": "https://x.org/a.png"}]
    half = embed_table(table, FEATURES, remote_files=False)
    assert half.column("a").to_pylist() == [whole(2), {"bytes": None, "path": "https://x.org/a.png"}]


def test_files_that_may_not_be_opened_are_not_embedded(places: list[str]) -> None:
    table = table_of([{"a": places[1]}, {"a": "/etc/passwd"}])
    with pytest.raises(UntrustedPathError, match="Row 1, column 'a'"):
        embed_table(table, FEATURES, paths=MediaPaths((places[0].rpartition("/")[0],)))
    with pytest.raises(MediaNotFoundError, match=r"Row 1, column 'b'.*nothing"):
        embed_table(table_of([{"b": [None, None]}, {"b": [None, "nothing.png"]}]), FEATURES)


def test_one_array_is_embedded_as_the_feature_says(places: list[str]) -> None:
    array = pa.array([places[1], None])
    image = Image()
    assert image.embed_storage(image.cast_storage(array)).to_pylist() == [whole(1), None]


def test_media_are_found_wherever_they_are_nested() -> None:
    assert [has_media(FEATURES[name]) for name in "nabc"] == [False, True, True, True]
