"""Croissant descriptions as others write them, read: every source of a field, splits, joins, archives, hashes, and refusals."""

import base64
import hashlib
import io
import json
import socket
import tarfile
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import (
    ConfigurationError,
    DatasetsCoreError,
    DownloadError,
    FileFormatError,
    NonMatchingChecksumError,
    UnknownConfigError,
    UntrustedPathError,
)
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.inspect import get_dataset_config_names, get_dataset_default_config_name, get_dataset_split_names
from datasets_core.load import load_dataset, load_dataset_builder

Load = Callable[..., Any]
CSV, JSON, JSONL = "text/csv", "application/json", "application/jsonlines"


def file(name: str, data: bytes | None = None, kind: str = CSV, **more: Any) -> dict[str, Any]:
    """A file object, with the hash of its content where it is given."""
    told = {"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name, "encodingFormat": kind}
    return told | ({} if data is None else {"sha256": hashlib.sha256(data).hexdigest()}) | more


def file_set(name: str, includes: Any, kind: str = CSV, **more: Any) -> dict[str, Any]:
    return {"@type": "cr:FileSet", "@id": name, "name": name, "encodingFormat": kind, "includes": includes} | more


def field(node: str, data_type: Any = "sc:Text", source: Any = None, **more: Any) -> dict[str, Any]:
    told = {"@type": "cr:Field", "@id": node, "name": node.rpartition("/")[2], "dataType": data_type}
    return told | ({} if source is None else {"source": source}) | more


def of(node: str, *, kind: str = "fileObject", transform: Any = None, **extract: Any) -> dict[str, Any]:
    """A source: `of("a.csv", column="x")`."""
    told = {kind: {"@id": node}, "extract": extract}
    return told | ({} if transform is None else {"transform": transform})


def records(name: str, *fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": list(fields)} | more


def described(distribution: list[Any], record_sets: list[Any], **more: Any) -> dict[str, Any]:
    context = {"@vocab": "https://schema.org/", "sc": "https://schema.org/", "cr": "http://mlcommons.org/croissant/"}
    return {
        "@context": context,
        "@type": "sc:Dataset",
        "name": "sample",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": distribution,
        "recordSet": record_sets,
    } | more


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write files and a description beside them, and load it: all splits, or the rows of the only one."""

    def loaded(
        files: dict[str, bytes | str], distribution: list[Any], record_sets: list[Any], name: str | None = None, **options: Any
    ) -> Any:
        for path, content in files.items():
            place = tmp_path / "data" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        described_in = tmp_path / "data" / "metadata.json"
        described_in.parent.mkdir(exist_ok=True)
        described_in.write_text(json.dumps(described(distribution, record_sets)))
        found = load_dataset("croissant", name, data_files=str(described_in), cache_dir=str(tmp_path / "cache"), **options)
        return found["train"] if list(found) == ["train"] else found

    return loaded


def zipped(**members: str | bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return buffer.getvalue()


# -- tables ------------------------------------------------------------------------------------------------------------


def test_columns_of_a_table_are_typed_as_their_fields_say(load: Load) -> None:
    rows = load(
        {"a.csv": "code,n,x,ok,day,at\n007,1,2,true,2020-01-02,2020-01-02 03:04:05\n,,,,,\n"},
        [file("a.csv")],
        [
            records(
                "r",
                field("r/code", "sc:Text", of("a.csv", column="code")),
                field("r/n", "sc:Integer", of("a.csv", column="n")),
                field("r/x", "cr:Float32", of("a.csv", column="x")),
                field("r/ok", "sc:Boolean", of("a.csv", column="ok")),
                field("r/day", "sc:Date", of("a.csv", column="day")),
                field("r/at", "sc:DateTime", of("a.csv", column="at")),
            )
        ],
    )
    assert rows[0] == {
        "code": "007",
        "n": 1,
        "x": 2.0,
        "ok": True,
        "day": date(2020, 1, 2),
        "at": datetime(2020, 1, 2, 3, 4, 5),
    }
    assert set(rows[1].values()) == {None}
    assert rows.features["x"] == Value("float32")


@pytest.mark.parametrize(
    ("name", "kind", "content"),
    [
        ("a.csv", "text/csv", "n,t\n1,x\n2,y\n"),
        ("a.tsv", "text/tab-separated-values", "n\tt\n1\tx\n2\ty\n"),
        ("a.jsonl", JSONL, '{"n": 1, "t": "x"}\n{"n": 2, "t": "y"}\n'),
        ("a.ndjson", "application/fhir+json", '{"n": 1, "t": "x"}\n{"n": 2, "t": "y"}\n'),
        ("a.json", JSON, '[{"n": 1, "t": "x"}, {"n": 2, "t": "y"}]'),
    ],
    ids=["csv", "tsv", "jsonl", "by-name", "json"],
)
def test_every_table_is_read_by_its_media_type(load: Load, name: str, kind: str, content: str) -> None:
    rows = load(
        {name: content},
        [file(name, kind=kind)],
        [records("r", field("r/n", "cr:Int16", of(name, column="n")), field("r/t", "sc:Text", of(name, column="t")))],
    )
    assert rows[:] == {"n": [1, 2], "t": ["x", "y"]}
    assert rows.features["n"] == Value("int16")


def test_columns_of_parquet_keep_their_own_types_where_the_description_leaves_them_open(load: Load) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table({"i": pa.array([1], pa.int16()), "b": [b"\xff"], "x": pa.array([1.5], pa.float32())}), buffer)
    rows = load(
        {"a.parquet": buffer.getvalue()},
        [file("a.parquet", kind="application/x-parquet")],
        [
            records(
                "r",
                field("r/i", "sc:Integer", of("a.parquet", column="i")),
                field("r/b", "sc:Text", of("a.parquet", column="b")),
                field("r/x", "cr:Float64", of("a.parquet", column="x")),
            )
        ],
    )
    assert dict(rows.features) == {"i": Value("int16"), "b": Value("binary"), "x": Value("float64")}
    assert rows[0] == {"i": 1, "b": b"\xff", "x": 1.5}


def test_text_that_looks_like_moments_in_json_stays_as_it_is(load: Load) -> None:
    rows = load(
        {"a.jsonl": '{"at": "2020-01-02T03:04:05Z", "s": {"at": "2020-01-02 03:04:05"}}\n'},
        [file("a.jsonl", kind=JSONL)],
        [
            records(
                "r",
                field("r/at", "sc:Text", of("a.jsonl", column="at")),
                field("r/inner", "sc:Text", of("a.jsonl", column="s", transform={"jsonPath": "at"})),
            )
        ],
    )
    assert rows[0] == {"at": "2020-01-02T03:04:05Z", "inner": "2020-01-02 03:04:05"}


def test_a_type_that_widens_late_gives_every_row_once(load: Load) -> None:
    numbers = [*range(300_000), 0.5]
    rows = load(
        {"a.csv": "x,t\n" + "".join(f"{number},t{number}\n" for number in numbers)},
        [file("a.csv")],
        [records("r", field("r/x", "sc:Float", of("a.csv", column="x")), field("r/t", "sc:Text", of("a.csv", column="t")))],
    )
    assert rows["x"][:] == [float(number) for number in numbers]
    assert rows["t"][-1] == "t0.5"


def test_keys_that_some_json_objects_lack_are_null(load: Load) -> None:
    rows = load(
        {"a.jsonl": '{"a": 1}\n{"b": {"c": "x"}}\n'},
        [file("a.jsonl", kind=JSONL)],
        [
            records(
                "r",
                field("r/a", "sc:Integer", of("a.jsonl", jsonPath="$.a")),
                field("r/c", "sc:Text", of("a.jsonl", jsonPath="$.b.c")),
            )
        ],
    )
    assert rows[:] == {"a": [1, None], "c": [None, "x"]}


# -- JSON documents ----------------------------------------------------------------------------------------------------


def test_paths_into_a_document_go_row_by_row_even_where_values_are_missing(load: Load) -> None:
    document = {"info": {"year": 2014}, "rows": [{"id": 1, "box": [1, 2, 3, 4]}, {"id": 2, "name": "two"}]}
    rows = load(
        {"a.json": json.dumps(document)},
        [file("a.json", kind=JSON)],
        [
            records(
                "r",
                field("r/id", "sc:Integer", of("a.json", jsonPath="$.rows[*].id")),
                field("r/name", "sc:Text", of("a.json", jsonPath="$.rows[*].name")),
                field("r/box", "cr:BoundingBox", of("a.json", jsonPath="$.rows[*].box")),
            )
        ],
    )
    assert rows[:] == {"id": [1, 2], "name": [None, "two"], "box": [[1.0, 2.0, 3.0, 4.0], None]}


def test_paths_through_two_lists_give_a_row_of_the_inner_one(load: Load) -> None:
    document = {"groups": [{"items": [{"n": 1}, {"n": 2}]}, {"items": [{"n": 3}]}]}
    rows = load(
        {"a.json": json.dumps(document)},
        [file("a.json", kind=JSON)],
        [records("r", field("r/n", "sc:Integer", of("a.json", jsonPath="$.groups[*].items[*].n")))],
    )
    assert rows["n"][:] == [1, 2, 3]


def test_a_path_to_several_values_needs_an_array(load: Load) -> None:
    files = {"a.jsonl": '{"tags": [{"n": "x"}]}\n{"tags": []}\n'}
    told = [file("a.jsonl", kind=JSONL)]
    source = of("a.jsonl", jsonPath="$.tags[*].n")
    assert load(files, told, [records("r", field("r/n", "sc:Text", source))])["n"][:] == ["x", None]
    assert load(files, told, [records("r", field("r/n", "sc:Text", source, isArray=True))])["n"][:] == [["x"], []]
    several = {"a.jsonl": '{"tags": [{"n": "x"}, {"n": "y"}]}\n'}
    with pytest.raises(FileFormatError, match=r"'r/n'.*leads to 2 values"):
        load(several, told, [records("r", field("r/n", "sc:Text", source))])


# -- transforms --------------------------------------------------------------------------------------------------------


def test_transforms_are_done_in_their_order(load: Load) -> None:
    rows = load(
        {"a.csv": 'tags,day,json\na-1|b-22,31/12/2020,"{""k"": {""v"": 7}}"\n'},
        [file("a.csv")],
        [
            records(
                "r",
                field(
                    "r/tags",
                    "sc:Integer",
                    of("a.csv", column="tags", transform=[{"separator": "|"}, {"regex": "[a-z]-(\\d+)"}]),
                    repeated=True,
                ),
                field("r/day", "sc:Date", of("a.csv", column="day", transform={"format": "%d/%m/%Y"})),
                field("r/cldr", "sc:Date", of("a.csv", column="day") | {"format": "dd/MM/yyyy"}),
                field("r/v", "sc:Integer", of("a.csv", column="json", transform={"jsonPath": "k.v"})),
            )
        ],
    )
    assert rows[0] == {"tags": [1, 22], "day": date(2020, 12, 31), "cldr": date(2020, 12, 31), "v": 7}


def test_a_date_whose_format_has_a_time_keeps_it(load: Load) -> None:
    source = of("a.csv", column="t", transform={"format": "%Y-%m-%d %H:%M:%S.%f"})
    rows = load({"a.csv": "t\n2013-08-20 09:12:33.5\n"}, [file("a.csv")], [records("r", field("r/t", "sc:Date", source))])
    assert rows["t"][0] == datetime(2013, 8, 20, 9, 12, 33, 500000)


@pytest.mark.parametrize(
    ("transform", "reason"),
    [
        ({"regex": "(\\d+)$"}, "does not match 'x'"),
        ({"regex": "(?=x)(x)"}, "not supported"),
        ({"replace": "a/b"}, "'replace'"),
        ({"jsonPath": "$..a"}, "not supported"),
        ({"format": "%Y"}, "does not fit 'x'"),
        ({"separator": ""}, "is empty"),
        ({"uppercase": True}, "'uppercase'"),
        ({"regex": "a", "separator": "b"}, "several kinds"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_transform_that_does_not_work_out_names_its_node(load: Load, transform: Any, reason: str) -> None:
    data_type = "sc:DateTime" if "format" in transform else "sc:Text"
    source = of("a.csv", column="t", transform=transform)
    with pytest.raises(FileFormatError, match="'r/t'") as caught:
        load({"a.csv": "t\nx\n"}, [file("a.csv")], [records("r", field("r/t", data_type, source))])
    assert reason in str(caught.value)


def test_a_value_that_does_not_fit_names_node_file_and_row(load: Load) -> None:
    with pytest.raises(FileFormatError, match=r"a\.csv, row 1.*'r/n'.*'x'"):
        load({"a.csv": "n\n1\nx\n"}, [file("a.csv")], [records("r", field("r/n", "sc:Integer", of("a.csv", column="n")))])


# -- nesting -----------------------------------------------------------------------------------------------------------


def test_sub_fields_make_structs_of_flat_columns(load: Load) -> None:
    parts = [field(f"r/at/{name}", "sc:Float", of("a.csv", column=name)) for name in ("lat", "lon")]
    rows = load(
        {"a.csv": "lat,lon\n1.5,2.5\n"},
        [file("a.csv")],
        [records("r", {"@type": "cr:Field", "@id": "r/at", "dataType": "sc:GeoCoordinates", "subField": parts})],
    )
    assert rows[0] == {"at": {"lat": 1.5, "lon": 2.5}}


def test_repeated_sub_fields_make_lists_of_structs(load: Load) -> None:
    source = {name: of("a.jsonl", column="talk", transform={"jsonPath": name}) for name in ("who", "what")}
    parts = [field(f"r/talk/{name}", "sc:Text", source[name]) for name in source]
    told = {"@type": "cr:Field", "@id": "r/talk", "name": "r/talk", "repeated": True, "subField": parts}
    rows = load(
        {"a.jsonl": '{"talk": [{"who": "a", "what": "x"}, {"who": "b"}]}\n{"talk": []}\n{"talk": null}\n'},
        [file("a.jsonl", kind=JSONL)],
        [records("r", told)],
    )
    assert rows["talk"][:] == [[{"who": "a", "what": "x"}, {"who": "b", "what": None}], [], None]


def test_arrays_have_the_shape_that_is_told(load: Load) -> None:
    rows = load(
        {"a.jsonl": '{"m": [[1, 2], [3, 4]], "l": [1, 2, 3]}\n'},
        [file("a.jsonl", kind=JSONL)],
        [
            records(
                "r",
                field("r/m", "cr:Int8", of("a.jsonl", column="m"), isArray=True, arrayShape="2,2"),
                field("r/l", "cr:Int8", of("a.jsonl", column="l"), isArray=True, arrayShape="(-1,)"),
            )
        ],
    )
    assert str(rows.features["m"]) == "Array2D(shape=(2, 2), dtype='int8')"
    assert rows.features["l"] == List(Value("int8"))
    assert rows[0]["l"] == [1, 2, 3]


# -- files -------------------------------------------------------------------------------------------------------------


def test_whole_files_are_rows_with_their_names_and_contents(load: Load) -> None:
    from PIL import Image as Pillow

    buffer = io.BytesIO()
    Pillow.new("RGB", (2, 3)).save(buffer, "png")
    archive = zipped(cats__one_dot_png=buffer.getvalue(), dogs__two_dot_png=buffer.getvalue(), readme_dot_md="x")
    told = [
        file("pets.zip", archive, "application/zip"),
        file_set("images", "*.png", "image/png", containedIn={"@id": "pets.zip"}),
    ]
    label = of("images", kind="fileSet", fileProperty="fullpath", transform={"regex": "(cats|dogs)/.*\\.png$"})
    rows = load(
        {"pets.zip": archive},
        told,
        [
            records(
                "r",
                field("r/image", "sc:ImageObject", of("images", kind="fileSet", fileProperty="content")),
                field("r/name", "sc:Text", of("images", kind="fileSet", fileProperty="filename")),
                field("r/label", "sc:Text", label),
            )
        ],
    )
    assert rows.features["image"] == Image()
    assert [(row["image"].size, row["name"], row["label"]) for row in rows] == [
        ((2, 3), "one.png", "cats"),
        ((2, 3), "two.png", "dogs"),
    ]


def test_lines_are_rows_with_their_numbers_and_files(load: Load) -> None:
    language = of("files", kind="fileSet", fileProperty="filename", transform={"regex": "(.*)\\.dev$"})
    rows = load(
        {"dev/de.dev": "eins\nzwei\n", "dev/en.dev": "one\ntwo\n"},
        [file_set("files", "dev/*.dev", "text/plain")],
        [
            records(
                "r",
                field("r/line", "sc:Text", of("files", kind="fileSet", fileProperty="lines")),
                field("r/number", "sc:Integer", of("files", kind="fileSet", fileProperty="lineNumbers")),
                field("r/language", "sc:Text", language),
            )
        ],
    )
    assert [tuple(row.values()) for row in rows] == [("eins", 0, "de"), ("zwei", 1, "de"), ("one", 0, "en"), ("two", 1, "en")]


def test_a_table_in_an_archive_is_found_by_its_path(load: Load) -> None:
    archive = zipped(ml__movies_dot_csv="id,title\n1,one\n")
    rows = load(
        {"ml.zip": archive},
        [file("ml.zip", archive, "application/zip"), file("movies", contentUrl="ml/movies.csv", containedIn={"@id": "ml.zip"})],
        [records("r", field("r/title", "sc:Text", of("movies", column="title")))],
    )
    assert rows["title"][:] == ["one"]


def test_a_set_takes_what_its_patterns_include_and_exclude_of_all_its_containers(load: Load) -> None:
    archives = {}
    for name in ("one", "two"):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for member in ("a", "b"):
                content = f"t\n{name}-{member}\n".encode()
                header = tarfile.TarInfo(f"part/{member}.csv")
                header.size = len(content)
                archive.addfile(header, io.BytesIO(content))
        archives[f"{name}.tar.gz"] = buffer.getvalue()
    told = [file(name, data, "application/x-tar") for name, data in archives.items()]
    chosen = file_set("parts", ["part/*.csv"], containedIn=[{"@id": name} for name in archives], excludes="*/b.csv")
    rows = load(archives, [*told, chosen], [records("r", field("r/t", "sc:Text", of("parts", kind="fileSet", column="t")))])
    assert rows["t"][:] == ["one-a", "two-a"]


def test_hashes_in_hex_base64_and_md5_are_compared(load: Load) -> None:
    data = b"t\nx\n"
    record_set = records("r", field("r/t", "sc:Text", of("a.csv", column="t")))
    hashes = (
        {"sha256": hashlib.sha256(data).hexdigest().upper()},
        {"sha256": base64.b64encode(hashlib.sha256(data).digest()).decode()},
        {"md5": hashlib.md5(data).hexdigest()},
        {"md5": base64.b64encode(hashlib.md5(data).digest()).decode()},
    )
    for told in hashes:
        assert load({"a.csv": data}, [file("a.csv", **told)], [record_set])["t"][:] == ["x"]
    for name, wrong in (("sha256", "0" * 64), ("md5", "0" * 32)):
        with pytest.raises(NonMatchingChecksumError) as caught:
            load({"a.csv": data}, [file("a.csv", **{name: wrong})], [record_set])
        assert str(caught.value.file).endswith("a.csv")
    with pytest.raises(FileFormatError, match=r"'a\.csv' has an invalid sha256: 'abc'"):
        load({"a.csv": data}, [file("a.csv", sha256="abc")], [record_set])


def test_a_wrong_hash_refuses_a_file_of_a_set_too(load: Load) -> None:
    record_set = records("r", field("r/t", "sc:Text", of("all", kind="fileSet", column="t")))
    with pytest.raises(NonMatchingChecksumError) as caught:
        load({"a.csv": "t\nx\n"}, [file("a.csv", b"other"), file_set("all", "*.csv")], [record_set])
    assert str(caught.value.file).endswith("a.csv")


@pytest.mark.parametrize(
    "url",
    [
        "../outside.csv",
        "/etc/passwd",
        "a/../../outside.csv",
        "file:///etc/passwd",
        "~/x.csv",
        "zip://a.csv::b.zip",
        "\\\\host\\x",
    ],
)
def test_a_file_that_does_not_lie_beside_the_description_is_refused(load: Load, tmp_path: Path, url: str) -> None:
    (tmp_path / "outside.csv").write_text("t\nsecret\n")
    record_set = records("r", field("r/t", "sc:Text", of("a", column="t")))
    with pytest.raises(FileFormatError, match="the node 'a'"):
        load({}, [file("a", contentUrl=url)], [record_set])


@pytest.mark.parametrize("url", ["s3://bucket/a.csv", "gs://bucket/a.csv", "ftp://169.254.169.254/a.csv"])
def test_a_file_of_a_store_is_read_with_the_credentials_of_the_user_only_where_the_user_says_so(load: Load, url: str) -> None:
    record_set = records("r", field("r/t", "sc:Text", of("a", column="t")))
    with pytest.raises(UntrustedPathError) as caught:
        load({}, [file("a", contentUrl=url)], [record_set])
    assert caught.value.path == url


def test_a_description_leads_nobody_to_the_own_link_of_the_machine(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **how: found)
    record_set = records("r", field("r/t", "sc:Text", of("a", column="t")))
    with pytest.raises(DownloadError, match="link-local"):
        load({}, [file("a", contentUrl="http://data.test/a.csv")], [record_set])


def test_a_link_that_leads_out_of_the_folder_is_refused(load: Load, tmp_path: Path) -> None:
    (tmp_path / "outside.csv").write_text("t\nsecret\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").symlink_to(tmp_path / "outside.csv")
    for distribution, source in (
        ([file("a.csv")], of("a.csv", column="t")),
        ([file_set("all", "*.csv")], of("all", kind="fileSet", column="t")),
    ):
        with pytest.raises(DatasetsCoreError):
            load({}, distribution, [records("r", field("r/t", "sc:Text", source))])


def test_a_path_out_of_an_archive_is_refused(load: Load) -> None:
    archive = zipped(a_dot_csv="t\n1\n")
    told = [file("a.zip", archive, "application/zip"), file("a", contentUrl="../a.csv", containedIn={"@id": "a.zip"})]
    with pytest.raises(FileFormatError, match=r"'a'.*not a path in 'a.zip'"):
        load({"a.zip": archive}, told, [records("r", field("r/t", "sc:Text", of("a", column="t")))])


# -- splits ------------------------------------------------------------------------------------------------------------

SPLITS = records(
    "splits", field("splits/name", "sc:Text"), dataType="cr:Split", data=[{"splits/name": "train"}, {"splits/name": "test"}]
)


def test_the_path_of_a_file_tells_its_split(load: Load) -> None:
    source = of("all", kind="fileSet", fileProperty="fullpath", transform={"regex": "^(train|test)/.*\\.csv$"})
    found = load(
        {"train/b.csv": "t\n2\n", "train/a.csv": "t\n1\n", "test/a.csv": "t\n3\n"},
        [file_set("all", "*/*.csv")],
        [
            SPLITS,
            records(
                "r",
                field("r/split", "sc:Text", source, references={"field": {"@id": "splits/name"}}),
                field("r/t", "sc:Integer", of("all", kind="fileSet", column="t")),
            ),
        ],
    )
    assert {split: rows["t"][:] for split, rows in found.items()} == {"train": [1, 2], "test": [3]}
    assert found["train"].column_names == ["t"]


def test_a_column_tells_the_split_and_stays(load: Load) -> None:
    found = load(
        {"a.csv": "t,s\n1,train\n2,test\n3,train\n"},
        [file("a.csv")],
        [
            SPLITS,
            records(
                "r",
                field("r/t", "sc:Integer", of("a.csv", column="t")),
                field("r/s", "sc:Text", of("a.csv", column="s"), references={"@id": "splits/name"}),
            ),
        ],
    )
    assert {split: rows["t"][:] for split, rows in found.items()} == {"train": [1, 3], "test": [2]}
    assert found["train"]["s"][:] == ["train", "train"]


def test_a_column_whose_splits_nothing_lists_is_read_for_them(load: Load) -> None:
    marked = field("r/s", ["sc:Text", "wd:Q3985153"], of("a.csv", column="s"))
    found = load(
        {"a.csv": "t,s\n1,dev\n2,train\n"},
        [file("a.csv")],
        [records("r", field("r/t", "sc:Integer", of("a.csv", column="t")), marked)],
    )
    assert {split: rows["t"][:] for split, rows in found.items()} == {"dev": [1], "train": [2]}


def test_file_names_tell_well_known_splits_where_no_field_does(load: Load) -> None:
    found = load(
        {"train.csv": "t\n1\n", "test.csv": "t\n2\n"},
        [file_set("all", "*.csv")],
        [records("r", field("r/t", "sc:Integer", of("all", kind="fileSet", column="t")))],
    )
    assert {split: rows["t"][:] for split, rows in found.items()} == {"train": [1], "test": [2]}


def test_a_path_that_tells_no_split_names_the_node_and_the_file(load: Load) -> None:
    source = of("all", kind="fileSet", fileProperty="filename", transform={"regex": "^(train|test).*"})
    fields = [
        field("r/split", "sc:Text", source, references={"field": {"@id": "splits/name"}}),
        field("r/t", "sc:Integer", of("all", kind="fileSet", column="t")),
    ]
    with pytest.raises(FileFormatError, match=r"other\.csv.*'r/split'"):
        load({"train.csv": "t\n1\n", "other.csv": "t\n2\n"}, [file_set("all", "*.csv")], [SPLITS, records("r", *fields)])


# -- record sets -------------------------------------------------------------------------------------------------------


def test_each_record_set_is_a_config(load: Load, tmp_path: Path) -> None:
    files = {"a.csv": "t\n1\n", "b.csv": "t\n2\n"}
    sets = [records(name, field(f"{name}/t", "sc:Integer", of(f"{name}.csv", column="t"))) for name in ("a", "b")]
    told = [file("a.csv"), file("b.csv")]
    assert load(files, told, sets, "b")["t"][:] == [2]
    with pytest.raises(UnknownConfigError, match="'a', 'b'"):
        load(files, told, sets)
    with pytest.raises(UnknownConfigError) as caught:
        load(files, told, sets, "c")
    assert caught.value.name == "c"


def test_the_only_record_set_with_rows_is_the_default(load: Load) -> None:
    rows = load(
        {"a.csv": "t\n1\n"}, [file("a.csv")], [SPLITS, records("r", field("r/t", "sc:Integer", of("a.csv", column="t")))]
    )
    assert rows["t"][:] == [1]


def test_a_record_set_may_hold_its_rows_itself(load: Load) -> None:
    rows = load(
        {},
        [],
        [
            records(
                "e",
                field("e/id", "sc:Integer"),
                field("e/name", "sc:Text"),
                data=[{"e/id": 1, "e/name": "one"}, {"id": 2, "name": None}],
            )
        ],
    )
    assert rows[:] == {"id": [1, 2], "name": ["one", None]}


def test_an_enumeration_of_numbers_names_the_classes(load: Load) -> None:
    classes = records(
        "classes",
        field("classes/id", "sc:Integer"),
        field("classes/label", ["sc:Text", "sc:name"]),
        dataType="sc:Enumeration",
        data=[{"classes/id": 1, "classes/label": "pos"}, {"classes/id": 0, "classes/label": "neg"}],
    )
    rows = load(
        {"a.csv": "y\n1\n0\n"},
        [file("a.csv")],
        [
            classes,
            records("r", field("r/y", "sc:Integer", of("a.csv", column="y"), references={"field": {"@id": "classes/id"}})),
        ],
    )
    assert rows.features["y"] == ClassLabel(names=["neg", "pos"])
    assert rows["y"][:] == [1, 0]


def test_a_constant_is_a_column(load: Load) -> None:
    rows = load(
        {"a.csv": "t\n1\n2\n"},
        [file("a.csv")],
        [records("r", field("r/t", "sc:Integer", of("a.csv", column="t")), field("r/scale", "sc:Text", value="1-5"))],
    )
    assert rows["scale"][:] == ["1-5", "1-5"]


# -- joins -------------------------------------------------------------------------------------------------------------


def test_fields_of_another_record_set_are_joined_by_a_reference(load: Load) -> None:
    users = records(
        "users",
        field("users/mail", "sc:Text"),
        field("users/name", "sc:Text"),
        data=[{"users/mail": "a@x", "users/name": "Ann"}, {"users/mail": "b@x", "users/name": "Ben"}],
    )
    rows = load(
        {"a.csv": "title,by\none,b@x\ntwo,a@x\nthree,c@x\nfour,\n"},
        [file("a.csv")],
        [
            users,
            records(
                "r",
                field("r/title", "sc:Text", of("a.csv", column="title")),
                field("r/by", "sc:Text", of("a.csv", column="by"), references={"field": {"@id": "users/mail"}}),
                field("r/name", "sc:Text", {"field": {"@id": "users/name"}}),
            ),
        ],
        "r",
    )
    assert rows["name"][:] == ["Ben", "Ann", None, None]


def test_a_key_that_stands_twice_gives_a_row_for_each(load: Load) -> None:
    rows = load(
        {"a.csv": "id\n1\n2\n", "b.csv": "id,tag\n1,x\n1,y\n"},
        [file("a.csv"), file("b.csv")],
        [
            records("tags", field("tags/id", "sc:Integer", of("b.csv", column="id"))),
            records(
                "r",
                field("r/id", "sc:Integer", of("a.csv", column="id"), references={"@id": "tags/id"}),
                field("r/tag", "sc:Text", of("b.csv", column="tag")),
            ),
        ],
        "r",
    )
    assert [tuple(row.values()) for row in rows] == [(1, "x"), (1, "y"), (2, None)]


def test_names_of_images_are_joined_with_a_table(load: Load) -> None:
    archive = zipped(h1_dot_jpg=b"one", h2_dot_jpg=b"two")
    name = of("images", kind="fileSet", fileProperty="filename", transform={"regex": "([^/]*)\\.jpg"})
    rows = load(
        {"i.zip": archive, "m.csv": "hash,who\nh2,Zoe\nh1,Yan\n"},
        [
            file("i.zip", archive, "application/zip"),
            file_set("images", "*.jpg", "image/jpeg", containedIn="i.zip"),
            file("m.csv"),
        ],
        [
            records("meta", field("meta/hash", "sc:Text", of("m.csv", column="hash"))),
            records(
                "r",
                field("r/hash", "sc:Text", name, references={"field": {"@id": "meta/hash"}}),
                field("r/who", "sc:Text", of("m.csv", column="who")),
            ),
        ],
        "r",
    )
    assert rows[:] == {"hash": ["h1", "h2"], "who": ["Yan", "Zoe"]}


def test_a_record_set_may_be_made_of_another(load: Load) -> None:
    base = records("base", field("base/x", "sc:Text", of("a.csv", column="x", transform={"separator": "|"}), repeated=True))
    rows = load(
        {"a.csv": "x\na|b\n"},
        [file("a.csv")],
        [base, records("r", field("r/x", [], {"field": {"@id": "base/x"}}, repeated=True))],
        "r",
    )
    assert rows["x"][:] == [["a", "b"]]


def test_two_sources_without_a_join_are_refused(load: Load) -> None:
    fields = [field(f"r/{name}", "sc:Text", of(f"{name}.csv", column="t")) for name in ("a", "b")]
    with pytest.raises(FileFormatError, match=r"'r/b'.*no key joins their rows"):
        load({"a.csv": "t\n1\n", "b.csv": "t\n1\n"}, [file("a.csv"), file("b.csv")], [records("r", *fields)])


def test_keys_of_different_kinds_are_refused(load: Load) -> None:
    with pytest.raises(FileFormatError, match=r"'r/id'.*never equal"):
        load(
            {"a.csv": "id\n1\n"},
            [file("a.csv")],
            [
                records("e", field("e/id", "sc:Text"), field("e/n", "sc:Text"), data=[{"e/id": "1", "e/n": "x"}]),
                records(
                    "r",
                    field("r/id", "sc:Integer", of("a.csv", column="id"), references={"@id": "e/id"}),
                    field("r/n", "sc:Text", {"field": {"@id": "e/n"}}),
                ),
            ],
            "r",
        )


# -- what is not supported ---------------------------------------------------------------------------------------------

PLAIN = field("r/t", "sc:Text", of("a.csv", column="t"))


@pytest.mark.parametrize(
    ("distribution", "node", "names"),
    [
        ([file("a.csv")], field("r/t", "sc:Text", of("a.csv", column="missing")), "'r/t'.*'missing'"),
        ([file("a.csv")], field("r/t", "sc:Text", of("a.csv", column="T")), "'r/t'.*'T'; available columns: 't'"),
        ([file("gone.csv")], field("r/t", "sc:Text", of("gone.csv", column="t")), "'gone.csv'.*not a file in the folder of"),
        ([file("a.csv")], field("r/t", "ex:Thing", of("a.csv", column="t")), "'r/t'.*Thing"),
        ([file("a.csv")], field("r/t", "sc:Text", of("nowhere.csv", column="t")), "'r/t'.*'nowhere.csv'"),
        ([file("a.csv")], field("r/t", "sc:Text"), "'r/t' has neither a source nor a value"),
        ([file("a.csv")], field("r/t", "sc:Text", of("a.csv")), "'r/t' has no column"),
        ([file("a.csv")], field("r/t", "sc:Text", of("a.csv", fileProperty="owner")), "'r/t'.*'owner'"),
        ([file("a.csv")], field("r/t", "sc:Text", of("a.csv", xpath="//t")), "'r/t' extracts by xpath"),
        ([file("a.csv", kind="application/vnd.ms-excel", contentUrl="a.xls")], PLAIN, "'r/t'"),
        ([file_set("s", "*.xyz")], field("r/t", "sc:Text", of("s", kind="fileSet", column="t")), "'s' includes '\\*.xyz'"),
        ([file("a.csv")], PLAIN | {"parentField": {"a": 1}}, "'r/t'.*parentField"),
        (
            [file("g", kind="git+https", contentUrl="https://github.com/x/y"), file_set("s", "*", containedIn={"@id": "g"})],
            field("r/t", "sc:Text", of("s", kind="fileSet", column="t")),
            "'g' is the git repository",
        ),
        ([file("a.csv", containedIn={"@id": "a.csv"})], PLAIN, "'a.csv' is contained in itself"),
    ],
    ids=[
        "column",
        "case",
        "gone",
        "type",
        "file",
        "source",
        "extract",
        "property",
        "method",
        "format",
        "glob",
        "parent",
        "git",
        "circle",
    ],
)
def test_what_is_not_supported_is_told_by_its_node(load: Load, distribution: Any, node: Any, names: str) -> None:
    with pytest.raises(FileFormatError, match=names):
        load({"a.csv": "t\n1\n", "a.xls": "t\n1\n"}, distribution, [records("r", node)])


def test_what_one_record_set_has_wrong_does_not_hinder_another(load: Load) -> None:
    bad = records("bad", field("bad/t", "sc:Text", of("a.csv", column="t", transform={"uppercase": True})))
    good = records("good", field("good/t", "sc:Integer", of("a.csv", column="t")))
    assert load({"a.csv": "t\n1\n"}, [file("a.csv")], [bad, good], "good")["t"][:] == [1]


def test_a_description_without_record_sets_is_told_so(load: Load) -> None:
    with pytest.raises(FileFormatError, match="has no record set"):
        load({"a.csv": "t\n1\n"}, [file("a.csv")], [])


def test_one_description_is_asked_for(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(described([], [])))
    with pytest.raises(ConfigurationError, match="2 files were given"):
        load_dataset(
            "croissant", data_files=[str(tmp_path / "a.json"), str(tmp_path / "b.json")], cache_dir=str(tmp_path / "c")
        )


# -- the builder -------------------------------------------------------------------------------------------------------


def _simple(tmp_path: Path, content: str = "t\n1\n2\n", **more: Any) -> str:
    (tmp_path / "a.csv").write_text(content)
    told = described([file("a.csv")], [records("r", field("r/t", "sc:Integer", of("a.csv", column="t")))], **more)
    (tmp_path / "croissant.json").write_text(json.dumps(told))
    return str(tmp_path / "croissant.json")


def test_features_and_facts_are_known_before_the_build(tmp_path: Path) -> None:
    path = _simple(tmp_path, description="Birds.", license="mit", citeAs="@b", url="https://b.org")
    info = load_dataset_builder("croissant", data_files=path, cache_dir=str(tmp_path / "cache")).info
    assert info.features == Features({"t": Value("int64")})
    assert (info.description, info.license, info.citation, info.homepage) == ("Birds.", "mit", "@b", "https://b.org")


def test_a_folder_is_known_by_the_description_in_it(tmp_path: Path) -> None:
    _simple(tmp_path)
    found = load_dataset("croissant", data_dir=str(tmp_path), split="train", cache_dir=str(tmp_path / "cache"))
    assert found["t"][:] == [1, 2]


def test_a_stream_gives_the_same_rows(tmp_path: Path) -> None:
    path = _simple(tmp_path)
    assert list(load_dataset("croissant", data_files=path, split="train", streaming=True)) == [{"t": 1}, {"t": 2}]


def test_features_of_the_user_take_the_place_of_the_described_ones(tmp_path: Path) -> None:
    path = _simple(tmp_path, "t\n1\nx\n")
    features = Features({"t": Value("string")})
    found = load_dataset("croissant", data_files=path, split="train", features=features, cache_dir=str(tmp_path / "cache"))
    assert found["t"][:] == ["1", "x"]


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    path = _simple(tmp_path)
    cache = str(tmp_path / "cache")
    load_dataset("croissant", data_files=path, cache_dir=cache)
    (tmp_path / "a.csv").write_text("t\n3\n4\n5\n")
    assert load_dataset("croissant", data_files=path, split="train", cache_dir=cache)["t"][:] == [3, 4, 5]


def test_several_processes_make_the_same_rows(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text(f"t\n{number}\n")
    told = described(
        [file_set("all", "*.csv")], [records("r", field("r/t", "sc:Integer", of("all", kind="fileSet", column="t")))]
    )
    (tmp_path / "metadata.json").write_text(json.dumps(told))
    found = load_dataset(
        "croissant", data_files=str(tmp_path / "metadata.json"), split="train", num_proc=2, cache_dir=str(tmp_path / "cache")
    )
    assert found["t"][:] == [0, 1, 2]


def test_the_record_sets_are_listed_as_configs(tmp_path: Path) -> None:
    sets = [SPLITS, *(records(name, field(f"{name}/t", "sc:Integer", of("a.csv", column="t"))) for name in ("a", "b"))]
    (tmp_path / "a.csv").write_text("t\n1\n")
    (tmp_path / "metadata.json").write_text(json.dumps(described([file("a.csv")], sets)))
    path = str(tmp_path / "metadata.json")
    assert get_dataset_config_names("croissant", data_files=path) == ["a", "b"]
    assert get_dataset_config_names("croissant", data_dir=str(tmp_path)) == ["a", "b"]
    assert get_dataset_default_config_name("croissant", data_files=path) is None


def test_a_folder_without_a_description_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(DatasetsCoreError, match=r"has no croissant\.json or metadata\.json"):
        load_dataset("croissant", data_dir=str(tmp_path))


def test_a_description_beside_data_is_no_data(tmp_path: Path) -> None:
    _simple(tmp_path)
    assert load_dataset(str(tmp_path), split="train", cache_dir=str(tmp_path / "cache"))["t"][:] == [1, 2]


def test_a_folder_with_nothing_but_a_description_is_what_it_describes(tmp_path: Path) -> None:
    told = described([], [records("r", field("r/n", "sc:Integer"), data=[{"r/n": 1}])])
    (tmp_path / "croissant.json").write_text(json.dumps(told))
    for path in (tmp_path, tmp_path / "croissant.json"):
        assert load_dataset(str(path), split="train", cache_dir=str(tmp_path / "cache"))["n"][:] == [1]


def test_splits_are_told_without_reading_the_files(tmp_path: Path) -> None:
    source = of("all", kind="fileSet", fileProperty="fullpath", transform={"regex": "(train|test)"})
    fields = [
        field("r/split", "sc:Text", source, references={"field": {"@id": "splits/name"}}),
        field("r/t", "sc:Integer", of("all", kind="fileSet", column="t")),
    ]
    told = described([file_set("all", "*.csv")], [SPLITS, records("r", *fields)])
    (tmp_path / "croissant.json").write_text(json.dumps(told))
    assert get_dataset_split_names("croissant", data_files=str(tmp_path / "croissant.json")) == ["train", "test"]


def test_a_field_may_come_from_another_of_its_record_set(load: Load) -> None:
    source = {"field": {"@id": "r/name"}, "transform": {"regex": "(\\w)"}}
    rows = load(
        {"a.csv": "n\nann\n"},
        [file("a.csv")],
        [records("r", field("r/name", "sc:Text", of("a.csv", column="n")), field("r/first", "sc:Text", source))],
    )
    assert rows[0] == {"name": "ann", "first": "a"}
    circle = [field("r/a", "sc:Text", {"field": {"@id": "r/b"}}), field("r/b", "sc:Text", {"field": {"@id": "r/a"}})]
    with pytest.raises(FileFormatError, match="'r/a' comes from itself"):
        load({}, [], [records("r", *circle)])


def test_a_value_of_one_of_many_files_is_told_by_its_file(load: Load) -> None:
    number = of("all", kind="fileSet", fileProperty="content")
    with pytest.raises(FileFormatError, match=r"b\.txt.*'r/n'.*'x'"):
        load(
            {"a.txt": "1", "b.txt": "x", "c.txt": "3"},
            [file_set("all", "*.txt", "text/plain")],
            [records("r", field("r/n", "sc:Integer", number))],
        )
