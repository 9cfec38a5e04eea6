"""Media and other formats beside Hugging Face `datasets`: the same files give the same rows, but for what is meant.

Meant: bytes are stored, where theirs has paths; text of csv is `string`, where theirs is `large_string`.
"""

import io
import os
import tarfile
import zipfile

import pytest

from datasets_core.load import load_dataset

hf = pytest.importorskip("datasets")
if not hasattr(hf, "load_dataset") or "datasets_core" in (hf.__file__ or ""):
    pytest.skip("needs Hugging Face datasets", allow_module_level=True)

pytestmark = [
    pytest.mark.optional("datasets"),
    pytest.mark.filterwarnings("default"),  # what the peer warns of is not ours
]

A, B = b"\x89PNG\r\n\x1a\n A", b"\x89PNG\r\n\x1a\n B"


def tarred(**members):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name.replace("__", "."))
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return sink.getvalue()


def zipped(**members):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return sink.getvalue()


FASTA = b">id1 some desc\nACGT\nAC GT\n\n>id2\nTT\n>id3 \n"
FASTQ = b"@r1 d e\nAC\nGT\n+\nII\nII\n\n@r2\nAC\n+r2\n@!\n"
LINES = b'{"file_name": "d/a.png", "n": 1}\n{"file_name": "e/b.png", "n": 2}\n'
NAMES = b'{"file_names": ["a.png", "b.png"]}\n{"file_names": ["a.png"]}\n'
NUMBERED = b"file_name,n\nb.png,1\na.png,2\n"
CLASSES = {"d/a.png": A, "e/b.png": B}
ROWS = tarred(a__png=A, a__cls=b"3", a__json=b'{"x": 1}', b__png=B, b__cls=b"4", b__json=b'{"x": 2}')
CASES = {
    "flat": (None, {"a.png": A, "b.png": B}, {}),
    "classes": (None, {"dog/a.png": A, "cat/b.png": B}, {}),
    "one class": (None, {"dog/a.png": A}, {}),
    "one class, kept": ("imagefolder", {"dog/a.png": A}, {"drop_labels": False}),
    "depths": (None, {"dog/a.png": A, "cat/x/b.png": B}, {}),
    "splits of classes": (None, {"train/dog/a.png": A, "train/cat/a.png": B, "test/dog/b.png": B}, {}),
    "dropped labels": ("imagefolder", {"dog/a.png": A, "cat/b.png": B}, {"drop_labels": True}),
    "metadata": (None, {"a.png": A, "b.png": B, "metadata.csv": b"file_name,t\nb.png,B\na.png,A\n"}, {}),
    "name behind": (None, {"a.png": A, "b.png": B, "metadata.csv": b"t,file_name\nB,b.png\nA,a.png\n"}, {}),
    "lines": (None, CLASSES | {"metadata.jsonl": LINES}, {}),
    "dropped metadata": ("imagefolder", CLASSES | {"metadata.jsonl": LINES}, {"drop_metadata": True}),
    "metadata by split": (
        None,
        {
            "train/a.png": A,
            "test/b.png": B,
            "train/metadata.csv": b"file_name\na.png\n",
            "test/metadata.csv": b"file_name\nb.png\n",
        },
        {},
    ),
    "several files": (None, {"a.png": A, "b.png": B, "metadata.csv": b"left_file_name,mask_file_name\nb.png,a.png\n"}, {}),
    "lists": (None, {"a.png": A, "b.png": B, "metadata.jsonl": NAMES}, {}),
    "named lists": (None, {"a.png": A, "b.png": B, "metadata.jsonl": b'{"x_file_names": ["a.png", "b.png"], "n": 1}\n'}, {}),
    "structs": (None, {"a.png": A, "metadata.jsonl": b'{"o": [{"file_name": "a.png"}], "t": {"file_name": "a.png"}}\n'}, {}),
    "null": (None, {"a.png": A, "metadata.jsonl": b'{"file_name": "a.png"}\n{"file_name": null}\n'}, {}),
    "own label": (None, {"d/a.png": A, "metadata.jsonl": b'{"file_name": "d/a.png", "label": "x"}\n'}, {}),
    "filters": ("imagefolder", {"a.png": A, "b.png": B, "metadata.csv": NUMBERED}, {"filters": [("n", ">", 1)]}),
    "zip with metadata": (None, {"t.zip": zipped(a__png=A, metadata__csv=b"file_name,t\na.png,A\n")}, {}),
    "videos": (None, {"x/a.mp4": A, "y/b.mp4": B}, {}),
    "pdfs": (None, {"x/a.pdf": A, "y/b.pdf": B}, {}),
    "webdataset": (None, {"t.tar": ROWS}, {}),
    "webdataset text": ("webdataset", {"t.tar": tarred(a__txt=b"x", a__pkl=b"y", a__id=b"7", a__html=b"<p>")}, {}),
    "conll": ("conll", {"a.conll": b"-DOCSTART- -X-\n\nEU NNP\nx\n\n\nPeter NNP B\n"}, {"column_names": ["w", "p"]}),
    "conllu": (None, {"a.conllu": b"# id\n1\tThe\t_\n2\tcat sat\t_\n\n# x\n1\tHi\t_\n"}, {}),
    "fasta": (None, {"a.fa": FASTA}, {}),
    "fastq": (None, {"a.fq": FASTQ}, {}),
}  # fmt: skip


def plain(value, folder):
    """A value with the bytes of a file in place of its path."""
    if isinstance(value, dict) and list(value) == ["bytes", "path"]:
        if value["bytes"] is not None or value["path"] is None:
            return value["bytes"]
        if value["path"].startswith("zip://"):
            inner, _, archive = value["path"].removeprefix("zip://").partition("::")
            with zipfile.ZipFile(archive) as opened:
                return opened.read(inner)
        with open(os.path.join(folder, value["path"]), "rb") as handle:
            return handle.read()
    if isinstance(value, dict):
        return {key: plain(inner, folder) for key, inner in sorted(value.items())}
    return [plain(inner, folder) for inner in value] if isinstance(value, list) else value


def shown(features):
    return {name: str(feature).replace("large_string", "string") for name, feature in features.items()}


@pytest.mark.parametrize("case", CASES)
def test_the_same_files_give_the_same_rows(tmp_path, case):
    name, files, options = CASES[case]
    folder = tmp_path / "data"
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    if name in ("conll", "webdataset"):
        options = options | {"data_files": [str(folder / path) for path in files]}
    elif name:
        options = options | {"data_dir": str(folder)}
    ours = load_dataset(name or str(folder), cache_dir=str(tmp_path / "ours"), **options)
    theirs = hf.load_dataset(name or str(folder), cache_dir=str(tmp_path / "theirs"), **options)
    for split in theirs:
        assert shown(ours[split].features) == shown(theirs[split].features)
        pairs = [rows[split].with_format("arrow")[:].to_pylist() for rows in (ours, theirs)]
        assert plain(pairs[0], folder) == plain(pairs[1], folder)
    assert list(ours) == list(theirs)
