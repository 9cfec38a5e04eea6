"""The formats beside Hugging Face `datasets`: the same files give the same rows, but for differences that are meant.

Meant: an integer column with nulls stays integer; missing fields of a struct are null and make no `Json`; integers past 64 bits
keep their digits.
"""

import io
import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

hf = pytest.importorskip("datasets")
if not hasattr(hf, "load_dataset") or "datasets_core" in (hf.__file__ or ""):
    pytest.skip("needs Hugging Face datasets", allow_module_level=True)

pytestmark = [
    pytest.mark.optional("datasets"),
    pytest.mark.filterwarnings("default"),  # what the peer warns of is not ours
]


def plain(value):
    """A value with NaN as null and whole floats as integers: what a pandas frame cannot tell apart."""
    if isinstance(value, float):
        return None if math.isnan(value) else int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def theirs(tmp_path, format_name, files, options):
    folder = tmp_path / "peer"
    folder.mkdir()
    names = []
    for name, content in files.items():
        (folder / name).write_bytes(content)
        names.append(str(folder / name))
    return hf.load_dataset(format_name, data_files=names, split="train", cache_dir=str(tmp_path / "peer-cache"), **options)


CSV = {
    "types": ({}, b'i,f,b,s,d,n\n1,1.5,True,x,2020-01-01,\n-2,1e3,False,"y, z",2021-02-02,\n'),
    "nulls": ({}, b'a,b,c,d\n1,x,True,1.5\nNA,null,NaN,None\n,"",n/a,#N/A\n3,y,False,2.5\n'),
    "leading zeros": ({}, b"a,b\n007,1\n010,2\n"),
    "mixed": ({}, b"a,b\n007,True\nx,1\n"),
    "plus": ({}, b"a,b\n+5,+1.5\n6,2\n"),
    "unsigned": ({}, b"a,b\n9223372036854775808,1\n1,2\n"),
    "not numbers": ({}, b"a,b,c,d\n0x10,1_000,--5,1e\n1,2,3,4\n"),
    "spaces": ({}, b"a , b\n 1 , x \n 2,y\n"),
    "infinity": ({}, b"a,b\ninf,1\n-Infinity,2\n"),
    "times": ({}, b"a,b\n12:30,2020-01-01 10:00:00\n13:00,2020-01-01T11:00:00Z\n"),
    "duplicates": ({}, b"a,a,,b.1,b\n1,2,3,4,5\n"),
    "quotes": ({}, b'a,b\n"x ""y""","1\n2"\n5" pipe,"x"y\n'),
    "blank lines": ({}, b"\na,b\n\n1,2\n  \n3,4"),
    "crlf": ({}, b"a,b\r\n1,x\r\n2,y\r\n"),
    "bom": ({}, b"\xef\xbb\xbfa,b\n1,2\n"),
    "index": ({}, b"a,b\nx,1,2\ny,3,4\n"),
    "tab": ({"sep": "\t"}, b"a\tb\n1\tx y\n"),
    "no header": ({"header": None}, b"1,x\n2,y\n"),
    "names": ({"names": ["p", "q"]}, b"1,x\n2,y\n"),
    "column_names": ({"column_names": ["p", "q"], "header": 0}, b"a,b\n1,x\n"),
    "usecols": ({"usecols": ["b"]}, b"a,b\n1,x\n"),
    "skiprows": ({"skiprows": 1}, b"junk\na,b\n1,x\n"),
    "nrows": ({"nrows": 2}, b"a\n1\n2\n3\n"),
    "na_values": ({"na_values": ["-"]}, b"a,b\n-,x\n1,-\n"),
    "keep_default_na": ({"keep_default_na": False}, b"a,b\nNA,x\n1,\n"),
    "quoting": ({"quoting": 3}, b'a,b\n"x,y"\n'),
    "decimal": ({"sep": ";", "decimal": ","}, b"a;b\n1,5;x\n2,25;y\n"),
    "thousands": ({"thousands": ","}, b'a,b\n"1,000",x\n"20,000",y\n'),
    "latin-1": ({"encoding": "latin-1"}, "a,b\né,ü\n".encode("latin-1")),
    "comment": ({"comment": "#"}, b"a,b\n#c\n1,x#y\n"),
    "skipinitialspace": ({"skipinitialspace": True}, b'a, b\n1, "x, y"\n'),
    "escape": ({"escapechar": "\\"}, b'a,b\nx\\,y,"q\\"r"\n'),
    "bools": ({"true_values": ["yes"], "false_values": ["no"]}, b"a,b\nyes,1\nno,2\n"),
}  # fmt: skip

JSON = {
    "lines": ({}, b'{"a": 1, "b": "x"}\n{"a": 2, "b": null}\n'),
    "missing": ({}, b'{"a": 1}\n{"b": "x"}\n'),
    "int and float": ({}, b'{"a": 1}\n{"a": 1.5}\n'),
    "array": ({}, b'[{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}]'),
    "indented": ({}, json.dumps([{"a": 1, "b": {"c": "x"}}, {"a": 2, "b": {"c": "y"}}], indent=2).encode()),
    "strings": ({}, b'["x", "y"]'),
    "one object": ({}, b'{"a": [1, 2], "b": [3, 4]}'),
    "indented object": ({}, b'{\n"a": [1, 2],\n"b": [3, 4]\n}\n'),
    "field": ({"field": "data"}, b'{"version": "1", "data": [{"a": 1}, {"a": 2}]}'),
    "field of columns": ({"field": "data"}, b'{"data": {"a": [1, 2], "b": ["x", "y"]}}'),
    "dates": ({}, b'{"a": "2020-01-01", "b": "2020-01-01T10:00:00Z"}\n'),
    "not all dates": ({}, b'{"a": "2020-01-01"}\n{"a": "soon"}\n'),
    "mixed": ({}, b'{"a": 1}\n{"a": "x"}\n{"a": [1]}\n'),
    "mixed in lists": ({}, b'{"a": [1, "x"]}\n{"a": [2]}\n'),
    "mixed in structs": ({}, b'{"a": {"x": 1}}\n{"a": {"x": "s"}}\n'),
    "bom": ({}, b'\xef\xbb\xbf{"a": 1}\n'),
    "latin-1": ({"encoding": "latin-1"}, '{"a": "é"}\n'.encode("latin-1")),
    "null rows": ({}, b'{"a": 1}\nnull\n'),
}

TEXT = {
    "lines": ({}, b"a\n\nb\r\nc\rd"),
    "kept ends": ({"keep_linebreaks": True}, b"a\n\nb\r\nc"),
    "paragraphs": ({"sample_by": "paragraph"}, b"a\nb\n\n\nc\n\nd\n"),
    "document": ({"sample_by": "document"}, b"a\r\nb\n"),
    "separators": ({}, "a\x0bb\x85c\u2028d\n".encode()),
}

CASES = [
    pytest.param(format_name, *case, id=f"{format_name}: {name}")
    for format_name, cases in (("csv", CSV), ("json", JSON), ("text", TEXT))
    for name, case in cases.items()
]


@pytest.mark.parametrize(("format_name", "options", "content"), CASES)
def test_the_same_file_gives_the_same_rows(build, tmp_path, format_name, options, content):
    ours = build(format_name, {f"a.{format_name}": content}, **options)
    their = theirs(tmp_path, format_name, {f"a.{format_name}": content}, options)
    assert plain(list(ours)) == plain(list(their))


@pytest.mark.parametrize("case", [name for name in JSON if name not in ("strings", "one object")])
def test_json_columns_have_the_same_types(build, tmp_path, case):
    options, content = JSON[case]
    ours = build("json", {"a.json": content}, **options)
    their = theirs(tmp_path, "json", {"a.json": content}, options)
    assert ours.features.to_dict() == their.features.to_dict()


def test_parquet_features_are_theirs(build, tmp_path):
    features = hf.Features({"l": hf.ClassLabel(names=["a", "b"]), "s": hf.Value("string"), "n": hf.List(hf.Value("int32"))})
    rows = {"l": [0, 1], "s": ["x", None], "n": [[1], []]}
    sink = io.BytesIO()
    pq.write_table(pa.table(rows, schema=features.arrow_schema), sink)
    ours = build("parquet", {"a.parquet": sink.getvalue()})
    their = theirs(tmp_path, "parquet", {"a.parquet": sink.getvalue()}, {})
    assert (ours.features.to_dict(), list(ours)) == (their.features.to_dict(), list(their))
