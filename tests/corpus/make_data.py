"""Writes the files that the scripts of the corpus read; what it writes is committed, and is the same at every run.

python tests/corpus/make_data.py
"""
# ruff: noqa: E501

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import shutil
import sqlite3
import struct
import tarfile
import wave
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_TIME = (2021, 3, 4, 5, 6, 8)
_makers: dict[str, Callable[[Path], None]] = {}


def data(name: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Say that a function writes the files of one script."""

    def keep(make: Callable[[Path], None]) -> Callable[[Path], None]:
        _makers[name] = make
        return make

    return keep


# -- kinds of files ----------------------------------------------------------------------------------------------------


def text(path: Path, content: str, encoding: str = "utf-8") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode(encoding))


def raw(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def jsonl(rows: list[Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def tar(members: dict[str, bytes], mode: str = "w") -> bytes:
    """A tar of files and of the folders above them; compressed where the mode says so, with no time in it."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder in dict.fromkeys(name.rpartition("/")[0] for name in members if "/" in name):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return {"w": bytes, "w:gz": zipped, "w:bz2": bz2.compress, "w:xz": lzma.compress}[mode](plain.getvalue())


def zipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def zip_file(members: dict[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content)
    return plain.getvalue()


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    lines = b"".join(
        b"\0" + b"".join(bytes((c * (x + y + 1)) % 256 for c in colour) for x in range(width)) for y in range(height)
    )

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")


def wav(rate: int, frames: int, pitch: float) -> bytes:
    plain = io.BytesIO()
    with wave.open(plain, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(b"".join(struct.pack("<h", round(9000 * math.sin(i * pitch))) for i in range(frames)))
    return plain.getvalue()


# -- the files of each script ------------------------------------------------------------------------------------------


@data("plain_reviews")
def _(at: Path) -> None:
    text(
        at / "data/train.csv",
        "id,tool,review,stars,price\n"
        'r1,whisk,"Light, fast, and a joy",5,3.50\n'
        'r2,sieve,"It says ""fine"" on the box; it is not",2,\n'
        "r3,ladle,Zu groß für den Topf,3,0.1\n"
        'r4,tongs,"Two lines\nof praise",4,12\n',
    )
    text(at / "data/test.csv", "id,tool,review,stars,price\nr5,grater,,1,7.25\nr6,spoon,A spoon 🥄,5,1e2\n")
    features = {name: {"dtype": "string", "id": None, "_type": "Value"} for name in ("id", "tool", "review")}
    features |= {
        "stars": {"dtype": "int32", "id": None, "_type": "Value"},
        "price": {"dtype": "float32", "id": None, "_type": "Value"},
    }
    split = {"name": "train", "num_bytes": 100, "num_examples": 4, "dataset_name": "plain_reviews"}
    infos = {
        "default": {
            "description": "Reviews of kitchen tools, each with the number of stars that came with it.\n",
            "citation": "", "homepage": "https://example.org/spoons", "license": "CC0-1.0",
            "features": features,
            "post_processed": None, "supervised_keys": None, "task_templates": None, "builder_name": "plain_reviews",
            "config_name": "default",
            "version": {"version_str": "1.1.0", "description": None, "major": 1, "minor": 1, "patch": 0},
            "splits": {"train": split, "test": split | {"name": "test", "num_examples": 2, "num_bytes": 50}},
            "download_checksums": {}, "download_size": 300, "post_processing_size": None, "dataset_size": 150, "size_in_bytes": 450,
        }
    }  # fmt: skip
    text(at / "dataset_infos.json", json.dumps(infos))


@data("star_ratings")
def _(at: Path) -> None:
    text(at / "ratings.tsv", "a\t5\tsplendid\nb\t1\t\"never again\na\t3\tit 's fine\nb\t2\t\na\t1\tno\ttab\n")


@data("short_answers")
def _(at: Path) -> None:
    context = "The lighthouse on Grey Rock was lit in 1834. Its keeper was Ana Brandt."
    paragraph = {
        "context": context,
        "qas": [
            {"id": "q1", "question": "When was it lit?", "answers": [{"text": "1834", "answer_start": context.index("1834")}]},
            {"id": "q2", "question": "Who kept it?", "answers": [{"text": "Ana Brandt", "answer_start": 59}, {"text": "Brandt", "answer_start": 63}]},
        ],
    }  # fmt: skip
    empty = {"context": "", "qas": [{"id": "q3", "question": "Why?", "answers": []}]}
    text(
        at / "train.json",
        json.dumps({"version": "1", "data": [{"title": "Grey_Rock", "paragraphs": [paragraph]}, {"paragraphs": [empty]}]}),
    )
    text(at / "dev.json", json.dumps({"data": [{"title": "Dev", "paragraphs": [paragraph | {"qas": paragraph["qas"][:1]}]}]}))


@data("tile_pictures")
def _(at: Path) -> None:
    members = {}
    for i, (split, label) in enumerate(
        [("train", "moss"), ("test", "sand"), ("train", "slate"), ("train", "sand"), ("test", "moss")]
    ):
        members[f"tiles/{split}/{label}/{i}.png"] = png(4 + i, 3, (40 * i, 20, 200))
    members["tiles/train/moss/readme.txt"] = b"not a tile"
    raw(at / "tiles.tar.gz", tar(members, "w:gz"))


@data("spoken_words")
def _(at: Path) -> None:
    lines, members = [], {}
    for i, (word, rate) in enumerate([("stone", 8000), ("reed", 16000), ("brook", 8000), ("fern", 4000)]):
        lines.append(f"u{i}|{i % 2}|{word}\n")
        members[f"words/wav/u{i}.wav"] = wav(rate, 400, 0.1 + i / 10)
    raw(at / "words.zip", zip_file({"words/transcripts.txt": "".join(lines).encode(), **members}))


@data("river_texts")
def _(at: Path) -> None:
    text(at / "rivers.txt", "The Ebb runs north.\n\n  Its banks are of chalk.  \r\n \nNo bridge crosses it")


@data("label_files")
def _(at: Path) -> None:
    text(at / "animals.txt", "hen\ngoat\n\nowl\n")
    text(at / "words.tsv", "cluck\then\nbleat\tgoat\nhoot\towl\n")


@data("nested_lists")
def _(at: Path) -> None:
    p, q = {"x": 0.5, "y": -1}, {"x": None, "y": 2.0}
    full = {
        "ids": [1, 2], "pair": [3, 4], "words": ["a", ""], "grid": [[1, 2], [], [3]], "grid_of_sequences": [["x"], ["y", "z"]],
        "points": [p, q], "lines": [p, q, p], "lines_of_lines": [{"name": "n", "points": [p]}, {"name": None, "points": []}],
        "mixed": [{"tags": ["t"], "at": p}, {"tags": [], "at": q}], "box": {"inner": {"deep": [{"k": "v"}, {"k": None}]}},
        "of_lists": [[{"n": 1}, {"n": None}], []],
    }  # fmt: skip
    empty = {key: [] for key in full} | {"pair": [5, None], "box": {"inner": {"deep": []}}}
    none = dict.fromkeys(full) | {"pair": [0, 0]}
    holes = full | {
        "ids": [None, 7],
        "words": [None],
        "grid": [None, [None]],
        "points": [None, p],
        "box": {"inner": None},
        "lines": [],
    }
    columns = full | {
        "lines": {"x": [1.5], "y": [2.5]},
        "lines_of_lines": {"name": ["m"], "points": [[p, p]]},
        "mixed": {"tags": [["t"]], "at": [p]},
    }
    text(at / "nested.jsonl", jsonl([full, empty, none, holes, columns, {"ids": [9], "pair": [1, 1]}]))


@data("matrix_boards")
def _(at: Path) -> None:
    import numpy as np

    plain = io.BytesIO()
    np.save(plain, np.arange(36, dtype=np.int32).reshape(4, 3, 3) % 7)
    raw(at / "boards.npz", zip_file({"boards.npy": plain.getvalue()}))


@data("two_tongues")
def _(at: Path) -> None:
    danish = "havet er stort\nen båd\n\nhvor er broen?\nslut"
    text(at / "text/sea.da-nl.da", danish)
    text(at / "text/sea.da-nl.nl", "de zee is groot\neen boot\nleeg\nwaar is de brug?\n ")
    text(at / "text/sea.da-cy.da", danish)
    text(at / "text/sea.da-cy.cy", "mae'r môr yn fawr\ncwch\n\nble mae'r bont?\ndiwedd")


@data("many_tongues")
def _(at: Path) -> None:
    text(
        at / "sayings.csv",
        "saying,lang,text\nrain,en,It pours\nrain,fr,Il pleut\nrain,fr,Il tombe des cordes\nrain,de,Es gießt\n"
        "fire,en,No smoke without fire\nfire,tlh,qul\nbird,fr,Petit à petit\n",
    )


@data("version_notes")
def _(at: Path) -> None:
    text(at / "notes/old.txt", "the old text\n")
    text(at / "notes/new.txt", "the new text\n")


@data("script_in_script")
def _(at: Path) -> None:
    text(at / "cities.csv", "city,people\nUlm,126\nÅre,3\nBath,94\n")


@data("delegate_children")
def _(at: Path) -> None:
    snippets = [{"idx": str(i), "func": f"int f{i}() {{\n  return {i % 2};\n}}"} for i in range(4)]
    for folder, shift in (("pairs", 0), ("pairs_again", 1)):
        text(at / folder / "snippets.jsonl", jsonl(snippets))
        for number, split in enumerate(("train", "valid", "test")):
            text(
                at / folder / f"{split}.txt",
                "".join(f"{i}\t{(i + number + shift) % 4}\t{(number + shift) % 2}\n" for i in range(3 - number)),
            )


@data("base_in_sibling")
def _(at: Path) -> None:
    text(at / "one.csv", "ant,2\nelk,1900\n")
    text(at / "two.csv", "yak,\n")


@data("dl_shapes")
def _(at: Path) -> None:
    text(at / "parts/one.txt", "first\n")
    text(at / "parts/two.txt", "second\n")
    raw(at / "parts/three.txt.gz", zipped(b"third\n"))


@data("archive_many_splits")
def _(at: Path) -> None:
    members = {}
    for i in range(7):
        split = ("test", "train", "validation")[i % 3]
        members[f"letters/{split}/{i}.txt"] = f"Dear {i},\nyours".encode()
    for ending, mode in (("tar", "w"), ("tar.gz", "w:gz"), ("tar.bz2", "w:bz2"), ("tar.xz", "w:xz")):
        raw(at / f"letters.{ending}", tar(members, mode))
    raw(at / "letters.zip", zip_file(members))


@data("manual_folder")
def _(at: Path) -> None:
    text(at / "by_hand/shells.txt", "whelk;1950\ncockle;\nlimpet;-3\n")
    text(at / "by_hand/more/shells.txt", "oyster;2001\n")


@data("extract_many")
def _(at: Path) -> None:
    raw(at / "a.zip", zip_file({"a1.txt": b"alpha", "a2.txt": b"aleph"}))
    raw(at / "b.zip", zip_file({"b1.txt": b"beta"}))
    raw(at / "c.tar.gz", tar({"c1.txt": b"gamma"}, "w:gz"))


@data("walked_files")
def _(at: Path) -> None:
    members = {
        "forest/oak/leaf.txt": b"1", "forest/oak/log.txt": b"12", "forest/oak/deep/nest.txt": b"123", "forest/fir/lichen.txt": b"1234",
        "forest/top.txt": b"12345", "forest/.hidden.txt": b"123456", "forest/fir/.git/x.txt": b"1234567", "forest/__MACOSX/l.txt": b"",
    }  # fmt: skip
    raw(at / "forest.zip", zip_file(members))


@data("streaming_flag")
def _(at: Path) -> None:
    raw(at / "lines.tar.gz", tar({"a.txt": b"one\ntwo", "sub/b.txt": b"drei\nvier\n"}, "w:gz"))


@data("gz_lines")
def _(at: Path) -> None:
    rows = [{"id": i, "word": word, "when": f"2020-0{i}-01 00:00:0{i}"} for i, word in enumerate(["eins", "deux", "три"], 1)]
    content = jsonl(rows).encode()
    for ending, pack in (("gz", zipped), ("bz2", bz2.compress), ("xz", lzma.compress)):
        raw(at / f"words.jsonl.{ending}", pack(content))


@data("nested_archives")
def _(at: Path) -> None:
    texts = {"in/x.txt": b"ex", "in/y.txt": b"why"}
    raw(at / "outer.zip", zip_file({"outer/inner.tar.gz": tar(texts, "w:gz"), "outer/readme.txt": b"."}))
    raw(at / "tars.tar", tar({"first.tar": tar(texts), "second.tar": tar({"z.txt": b"zed"})}))
    raw(at / "outer.tar", tar({"first.zip": zip_file(texts), "second.zip": zip_file({"z.txt": b"zed"})}))


@data("shards_jsonl")
def _(at: Path) -> None:
    for part in range(5):
        rows = [{"n": 100 * part + i, "tags": [f"p{part}"] * i} for i in range(part % 3 + 1)]
        text(at / f"parts/part-{part:02d}.jsonl", jsonl(rows))


@data("shards_side_by_side")
def _(at: Path) -> None:
    for part in range(3):
        text(at / f"texts/{part}.txt", "".join(f"text {part} {i}\n" for i in range(3)))
        text(at / f"labels/{part}.txt", "".join(f"{(part + i) % 2}\n" for i in range(3)))


@data("shards_of_archives")
def _(at: Path) -> None:
    for part in range(4):
        raw(at / f"box_{part}.tar", tar({f"b{part}/{i}.txt": f"{part}/{i}".encode() for i in range(2)}))


@data("config_features")
def _(at: Path) -> None:
    wet = [
        {"split": "train", "idx": 0, "question": "Is it?", "passage": "It is.", "label": True},
        {"split": "train", "idx": 1, "question": "Was it?", "passage": "", "label": False},
        {"split": "validation", "idx": 0, "question": "Why?", "passage": None, "label": True},
        {"split": "test", "idx": 0, "question": "How?", "passage": "So."},
    ]
    text(at / "wet.jsonl", jsonl(wet))
    text(at / "deep.jsonl", jsonl([{"split": "train", "idx": 5, "question": "Deep?", "label": "deep"}]))


@data("config_from_data_dir")
def _(at: Path) -> None:
    text(at / "files/text.txt", "own one\nown two\n")
    text(at / "elsewhere/text.txt", "given\n")


@data("config_data_files")
def _(at: Path) -> None:
    text(at / "given/a.txt", "a1\na2\n")
    text(at / "given/b.txt", "b1\n")


@data("yields_from")
def _(at: Path) -> None:
    text(at / "lines.txt", "one\ntwo\n\nfour\nfünf\n")


@data("empty_split")
def _(at: Path) -> None:
    text(at / "nothing.txt", "")


@data("pandas_chunks")
def _(at: Path) -> None:
    text(
        at / "plants.csv",
        "plant,height,count,seen\nfern,1.5,3,True\nmoss,0.25,10,False\noak,20,1,True\nNA,3.5,2,False\nbirch,12.125,4,True\n",
    )


@data("excel_sheets")
def _(at: Path) -> None:
    def sheet(rows: list[tuple[str, Any]]) -> str:
        body = ""
        for number, (city, trams) in enumerate(rows, 1):
            second = (
                f'<c r="B{number}" t="inlineStr"><is><t>{trams}</t></is></c>'
                if isinstance(trams, str)
                else f'<c r="B{number}"><v>{trams}</v></c>'
            )
            body += f'<row r="{number}"><c r="A{number}" t="inlineStr"><is><t>{city}</t></is></c>{second}</row>'
        return f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{body}</sheetData></worksheet>'

    office, package = (
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "http://schemas.openxmlformats.org/package/2006",
    )
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    members = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet2.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{office}"><sheets>'
        '<sheet name="north" sheetId="1" r:id="r1"/><sheet name="south" sheetId="2" r:id="r2"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{office}/worksheet" Target="worksheets/sheet2.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": sheet([("City", "Trams"), ("Norr", 12), ("Havn", 7)]),
        "xl/worksheets/sheet2.xml": sheet([("City", "Trams"), ("Söder", 3)]),
    }  # fmt: skip
    raw(at / "trams.xlsx", zip_file({name: (head + content).encode() for name, content in members.items()}))


@data("numpy_values")
def _(at: Path) -> None:
    import numpy as np

    plain = io.BytesIO()
    np.save(plain, np.arange(9, dtype=np.int16).reshape(3, 3))
    raw(at / "table.npy", plain.getvalue())


@data("conllu_trees")
def _(at: Path) -> None:
    def word(*columns: str) -> str:
        return "\t".join([*columns, *["_"] * (10 - len(columns))]) + "\n"

    first = word("1", "The", "the", "DET", "DT", "Definite=Def", "2", "det") + word(
        "2", "reeds", "reed", "NOUN", "NNS", "Number=Plur", "3", "nsubj"
    )
    first += word("3", "bend", "bend", "VERB", "VBP", "Mood=Ind|Tense=Pres", "0", "root") + word(
        "4", ".", ".", "PUNCT", ".", "_", "3", "punct"
    )
    second = (
        word("1-2", "im", "_")
        + word("1", "in", "in", "_", "_", "_", "0", "root")
        + word("2", "dem", "der", "DET", "_", "_", "1", "det")
    )
    text(at / "trees.conllu", f"# sent_id = s1\n# text = The reeds bend.\n{first}\n# sent_id = s2\n{second}\n")


@data("conll_tags")
def _(at: Path) -> None:
    text(
        at / "train.conll",
        "-DOCSTART- -X- O O\n\nThe DT x O\nElsie NN x B-SHIP\nsailed VB x O\n. . x O\n\nNorth NN x B-ISLE\nUist NN x I-ISLE\n\n\n# # x O\n",
    )
    text(at / "dev.conll", "\" '' x O\nHome NN x O")


@data("lxml_pages")
def _(at: Path) -> None:
    text(
        at / "page.xml",
        '<?xml version="1.0"?><notes><note id="n1">one <b>bold</b> word</note><note id="n2"/><note id="n3">ü &amp; so</note></notes>',
    )
    text(
        at / "page.html",
        "<html><head><meta charset='utf-8'></head><body><p id=a>first<p id=b>sec<i>on</i>d &eacute;</body></html>",
    )


@data("soup_pages")
def _(at: Path) -> None:
    text(at / "page.html", "<section><h2>Nuts</h2><ul><li>hazel<li>wal&shy;nut</ul></section><section><h2>None</h2></section>")


@data("zst_lines")
def _(at: Path) -> None:
    import zstandard

    rows = [{"text": f"line {i}", "meta": {"set": "abc"[i]}} for i in range(3)]
    raw(at / "lines.jsonl.zst", zstandard.ZstdCompressor(level=3).compress(jsonl(rows).encode()))


@data("arrow_tables")
def _(at: Path) -> None:
    text(at / "a.csv", "x,y\n1,one\n2,two\n")
    text(at / "b.csv", "x,y\n3,\n4,four\n")


@data("parquet_parts")
def _(at: Path) -> None:
    import datetime as dt

    import pyarrow as pa
    import pyarrow.parquet as pq

    for part in range(3):
        when = [dt.datetime(2020, 1, 1 + i, 0, 0, 0, 5000) for i in range(part + 1)]
        columns = {
            "id": pa.array(range(part + 1), "int32"),
            "name": [None, *"ab"][: part + 1],
            "when": pa.array(when, "timestamp[us]"),
        }
        columns["tags"] = [["t"] * i or None for i in range(part + 1)]
        pq.write_table(pa.table(columns), at / f"part-{part}.parquet")


@data("odd_dialects")
def _(at: Path) -> None:
    text(at / "semicolon.csv", 'a;b\n1,5;"x;y"\n')
    text(at / "single_quotes.csv", "a, b\n'it, is', 'so'\n")
    text(at / "escaped.csv", 'a,b\none\\, two,"quoted"\n')
    text(at / "bom.csv", "\ufeffa,b\nfirst,ø\n")
    text(at / "latin.csv", "a,b\nÆsir,naïve\n", "latin-1")
    text(at / "utf16.csv", "a,b\r\nκ,ж\r\n", "utf-16")
    text(at / "no_header.csv", "1,2\n3\n")
    text(at / "line_breaks.csv", 'a,b\r\n"x\r\ny","q""q"\r\n"",\r\n')
    text(at / "spaces.csv", 'a   b\n1 "two three"\n')
    text(at / "skipped.csv", "written by hand\na,b\n# a remark\nu,v\n")


@data("xml_books")
def _(at: Path) -> None:
    text(
        at / "books.xml",
        '<?xml version="1.0" encoding="utf-8"?>\n<books><book isbn="1"><title>Tides &amp; Time</title><author>A. Möwe</author>'
        '<author>B. Tern</author><year>1977</year></book><book isbn="2"><title>Sand</title></book></books>',
    )


@data("json_holes")
def _(at: Path) -> None:
    full = {
        "id": 1, "name": "n", "ok": True, "tags": ["t"], "place": {"x": 1.5, "y": 2, "names": ["p"]},
        "notes": [{"who": "w", "said": "s"}], "links": [{"url": "u", "n": 1}], "label": "b",
    }  # fmt: skip
    rows = [
        full,
        dict.fromkeys(full),
        {"id": 3},
        {
            "extra": [1],
            **full,
            "place": {"x": None, "other": 1},
            "notes": [{"who": None}, None, {}],
            "links": [{"n": 2}, {"url": "v", "z": 1}],
        },
        dict(reversed(full.items())),
        full | {"place": None, "notes": [], "links": {"url": ["a", None]}, "tags": [None], "label": None},
    ]
    text(at / "holes.json", json.dumps({"rows": rows}))


@data("dedented")
def _(at: Path) -> None:
    text(at / "tides.txt", "Leith, 5.6\nLeith; 5.2\nOban , 4\nLeith,0.5\n")


@data("many_tasks")
def _(at: Path) -> None:
    mood = 'sentence\tlabel\na fine day\t1\nno "good\t0\nhalf\n'
    raw(at / "mood.zip", zip_file({"MOOD/train.tsv": mood.encode(), "MOOD/test.tsv": b"index\tsentence\n0\twell\n"}))
    alike = "sentence1\tsentence2\tscore\nx\ty\t4.5\np\tq\t0\n"
    raw(at / "alike.zip", zip_file({"ALIKE/train.tsv": alike.encode(), "ALIKE/test.tsv": b"sentence1\tsentence2\nx\ty\n"}))


@data("dialog_turns")
def _(at: Path) -> None:
    state = {"intent": "find", "requested": ["name", "price"]}
    slots = [{"slot": "city", "start": 3}, {"slot": "day", "start": 9}]
    talks = [
        {
            "dialogue_id": "1_0", "services": ["hotels"],
            "turns": [
                {"speaker": "USER", "utterance": "A room?", "frames": [{"service": "hotels", "slots": slots, "state": state}]},
                {"speaker": "SYSTEM", "utterance": "Yes.", "frames": []},
            ],
        },
        {"dialogue_id": "1_1", "services": [], "turns": []},
    ]  # fmt: skip
    bare = {
        "dialogue_id": "t",
        "services": ["x"],
        "turns": [{"speaker": "USER", "utterance": "", "frames": [{"service": "x", "slots": [], "state": None}]}],
    }
    raw(
        at / "talks.zip",
        zip_file({"talks/train.json": json.dumps(talks).encode(), "talks/test.json": json.dumps([bare]).encode()}),
    )


@data("recorded_infos")
def _(at: Path) -> None:
    rows = [
        {"q": "why", "a": [{"text": "so", "n": 1}], "label": "x"},
        {"q": "how", "a": [], "label": 1},
        {"q": "", "a": {"text": ["t"], "n": [2]}, "label": None},
    ]
    text(at / "rows.jsonl", jsonl(rows))
    value = {"id": None, "_type": "Value"}
    features = {
        "q": {"dtype": "string", **value},
        "a": {
            "feature": {"text": {"dtype": "string", **value}, "n": {"dtype": "int32", **value}},
            "length": -1,
            "id": None,
            "_type": "Sequence",
        },
        "label": {"num_classes": 2, "names": ["x", "y"], "names_file": None, "id": None, "_type": "ClassLabel"},
    }
    split = {"name": "train", "num_bytes": 123, "num_examples": 3, "dataset_name": "recorded_infos"}
    info = {
        "description": "Recorded.", "citation": "", "homepage": "", "license": "", "features": features,
        "post_processed": {"features": None, "resources_checksums": {"train": {}}},
        "supervised_keys": {"input": "q", "output": "label"},
        "task_templates": [{"task": "text-classification", "text_column": "q", "label_column": "label", "labels": ["x", "y"]}],
        "builder_name": "recorded_infos", "config_name": "right",
        "version": {"version_str": "1.0.0", "description": None, "major": 1, "minor": 0, "patch": 0},
        "splits": {"train": split},
        "download_checksums": {"rows.jsonl": {"num_bytes": 1, "checksum": "0" * 64}},
        "download_size": 1, "post_processing_size": None, "dataset_size": 123, "size_in_bytes": 124,
    }  # fmt: skip
    infos = {
        "right": info,
        "more_rows": info | {"config_name": "more_rows", "splits": {"train": split | {"num_examples": 30}}},
        "more_splits": info | {"config_name": "more_splits", "splits": {"train": split, "test": split | {"name": "test"}}},
    }
    text(at / "dataset_infos.json", json.dumps(infos))


@data("folder_labels")
def _(at: Path) -> None:
    places = [
        ("train", "Cat", "b.png"),
        ("train", "Cat", "a.png"),
        ("train", "Dog", "c.png"),
        ("test", "Dog", "d.png"),
        ("test", "Dog", "notes.txt"),
    ]
    raw(
        at / "pets.zip",
        zip_file({f"pets/{split}/{label}/{name}": png(3, 2 + i, (i, 99, 7)) for i, (split, label, name) in enumerate(places)}),
    )


@data("picture_values")
def _(at: Path) -> None:
    raw(at / "dot.png", png(5, 4, (250, 3, 77)))


@data("sound_values")
def _(at: Path) -> None:
    raw(at / "sounds.tar.gz", tar({f"sounds/{i}.wav": wav(8000 * (i + 1), 160, 0.3) for i in range(2)}, "w:gz"))


@data("path_objects")
def _(at: Path) -> None:
    members = {
        "leaves/train_oak.txt": "wavy\n",
        "leaves/train_ivy.txt": "five lobes",
        "leaves/test_elm.txt": "lop-sided é",
        "leaves/test_no.md": "#",
    }
    raw(at / "leaves.zip", zip_file({name: content.encode() for name, content in members.items()}))


@data("database_rows")
def _(at: Path) -> None:
    connection = sqlite3.connect(at / "stones.sqlite")
    connection.execute("pragma page_size = 512")
    connection.execute("create table stones (id integer primary key, name text, weight real, blob blob)")
    connection.executemany(
        "insert into stones values (?, ?, ?, ?)", [(2, "flint", 0.5, b"\x01"), (1, None, 3, None), (3, "köl", None, b"")]
    )
    connection.commit()
    connection.close()


@data("archives_by_hand")
def _(at: Path) -> None:
    members = {"box/a.txt": b"in a", "box/b.txt": "in ß".encode()}
    raw(at / "box.zip", zip_file(members))
    raw(at / "box.tar", tar(members))


@data("tables_of_text")
def _(at: Path) -> None:
    text(at / "pairs/train.tsv", 's1\ts2\tgold\nIt rains.\tIt is wet.\tentailment\nA\tB\t-\n"quote\tno\tneutral\n')
    text(at / "pairs/unlabelled.tsv", "s2\ts1\nlater\tsooner\n")


@data("keeps_state")
def _(at: Path) -> None:
    text(at / "book.json", json.dumps({"ebb": "water goes", "flow": "water comes"}))
    text(at / "train.txt", "ebb flow wind")
    text(at / "test.txt", "flow")


@data("http_plain")
def _(at: Path) -> None:
    text(at / "served/isles.csv", "isle,area\nRùm,104.6\nEigg,30.5\n")


@data("http_archive")
def _(at: Path) -> None:
    members = {f"shells/{split}/{i}.txt": f"{split} {i}".encode() for split in ("test", "train") for i in range(2)}
    raw(at / "served/shells.tar.gz", tar(members, "w:gz"))
    raw(at / "served/shells.zip", zip_file(members))


@data("http_many")
def _(at: Path) -> None:
    raw(at / "served/one.txt.gz", zipped(b"one, packed\n"))
    text(at / "served/two.txt", "two, plain\n")
    raw(at / "served/box.zip", zip_file({"box/x.txt": b"ex", "box/y.txt": b"why"}))


@data("http_query")
def _(at: Path) -> None:
    rows = jsonl([{"n": i, "s": "s" * i} for i in range(3)])
    text(at / "served/rows.jsonl", rows)
    raw(at / "served/rows.jsonl.gz", zipped(rows.encode()))
    raw(at / "served/rows.zip", zip_file({"rows.jsonl": rows.encode()}))


@data("http_shards")
def _(at: Path) -> None:
    for part in range(3):
        rows = [
            {"text": f"t{part}{i}", "url": f"https://example.org/{part}/{i}", "timestamp": f"2019-04-2{i}T12:00:00"}
            for i in range(part + 1)
        ]
        raw(at / f"served/part-{part:05d}-of-00003.json.gz", zipped(jsonl(rows).encode()))


@data("http_missing")
def _(at: Path) -> None:
    text(at / "served/something.txt", "better\nthan nothing\n")


@data("http_pictures")
def _(at: Path) -> None:
    raw(at / "served/pictures.zip", zip_file({f"pictures/{i}.png": png(2 + i, 2, (i * 9, 50, 60)) for i in range(2)}))
    text(at / "served/captions.csv", 'file,caption,boxes\n0.png,a small one,0 0 1 1;0.5 0 1 2\n1.png,"a wide, dark one",\n')


@data("http_and_local")
def _(at: Path) -> None:
    text(at / "served/texts.json", json.dumps({"b": "bee", "a": "ant", "c": "crab"}))
    text(at / "labels.json", json.dumps({"a": "good", "b": 0}))


@data("lists_that_belong_together")
def _(at: Path) -> None:
    for name, words in (("a", "kin keel"), ("b", "moor"), ("c", "ness nab nose")):
        text(at / f"parts/{name}.txt", words)


@data("mixed_lists")
def _(at: Path) -> None:
    text(at / "one.txt", "first\n")
    raw(at / "two.tar", tar({"in/a.txt": b"ay", "in/b.txt": b"bee"}))
    text(at / "three.txt", "last")


@data("http_rewritten")
def _(at: Path) -> None:
    words = json.dumps({"harbour": ["habour", "harbur"], "quay": []})
    text(at / "served/words.json", words)
    raw(at / "served/words.zip", zip_file({"words.json": words.encode()}))


_KEPT = {".py", ".md"}  # written by hand


def main() -> None:
    """Write all files anew."""
    for name, make in _makers.items():
        folder = HERE / name
        for path in folder.iterdir():
            if path.suffix not in _KEPT:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        make(folder)


if __name__ == "__main__":
    main()
