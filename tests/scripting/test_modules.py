"""Tests of datasets_core/scripting/modules.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from datasets_core.errors import DatasetNotFoundError, ScriptError
from datasets_core.load import load_dataset
from datasets_core.scripting.modules import collection_of, identifier, read_script, scan


def _script(folder: Path, text: str, **beside: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {"main": text, **beside}.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder / "main.py"


def _read(path: Path) -> dict[str, str]:
    return {module.name: module.text.decode() for module in read_script(path).modules}


def test_modules_beside_the_script_are_found_through_each_other(tmp_path: Path) -> None:
    path = _script(
        tmp_path, "from .a import x\nfrom . import b, unknown", a="from .c import y", b="", c="from .a import x", d=""
    )
    assert list(_read(path)) == ["main", "a", "b", "c"]


def test_packages_beside_the_script_are_found(tmp_path: Path) -> None:
    path = _script(
        tmp_path, "from .p.q import x\nfrom .n import m", p__q="from .r import z", p__r="from ..a import z", a="", n__m=""
    )
    (tmp_path / "p" / "__init__.py").write_text("'a package'")
    assert list(_read(path)) == ["main", "p", "p.q", "n.m", "p.r", "a"]


def test_imports_inside_functions_are_found(tmp_path: Path) -> None:
    path = _script(tmp_path, "def f():\n    from .a import x\n", a="")
    assert list(_read(path)) == ["main", "a"]


def test_a_missing_sibling_is_named_with_file_and_line(tmp_path: Path) -> None:
    path = _script(tmp_path, "import os\n\nfrom .gone import x\n")
    with pytest.raises(ScriptError, match=r"main\.py, line 3: it imports .*gone\.py, which does not exist"):
        read_script(path)


def test_a_missing_sibling_that_the_script_copes_without_is_no_error(tmp_path: Path) -> None:
    path = _script(tmp_path, "try:\n    from .gone import x\nexcept ImportError:\n    x = 1\n")
    assert list(_read(path)) == ["main"]


@pytest.mark.parametrize("line", ["from ..secret import x", "from ... import secret"])
def test_a_relative_import_does_not_leave_the_folder(tmp_path: Path, line: str) -> None:
    (tmp_path / "secret.py").write_text("x = 1")
    path = _script(tmp_path / "inner", line)
    with pytest.raises(ScriptError, match=r"main\.py, line 1: a relative import leaves the script's folder"):
        read_script(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\nclass :\n", r"main\.py, line 2: it is not valid Python"),
        ("x = " + "-" * 100_000 + "1", "nested too deep"),
        ("x = '\0'\n", r"main\.py.*it is not valid Python"),
    ],
)
def test_a_syntax_error_is_told_with_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ScriptError, match=words):
        read_script(_script(tmp_path, text))


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match=r"none\.py cannot be read"):
        read_script(tmp_path / "none.py")


def test_the_digest_is_that_of_all_texts_wherever_they_lie(tmp_path: Path) -> None:
    one = read_script(_script(tmp_path / "one", "from .a import x", a="x = 1"))
    two = read_script(_script(tmp_path / "two", "from .a import x", a="x = 1"))
    other = read_script(_script(tmp_path / "three", "from .a import x", a="x = 2"))
    assert one.digest == two.digest != other.digest
    assert one.package != two.package


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("import os, a.b, c as d", [("os", 1), ("a", 1), ("c", 1)]),
        ("from a.b import c", [("a", 1)]),
        ("def f():\n    import a", []),
        ("class C:\n    import a", [("a", 2)]),
        ("with x:\n    import a", [("a", 2)]),
        ("if x:\n    import a", []),
        ("try:\n    import a\nexcept ImportError:\n    import b", []),
        ("try:\n    import a\nexcept ValueError:\n    pass", [("a", 2)]),
        ("try:\n    import a\nexcept:\n    pass", []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\nelse:\n    import b", [("typing", 1)]),
        ("text = 'import nothing'", []),
    ],
)
def test_the_parser_finds_the_packages_that_are_needed(text: str, needed: list[tuple[str, int]]) -> None:
    assert list(scan("x.py", text.encode()).needed) == needed


def test_names_of_files_become_names_of_modules() -> None:
    assert identifier("imagenet-1k.v2") == "imagenet_1k_v2"


def test_what_is_imported_in_any_case_is_known(tmp_path: Path) -> None:
    text = "from .a import x\ntry:\n    from .b import x\nexcept ImportError:\n    pass\ndef f():\n    from .c import x\n"
    script = read_script(_script(tmp_path, text, a="from .d import x", b="from .e import x", c="", d="", e=""))
    assert {module.name for module in script.modules if module.is_certain} == {"main", "a", "d"}


@pytest.mark.parametrize(
    "line",
    [
        "from .a import x  # From: https://example.com/a.py",
        "import a  #From: https://example.com/a.py",
        "from .a import (  # (\n    x,\n)  # From: https://example.com/a.py",
    ],
)
def test_code_from_a_url_is_refused(tmp_path: Path, line: str) -> None:
    last = 1 + line.count("\n") + 1
    with pytest.raises(
        ScriptError, match=rf"main\.py, line {last}: .* refers to https://example\.com/a\.py, .*Put that file next to"
    ):
        read_script(_script(tmp_path, f"import os\n{line}\n", a="x = 1"))


TEXTS = ["x = 1  # From: https://example.com", '"\\n\\nfrom .a import x  # From: u\\n"', "# From: u"]


@pytest.mark.parametrize("text", TEXTS)
def test_other_comments_are_no_includes(tmp_path: Path, text: str) -> None:
    assert list(_read(_script(tmp_path, text))) == ["main"]


def test_the_dots_of_a_script_s_name_are_no_packages(tmp_path: Path) -> None:
    (tmp_path / "a.b-c.py").write_text("import datasets\nfrom .words import ALL\n")
    (tmp_path / "words.py").write_text("ALL = []\n")
    script = read_script(tmp_path / "a.b-c.py")
    assert [module.name for module in script.modules] == ["a.b-c", "words"]
    assert script.is_of_old_datasets


def test_a_pipe_and_a_file_of_gigabytes_are_no_scripts(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(1 << 30)

    with pytest.raises(DatasetNotFoundError, match="not a file but a folder, a pipe"):
        read_script(tmp_path / "pipe.py")
    with pytest.raises(ScriptError, match="1,073,741,824 bytes"):
        read_script(tmp_path / "large.py")


def _refused(path: Path, words: str) -> None:
    with pytest.raises(ScriptError, match=words) as caught:
        read_script(path, is_confined=True)
    assert "trust_remote_code=True" in str(caught.value)


def test_nothing_outside_its_folder_is_read_for_a_script_that_nobody_trusts(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hf_secret")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "creds.py").symlink_to("../token")
    (folder / "pack").symlink_to("../pack")
    (folder / "inner" / "__init__.py").symlink_to("../../token")
    guarded = "try:\n    from . import creds\nexcept ImportError: 0"
    for text in ("from .creds import x", "from .pack import x", "from .inner import x", guarded):
        _refused(_script(folder, text), r"a link that leads outside its folder")
    (folder / "main.py").unlink()
    (folder / "main.py").symlink_to("../token")
    _refused(folder / "main.py", r"main\.py: it is a link that leads out")


def test_links_inside_the_folder_are_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    path = _script(tmp_path / "real", "from .a import x", b="x = 1")
    (path.parent / "a.py").symlink_to("b.py")
    assert [each.name for each in read_script(tmp_path / "link" / "main.py", is_confined=True).modules] == ["main", "a"]


def test_a_collection_above_its_folder_is_none_of_a_script_that_nobody_trusts(tmp_path: Path) -> None:
    folder = tmp_path / "tensorflow_datasets" / "mine"
    path = _script(folder, "from tensorflow_datasets.other import x")
    (tmp_path / "tensorflow_datasets" / "other.py").write_text("x = 1")
    assert len(read_script(path).modules) == 2
    _refused(path, "outside its folder")


def test_a_package_that_is_a_collection_is_read_for_its_scripts_but_nothing_outside_it(tmp_path: Path) -> None:
    whole = tmp_path / "tensorflow_datasets"
    path = _script(whole / "mine", "from tensorflow_datasets.other import x\nfrom tensorflow_datasets.link import y")
    (whole / "__init__.py").write_text("")
    (whole / "other.py").write_text("x = 1")
    assert collection_of(str(path)) == str(whole)
    assert len(read_script(path, is_confined=True).modules) == 2
    (tmp_path / "token").write_text("hf_secret")
    (whole / "link.py").symlink_to("../token")
    _refused(path, "outside its folder")
    assert collection_of(str(_script(tmp_path / "mine", "x = 1"))) is None


def test_texts_that_are_too_large_are_not_parsed(tmp_path: Path) -> None:
    _refused(_script(tmp_path, "x;" * (1 << 20) + "x"), "2,097,153 bytes, more than the limit of 2,097,152")
    names = [f"m{number}" for number in range(5)]
    beside = dict.fromkeys(names, "#" * (2 << 20))
    _refused(_script(tmp_path, f"from . import {', '.join(names)}", **beside), "more than 8,388,608 bytes")
    with open(tmp_path / "main.py", "wb") as file:
        file.truncate((16 << 20) + 1)
    with pytest.raises(ScriptError, match="more than the limit of 16,777,216"):
        read_script(tmp_path / "main.py")


@pytest.mark.parametrize("caught", ["a" + ".a" * 900, "-" * 90 + "a"])
def test_odd_trees_are_no_failure_of_the_parser(caught: str) -> None:
    assert scan("a.py", f"try: pass\nexcept {caught}: pass".encode()).relative == ()


@pytest.mark.parametrize(
    "text", [b"# coding: punycode\n" + b"a" * 100_000, b"# coding: none\n", b"x = (" * 5000, b"\xff = 1  # From:"]
)
def test_texts_that_are_hard_to_parse_are_refused(text: bytes) -> None:
    with pytest.raises(ScriptError, match="it is"):
        scan("a.py", text)


# Modules of a collection are found in it, or next to the script.

BUILDER = """
import numpy as np
import tensorflow_datasets.public_api as tfds
from tensorflow_datasets.words import words_lib
import tensorflow_datasets.words.more_lib as more


class One(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        names = tfds.features.ClassLabel(names_file=tfds.core.tfds_path("words/names.txt"))
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"n": np.int64, "l": names}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        from tensorflow_datasets.words import words_lib as again

        assert again is words_lib
        yield 0, {"n": words_lib.NUMBER + more.NUMBER, "l": "b"}
"""


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words_lib.py").write_text("from tensorflow_datasets.words import more_lib\nNUMBER = more_lib.NUMBER + 1\n")
    (folder / "more_lib.py").write_text("NUMBER = 20\n")
    (folder / "names.txt").write_text("a\nb\n")


def test_in_the_collection(tmp_path: Path) -> None:
    root = tmp_path / "tensorflow_datasets"
    _write(root / "words")
    (root / "words" / "__init__.py").write_text("raise RuntimeError('it is not run')\n")
    script = root / "one" / "one.py"
    script.parent.mkdir()
    script.write_text(BUILDER)
    assert load_dataset(str(script), split="train", cache_dir=tmp_path / "c").to_list() == [{"n": 41, "l": 1}]
    names = [module.name for module in read_script(script).modules]
    assert names == ["one", "tensorflow_datasets.words.words_lib", "tensorflow_datasets.words.more_lib"]


def test_beside_the_script(tmp_path: Path) -> None:
    _write(tmp_path / "here")
    script = tmp_path / "here" / "one.py"
    script.write_text(BUILDER)
    assert load_dataset(str(script), split="train", cache_dir=tmp_path / "c")["n"][:] == [41]


def test_nowhere(tmp_path: Path) -> None:
    script = tmp_path / "one.py"
    script.write_text(BUILDER)
    with pytest.raises(ScriptError, match=r"line 4.*tensorflow_datasets has no 'words' here.*next to the script"):
        load_dataset(str(script), cache_dir=tmp_path / "c")


def test_a_changed_module_is_another_script(tmp_path: Path) -> None:
    _write(tmp_path)
    script = tmp_path / "one.py"
    script.write_text(BUILDER)
    before = read_script(script).digest
    (tmp_path / "more_lib.py").write_text("NUMBER = 21\n")
    assert read_script(script).digest != before
