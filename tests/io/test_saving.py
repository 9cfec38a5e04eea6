"""Rows into the files of a saved dataset: which are copied, which are written, and how many."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.io.save_to_disk import Shards, described, write_rows
from datasets_core.store.shard import FileShard


def _mapped(folder: Path, rows: int = 100) -> Dataset:
    table = pa.table({"a": pa.array(range(rows), pa.int64()), "s": [f"row {i}" for i in range(rows)]})
    with pa.ipc.new_file(str(folder / "source.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=30)
    return Dataset.from_file(folder / "source.arrow")


def _rows(folder: Path, names: list[str]) -> list[int]:
    found: list[int] = []
    for name in names:
        with pa.ipc.open_stream(pa.memory_map(str(folder / name))) as reader:
            found += reader.read_all().column("a").to_pylist()
    return found


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder."""
    made = tmp_path / "out"
    made.mkdir()
    return made


def test_a_whole_file_is_copied_with_its_batches(tmp_path: Path, out: Path) -> None:
    (shard,) = write_rows(_mapped(tmp_path), str(out), Shards())
    assert shard.batches == (30, 30, 30, 10)
    assert shard.size == (out / shard.name).stat().st_size
    assert _rows(out, [shard.name]) == list(range(100))


def test_a_part_a_turn_and_another_kind_are_written(tmp_path: Path, out: Path) -> None:
    whole = _mapped(tmp_path)
    labelled = whole.cast_column("a", ClassLabel(num_classes=100))
    for number, (dataset, rows) in enumerate(
        {
            whole.select(range(5, 50)): list(range(5, 50)),
            whole.select([7, 3, 99]): [7, 3, 99],
            whole.remove_columns("s"): list(range(100)),
            labelled: list(range(100)),
        }.items()
    ):
        folder = out / str(number)
        folder.mkdir()
        shards = write_rows(dataset, str(folder), Shards())
        assert _rows(folder, [shard.name for shard in shards]) == rows
        with pa.ipc.open_stream(pa.memory_map(str(folder / shards[0].name))) as reader:
            assert Features.from_arrow_schema(reader.schema) == dataset.features


def test_the_first_files_have_the_rows_that_are_left_over(out: Path) -> None:
    dataset = Dataset.from_dict({"a": list(range(8))})
    shards = write_rows(dataset, str(out), Shards.of(None, 3, 2))
    assert [sum(shard.batches or ()) for shard in shards] == [3, 3, 2]
    assert [shard.name for shard in shards] == [f"data-0000{i}-of-00003.arrow" for i in range(3)]
    assert _rows(out, [shard.name for shard in shards]) == list(range(8))


def test_dictionaries_are_stored_plain(out: Path) -> None:
    table = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
    (shard,) = write_rows(Dataset(table, None), str(out), Shards())
    with pa.ipc.open_stream(pa.memory_map(str(out / shard.name))) as reader:
        assert reader.schema.field("a").type == pa.string()


def test_no_rows_make_one_file(out: Path) -> None:
    (shard,) = write_rows(Dataset.from_dict({"a": []}, features=Features({"a": Value("int8")})), str(out), Shards())
    assert _rows(out, [shard.name]) == []


def test_a_format_that_no_file_can_hold_is_refused() -> None:
    dataset = Dataset.from_dict({"a": [1]})
    dataset._format = type(dataset._format)("arrow", kwargs={"f": print})
    with pytest.raises(ArgumentTypeError, match="reset_format"):
        described(dataset, ())


def test_numbers_without_a_meaning_are_refused() -> None:
    for arguments in ((1, 1, None), (None, 0, None), (None, True, None), (None, None, 0), ("many", None, None)):
        with pytest.raises(ConfigurationError):
            Shards.of(*arguments)  # type: ignore[arg-type]
    assert Shards.of("1KB", None, None) == Shards(None, 1000, None)


def test_a_stream_is_copied_as_it_is(tmp_path: Path, out: Path) -> None:
    write_rows(_mapped(tmp_path), str(out), Shards())
    again = Dataset.from_file(next(out.glob("*.arrow")))
    assert isinstance(again._table.whole_files()[0], FileShard)  # type: ignore[index]
    second = tmp_path / "second"
    second.mkdir()
    (shard,) = write_rows(again, str(second), Shards())
    assert (second / shard.name).read_bytes() == next(out.glob("*.arrow")).read_bytes()


@pytest.mark.optional("PIL")
def test_the_bytes_of_pictures_go_into_the_rows(tmp_path: Path) -> None:
    from PIL import Image as Picture

    from datasets_core.features.media.types import Image

    Picture.new("RGB", (2, 2)).save(tmp_path / "red.png")
    paths = [str(tmp_path / "red.png"), None]
    pictures = Dataset.from_dict({"image": paths}, features=Features({"image": Image(decode=False)}))
    pictures.save_to_disk(tmp_path / "set")
    content = (tmp_path / "red.png").read_bytes()
    (tmp_path / "red.png").unlink()
    assert Dataset.load_from_disk(tmp_path / "set")[:] == {"image": [{"bytes": content, "path": "red.png"}, None]}
