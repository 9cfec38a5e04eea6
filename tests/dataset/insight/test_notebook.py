"""A dataset is taken by other tools as an Arrow stream, without a copy, and tells what is in it."""

import html.parser
import io
import struct
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.combine import interleave_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.dataset.insight.notebook import bounded, dataset_html, fallback_html, group_html
from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.features.base import Feature, List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel
from datasets_core.load import load_dataset
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict

FEATURES = Features(
    {
        "n": Value("int32"),
        "label": ClassLabel(names=["a", "b"]),
        "grid": Array2D((1, 2), "float32"),
        "text": Value("large_string"),
        "nested": {"x": List(Value("int8"))},
    }
)
ROWS = [
    {"n": 1, "label": 0, "grid": [[1.0, 2.0]], "text": "x", "nested": {"x": [1]}},
    {"n": None, "label": 1, "grid": [[3.0, 4.0]], "text": None, "nested": None},
    {"n": 3, "label": None, "grid": None, "text": "z", "nested": {"x": []}},
]


@pytest.fixture(params=["whole", "indexed", "empty"])
def dataset(request) -> Dataset:
    whole = Dataset.from_list(ROWS, features=FEATURES)
    return {"whole": whole, "indexed": whole.select([2, 0, 2]), "empty": whole.select([])}[request.param]


def test_pyarrow_takes_it_with_its_features(dataset) -> None:
    table = pa.table(dataset)

    assert Dataset(table).features == FEATURES
    assert table.to_pylist() == [{**row} for row in dataset]
    assert pa.RecordBatchReader.from_stream(dataset).read_all() == table
    assert pa.schema(dataset).names == list(FEATURES)


@pytest.mark.optional("polars")
def test_polars_takes_it(dataset) -> None:
    import polars

    frame = polars.DataFrame(dataset)

    assert frame["n"].to_list() == list(dataset["n"])
    assert frame["grid"].to_list() == list(dataset["grid"])
    assert polars.from_arrow(dataset).struct.unnest().equals(frame)  # polars makes structs of streams that it does not know
    assert polars.Series(dataset["text"]).to_list() == list(dataset["text"])


@pytest.mark.optional("duckdb")
def test_duckdb_takes_it(dataset) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.register("rows", dataset)

    assert connection.sql("select n from rows").fetchall() == [(n,) for n in dataset["n"]]


@pytest.mark.optional("pandas")
def test_pandas_takes_it(dataset) -> None:
    pandas = pytest.importorskip("pandas", minversion="3")

    assert len(pandas.DataFrame.from_arrow(dataset)) == len(dataset)


def test_dictionaries_stay_what_they_are() -> None:
    column = pa.array(["a", "b", "a"]).dictionary_encode()

    assert pa.table(Dataset(pa.table({"a": column})))["a"].type == column.type


def test_every_column_is_handed_over_whatever_the_format() -> None:
    dataset = Dataset.from_dict({"a": [1], "b": [2]}).with_format("arrow", columns=["a"])

    assert pa.table(dataset).column_names == ["a", "b"]


def test_a_requested_schema_is_obeyed() -> None:
    dataset = Dataset.from_dict({"a": [1]})
    wanted = pa.schema({"a": pa.int8()})

    assert pa.RecordBatchReader.from_stream(dataset, wanted).read_all().schema.types == [pa.int8()]


def test_mapped_pages_are_handed_over_not_copied(tmp_path) -> None:
    path = str(tmp_path / "a.arrow")
    table = pa.table({"a": np.arange(100_000)})
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, 30_000)
    dataset = Dataset.from_file(path)
    before = pa.total_allocated_bytes()

    pages = [chunk.buffers()[1].address for chunk in pa.table(dataset)["a"].chunks]

    assert pages == [chunk.buffers()[1].address for chunk in dataset.data["a"].chunks]
    assert pa.total_allocated_bytes() - before < 10_000


def test_a_summary_of_some_columns_of_the_rows_that_are_shown() -> None:
    dataset = Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"]}).select([2, 0])

    summary = dataset.describe("a", bins=2)

    assert [column.name for column in summary] == ["a"]
    assert (summary["a"].min, summary["a"].max, summary["a"].histogram.counts) == (1, 3, (1, 1))


def test_unknown_columns_and_no_bins_are_errors() -> None:
    dataset = Dataset.from_dict({"a": [1]})

    with pytest.raises(UnknownColumnError):
        dataset.describe(["b"])
    with pytest.raises(ConfigurationError, match="number of bins 0"):
        dataset.describe(bins=0)


def test_describing_imports_no_framework() -> None:
    code = (
        "import sys; from datasets_core import Dataset;"
        "Dataset.from_dict({'a': [1.5], 'b': ['x'], 'c': [[1]]}).describe()._repr_html_();"
        "print([name for name in ('pandas', 'torch', 'PIL', 'duckdb', 'faiss') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


# What a notebook shows of a dataset: bounded, escaped, with pictures and players of safe types only.

STORED = pa.struct({"bytes": pa.binary(), "path": pa.string()})
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
WAV = b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8) + b"data" + bytes(4)


@dataclass(frozen=True)
class Picture(Feature):
    _type: ClassVar[str] = "Image"
    arrow_type = STORED


@dataclass(frozen=True)
class Sound(Feature):
    _type: ClassVar[str] = "Audio"
    arrow_type = STORED


class Tags(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.found.append((tag, dict(attrs)))


def media_page(feature: Feature, *files: bytes | None, path: str = "x.png") -> str:
    table = pa.table({"m": pa.array([{"bytes": data, "path": path} for data in files], STORED)})
    return dataset_html(len(files), {"m": feature}, table)


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_nothing_of_the_data_becomes_markup(name, text, items) -> None:
    hostile = ['"><script>alert(1)</script>', "<img src=x onerror=alert(1)>"]
    dataset = Dataset.from_dict(
        {"a" + name + hostile[0]: [text + hostile[1]], "l": [[*items, *hostile]], "d": [{"k": hostile[0]}]}
    )

    tags = Tags(dataset._repr_html_()).found

    assert {tag for tag, _ in tags} <= {"style", "div", "table", "thead", "tbody", "tr", "th", "td", "small", "code", "span"}
    assert {attribute for _, attributes in tags for attribute in attributes} <= {"class", "title"}


def test_labels_show_their_names() -> None:
    features = Features({"l": ClassLabel(names=["<cat>", "dog"])})
    page = Dataset.from_dict({"l": [0, 1, -1, None]}, features=features)._repr_html_()

    assert "&lt;cat&gt;" in page and "dog" in page and "None" in page


def test_only_the_first_rows_and_columns_are_shown() -> None:
    page = Dataset.from_dict({f"c{i}": list(range(1000)) for i in range(50)})._repr_html_()

    assert page.count("<tr>") == 11 and "c29" in page and "c30" not in page


def test_large_values_are_cut() -> None:
    dataset = Dataset.from_dict({"t": ["ä" * 10_000_000], "l": [list(range(100_000))], "b": [b"x" * 1_000_000]})

    assert len(dataset._repr_html_()) < 10_000


def test_pictures_and_sounds_of_known_types_are_shown() -> None:
    assert dict(Tags(media_page(Picture(), PNG)).found)["img"]["src"].startswith("data:image/png;base64,")
    assert dict(Tags(media_page(Sound(), WAV)).found)["audio"]["src"].startswith("data:audio/wav;base64,")


@pytest.mark.parametrize("data", [b"<svg onload='alert(1)'/>", b"", b"GIF", b"<html>", None])
def test_other_files_are_only_named(data) -> None:
    page = media_page(Picture(), data, path="/home/me/<x>.svg")

    assert {tag for tag, _ in Tags(page).found} & {"img", "svg", "audio", "html"} == set()
    assert "/home/me" not in page and "&lt;x&gt;.svg" in page


def test_a_page_has_a_limit_of_bytes() -> None:
    sounds = [WAV + bytes(900_000)] * 10

    assert len(media_page(Sound(), *sounds)) < 10 << 20
    assert "audio of" in media_page(Sound(), WAV + bytes(2_000_000))


@pytest.mark.optional("PIL")
def test_large_pictures_become_thumbnails() -> None:
    from PIL import Image

    written = io.BytesIO()
    Image.effect_noise((900, 900), 90).save(written, "PNG")

    assert len(media_page(Picture(), written.getvalue())) < len(written.getvalue()) / 3


def test_a_picture_that_is_cut_off_does_no_harm() -> None:
    assert "img" not in dict(Tags(media_page(Picture(), PNG[:8] + b"\0" * 2_000_000)).found)


def test_no_thumbnail_is_made_of_what_pillow_starts_a_program_for(monkeypatch) -> None:
    pytest.importorskip("PIL.Image")
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 4 4\n%%EndComments\nshowpage\n%%EOF\n" + b" " * (1 << 20)
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **kwargs: started.append(args))
    assert "<img" not in Dataset.from_dict({"image": [eps]}, Features({"image": Image()}))._repr_html_()
    assert started == []


def test_what_fails_is_told_instead() -> None:
    dataset = Dataset.from_dict({"a": [1]})
    dataset._info.features = None

    page = dataset._repr_html_()

    assert "cannot be shown" in page and "<table" not in page
    assert "&lt;a&gt;" in fallback_html("<a>", ValueError("<b>"))


def test_splits_are_shown_under_their_names() -> None:
    page = DatasetDict({"<train>": Dataset.from_dict({"a": [1]})})._repr_html_()

    assert "&lt;train&gt;" in page and "<table" in page
    assert group_html([]) == ""


def numbers(count: int) -> IterableDataset:
    return Dataset.from_dict({"<a>": list(range(count))}).to_iterable_dataset()


def test_a_stream_shows_its_first_rows() -> None:
    page = IterableDatasetDict({"<train>": numbers(12).shuffle(seed=0).rename_column("<a>", "<b>")})._repr_html_()

    assert page.count("<tr>") == 11 and "&lt;train&gt;" in page and "&lt;b&gt;<small>int64</small>" in page
    assert "12 rows, 1 column; the first 10 rows" in page


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_stream_of_local_files_shows_its_first_rows_and_keeps_its_place(kind, tmp_path) -> None:
    getattr(Dataset.from_dict({"a": ["x", "y"]}), f"to_{kind}")(str(tmp_path / f"t.{kind}"))
    stream = load_dataset(kind, data_files=str(tmp_path / f"t.{kind}"), split="train", streaming=True)
    rows = iter(stream)
    next(rows)
    state = stream.state_dict()

    assert "<td>y</td>" in stream._repr_html_() and stream.state_dict() == state and list(rows) == [{"a": "y"}]


@pytest.mark.parametrize("verb", ["map", "filter", "from_generator", "on_error"])
def test_no_function_runs_to_show_a_stream(verb) -> None:
    called = []

    def function(row=None):
        called.append(row)
        return iter([{"a": 1}])

    if verb == "from_generator":
        stream = IterableDataset.from_generator(function)
    else:
        stream = numbers(3).on_error("skip") if verb == "on_error" else getattr(numbers(3), verb)(function)
    page = stream._repr_html_()

    assert "are not read for this preview" in page and "<td" not in page and called == []


def test_nothing_is_fetched_to_show_a_stream(tmp_path, range_server) -> None:
    Dataset.from_dict({"a": ["x"]}).to_parquet(str(tmp_path / "t.parquet"))
    url = f"{range_server.serve(tmp_path)}/t.parquet"
    stream = load_dataset("parquet", data_files=url, split="train", streaming=True)
    both = stream, interleave_datasets([numbers(3).rename_column("<a>", "a").cast_column("a", Value("string")), stream])
    asked = len(range_server.requests)
    pages = [each._repr_html_() for each in both]
    assert len(range_server.requests) == asked

    assert all("t.parquet would be fetched" in page and "<td" not in page for page in pages)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (pa.scalar(None, pa.int8()), None),
        (pa.scalar("x" * 400), "x" * 299 + "…"),
        (pa.scalar([[1], None]), [[1], None]),
        (pa.scalar(b"ab"), "b'ab' (2 bytes)"),
        (pa.scalar({"a": 1}), {"a": 1}),
        (pa.scalar(1_500, pa.timestamp("ns")), "1970-01-01 00:00:00.000001500"),
        (pa.scalar(5, pa.duration("s")), "5 s"),
        (pa.array(["u"]).dictionary_encode()[0], "u"),
        (pa.array([["u"]], pa.list_(pa.string(), 1))[0], ["u"]),
    ],
    ids=str,
)
def test_values_are_read_no_further_than_they_are_shown(value, shown) -> None:
    assert bounded(value) == shown


def test_a_plain_value_of_every_kind_has_a_cell() -> None:
    features = {"f": Value("float32"), "b": Value("bool")}
    page = dataset_html(1, features, pa.table({"f": [1.5], "b": [True]}))

    assert '<td class="number">1.5</td>' in page and "<td>True</td>" in page


def test_a_long_list_ends_with_how_many_there_are_and_not_with_a_text() -> None:
    page = Dataset.from_dict({"l": [list(range(768))]})._repr_html_()
    assert "<code>[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (768 in all)]</code>" in page


def test_heads_stand_above_their_cells_and_nulls_in_the_middle() -> None:
    page = Dataset.from_dict({"n": [1, None], "t": [None, "x"]})._repr_html_()
    assert '<th class="number">n<small>int64</small></th><th>t<small>string</small></th>' in page
    assert '<td class="number">1</td><td class="null"><span class="none">None</span></td>' in page
    assert ".dsc td.null{text-align:center!important}" in page and ".dsc th.number{text-align:right!important" in page
    summary = Dataset.from_dict({"n": [1, None], "t": [None, "x"]}).describe()._repr_html_()
    assert '<th>kind</th><th class="number">nulls</th>' in summary and '<td>string</td><td class="number">1</td>' in summary


def test_lengths_say_what_they_count() -> None:
    summary = Dataset.from_dict({"t": ["ab", "c"], "l": [[1], []], "b": [b"xyz", b""]}).describe()
    for shown in (str(summary), summary._repr_html_()):
        assert all(each in shown for each in ("1.5 chars", "2 chars", "0.5 items", "1.5 bytes"))
