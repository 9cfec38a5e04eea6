"""Tests of datasets_core/scripting/script.py."""

from __future__ import annotations

import logging
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.builder import DatasetBuilder
from datasets_core.engines.deadline import Deadline
from datasets_core.engines.pool import ProcessEngine
from datasets_core.errors import (
    DatasetNotFoundError,
    MissingDependencyError,
    ScriptError,
    ScriptTimeoutError,
    UnknownColumnError,
    UnknownConfigError,
)
from datasets_core.features.base import Value
from datasets_core.scripting.compat.tables import open_module
from datasets_core.scripting.modules import read_script, scan
from datasets_core.scripting.script import load_script, ran, rewritten

HEAD = "import datasets_core as datasets\n"
BUILDER = """
class {name}(datasets.GeneratorBasedBuilder):
    TAG = {tag!r}

    def _info(self):
        return datasets.DatasetInfo()

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train")]

    def _generate_examples(self):
        yield 0, {{"x": self.TAG}}
"""


def _text(name: str = "Main", tag: Any = 1, before: str = "", after: str = "") -> str:
    return HEAD + before + BUILDER.format(name=name, tag=tag) + after


def _write(folder: Path, text: str, name: str = "main.py") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def _tag(cls: type[DatasetBuilder]) -> Any:
    return cls.TAG  # type: ignore[attr-defined]


def test_the_class_of_a_script_is_loaded_once_per_text(tmp_path: Path) -> None:
    path = _write(tmp_path, _text())
    found = load_script(path)
    assert issubclass(found, DatasetBuilder)
    assert load_script(path) is found
    assert found.get_imported_module_dir() == str(tmp_path)


def test_a_changed_script_is_a_new_module_and_the_old_class_stays(tmp_path: Path) -> None:
    old = load_script(_write(tmp_path, _text(tag=1)))
    new = load_script(_write(tmp_path, _text(tag=2)))
    assert (_tag(old), _tag(new)) == (1, 2)
    assert old.__module__ != new.__module__


def test_a_changed_module_beside_the_script_is_seen_at_once(tmp_path: Path) -> None:
    path = _write(tmp_path, _text(before="from .other import VALUE\n", after="    TAG = VALUE\n"))
    _write(tmp_path, "VALUE = 1", "other.py")
    old = load_script(path)
    _write(tmp_path, "VALUE = 2", "other.py")  # same size, perhaps the same mtime
    assert (_tag(old), _tag(load_script(path))) == (1, 2)


def test_modules_of_a_package_beside_the_script_are_those_that_were_read(tmp_path: Path) -> None:
    text = "from .parts import inner\nfrom .parts.inner import VALUE\n"
    path = _write(tmp_path, _text(before=text, after="    TAG = (VALUE, inner.datasets.__name__)\n"))
    _write(tmp_path / "parts", "from .inner import VALUE\n", "__init__.py")
    _write(tmp_path / "parts", "import datasets\nVALUE = datasets.Version('1.2.3').minor\n", "inner.py")
    value, name = _tag(load_script(path))
    assert (value, name) == (2, "datasets_core.scripting.compat.tables.datasets")
    assert not list(tmp_path.rglob("__pycache__"))


def test_two_scripts_of_one_name_do_not_meet(tmp_path: Path) -> None:
    text = _text(before="from .other import VALUE\n", after="    TAG = VALUE\n")
    one, two = _write(tmp_path / "one", text), _write(tmp_path / "two", text)
    _write(tmp_path / "one", "VALUE = 1", "other.py")
    _write(tmp_path / "two", "VALUE = 2", "other.py")
    assert (_tag(load_script(one)), _tag(load_script(two))) == (1, 2)


def test_nothing_leaks_into_the_search_path_and_nothing_is_written(tmp_path: Path) -> None:
    before = list(sys.path)
    path = _write(tmp_path, _text(before="from .leaky import VALUE\n"))
    _write(tmp_path, "VALUE = 1", "leaky.py")
    load_script(path)
    assert sys.path == before
    assert "leaky" not in sys.modules
    assert "main" not in sys.modules
    assert sorted(each.name for each in tmp_path.iterdir()) == ["leaky.py", "main.py"]


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    path = _write(tmp_path, _text(before="from .a import value\n", after="    TAG = value()\n"))
    _write(tmp_path, "from . import b\nNUMBER = 7\ndef value():\n    return b.value()\n", "a.py")
    _write(tmp_path, "from . import a\ndef value():\n    return a.NUMBER\n", "b.py")
    assert _tag(load_script(path)) == 7


def test_names_with_hyphens_and_points_are_scripts_too(tmp_path: Path) -> None:
    path = _write(tmp_path / "imagenet-1k.v2", _text(tag="x"), "imagenet-1k.v2.py")
    assert _tag(load_script(path)) == "x"


def test_dataclasses_and_module_loggers_work_as_in_any_module(tmp_path: Path) -> None:
    before = (
        "from __future__ import annotations\nimport dataclasses\nfrom typing import ClassVar\n"
        "logger = datasets.logging.get_logger(__name__)\n"
    )
    after = "\n@dataclasses.dataclass\nclass C:\n    a: ClassVar[int] = 1\n    b: int = 2\n\nMain.TAG = (C().b, logger)\n"
    text = before.split("\n", 1)[0] + "\n" + _text(before=before.split("\n", 1)[1], after=after)
    number, logger = _tag(load_script(_write(tmp_path, text)))
    assert number == 2
    assert isinstance(logger, logging.Logger)


# -- which class -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["first", "the-first", "f.irst", "First_2"])
def test_the_first_class_that_the_script_defines_is_meant_if_it_is_called_so(tmp_path: Path, name: str) -> None:
    text = _text("First", 1) + BUILDER.format(name="Second", tag=2)
    assert load_script(_write(tmp_path, text, f"{name}.py")).__name__ == "First"


def test_two_builders_that_have_nothing_to_do_with_each_other_are_told_with_their_lines(tmp_path: Path) -> None:
    text = _text("First", 1) + BUILDER.format(name="Second", tag=2)
    with pytest.raises(
        ScriptError, match=r"main\.py, line 3: it defines two builders, First and Second \(line 15\)\. Leave one"
    ):
        load_script(_write(tmp_path, text))


def test_of_a_builder_and_what_derives_from_it_the_first_is_meant(tmp_path: Path) -> None:
    assert (
        load_script(_write(tmp_path, _text("Base", after="class Real(Base):\n    TAG = 2\nAlias = Real\n"))).__name__ == "Base"
    )


def test_an_imported_class_is_meant_only_where_the_script_defines_none(tmp_path: Path) -> None:
    _write(tmp_path, _text("Base", 1) + BUILDER.format(name="Last", tag=2), "other.py")
    own = load_script(_write(tmp_path, _text("Own", before="from .other import Base\n")))
    foreign = load_script(_write(tmp_path, HEAD + "from .other import Base, Last\n", "foreign.py"))
    assert (own.__name__, foreign.__name__) == ("Own", "Last")


def test_abstract_classes_are_passed_over(tmp_path: Path) -> None:
    abstract = "class Abstract(datasets.GeneratorBasedBuilder):\n    def _info(self):\n        return datasets.DatasetInfo()\n"
    assert load_script(_write(tmp_path, _text("Real", before=abstract))).__name__ == "Real"


def test_hooks_may_be_set_after_the_class_was_made(tmp_path: Path) -> None:
    text = _text().replace("    def _generate_examples", "def rows") + "\nMain._generate_examples = rows\n"
    assert load_script(_write(tmp_path, text.replace("        yield", "    yield"))).__name__ == "Main"


def test_abc_may_stand_before_a_base_of_ours(tmp_path: Path) -> None:
    base = "from abc import ABC\nclass Base(ABC, datasets.GeneratorBasedBuilder):\n    pass\n"
    text = _text(before=base).replace("class Main(datasets.GeneratorBasedBuilder)", "class Main(Base)")
    assert load_script(_write(tmp_path, text)).__name__ == "Main"


@pytest.mark.parametrize("text", ["x = 1\n", "from datasets_core import GeneratorBasedBuilder, ArrowBasedBuilder\n"])
def test_a_script_without_a_builder_is_told_so(tmp_path: Path, text: str) -> None:
    with pytest.raises(ScriptError, match=r"main\.py: it defines no dataset builder"):
        load_script(_write(tmp_path, text))


# -- what can go wrong -------------------------------------------------------------------------------------------------


def test_a_missing_package_is_named_and_nothing_runs(tmp_path: Path) -> None:
    path = _write(tmp_path, _text(before="raise SystemExit('ran')\n", after="\nimport not_there_at_all.x\n"))
    with pytest.raises(MissingDependencyError, match=r"main\.py, line 16, needs the package 'not_there_at_all'"):
        load_script(path)


def test_all_missing_packages_are_named_at_once(tmp_path: Path) -> None:
    _write(tmp_path, "import third_one, not_there\n", "other.py")
    path = _write(tmp_path, _text(before="import not_there, json\nfrom .other import x\nimport second_one.x\n"))
    with pytest.raises(
        MissingDependencyError,
        match=r"main\.py, line \d+, needs packages that are not installed: 'not_there', 'second_one', 'third_one'\. "
        "Run: pip install 'not_there' 'second_one' 'third_one'",
    ) as caught:
        load_script(path)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.package, again.more) == ("not_there", (("second_one", "second_one"), ("third_one", "third_one")))


def test_a_package_that_a_function_imports_is_missed_when_it_is_called(tmp_path: Path) -> None:
    after = "\ndef f():\n    import not_there_at_all.x\n"
    load_script(_write(tmp_path, _text(after=after)))
    with pytest.raises(MissingDependencyError, match=r"main\.py, line 16, needs the package 'not_there_at_all'"):
        load_script(_write(tmp_path, _text(after=f"{after}f()\n")))


def test_a_package_that_a_module_beside_the_script_misses_is_named(tmp_path: Path) -> None:
    _write(tmp_path, "import not_there_at_all\n", "other.py")
    with pytest.raises(MissingDependencyError, match=r"other\.py, line 1, needs the package 'not_there_at_all'"):
        load_script(_write(tmp_path, _text(before="raise SystemExit('ran')\nfrom .other import x\n")))
    guarded = "try:\n    from .other import x\nexcept ImportError:\n    x = 1\n"
    assert load_script(_write(tmp_path, _text(before=guarded))).__name__ == "Main"


def test_modules_whose_imports_go_in_a_circle_that_python_cannot_walk(tmp_path: Path) -> None:
    _write(tmp_path, "from .b import late\nearly = 1\n", "a.py")
    _write(tmp_path, "from .a import early\nlate = 1\n", "b.py")
    with pytest.raises(
        ScriptError, match=r"b\.py, line 1: importing it failed with ImportError: cannot import name 'early'.*circular"
    ):
        load_script(_write(tmp_path, _text(before="from .a import early\n")))


def test_the_name_to_install_is_told_where_it_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "sklearn")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="pip install 'scikit-learn'"):
        load_script(_write(tmp_path, _text(before="import sklearn\n")))


def test_a_package_that_the_script_copes_without_may_be_missing(tmp_path: Path) -> None:
    before = "try:\n    import not_there_at_all\nexcept ImportError:\n    not_there_at_all = None\n"
    assert load_script(_write(tmp_path, _text(before=before))).__name__ == "Main"


def test_an_absolute_import_of_a_module_beside_the_script_is_explained(tmp_path: Path) -> None:
    _write(tmp_path, "VALUE = 1", "beside_it.py")
    with pytest.raises(ScriptError, match=r"main\.py, line 2: .*'from \.beside_it import"):
        load_script(_write(tmp_path, _text(before="import beside_it\n")))


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("raise SystemExit(3)\n", r"main\.py, line 2: importing it failed with SystemExit: 3"),
        ("x = 1 / 0\n", r"main\.py, line 2: importing it failed with ZeroDivisionError: division by zero"),
        ("from .other import missing\n", r"main\.py, line 2: importing it failed with ImportError"),
        ("from . import other\nother.fail()\n", r"other\.py, line 2: importing it failed with KeyError"),
    ],
)
def test_code_that_fails_is_told_by_its_place(tmp_path: Path, before: str, words: str) -> None:
    _write(tmp_path, "def fail():\n    {}['x']\n", "other.py")
    path = _write(tmp_path, _text(before=before))
    for _ in range(2):  # a failure leaves nothing behind that the next load would take
        with pytest.raises(ScriptError, match=words) as caught:
            load_script(path)
        assert caught.value.__cause__ is not None


def test_an_interruption_passes_through(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        load_script(_write(tmp_path, _text(before="raise KeyboardInterrupt\n")))


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match="Check the path"):
        load_script(tmp_path / "none.py")


# -- threads and processes ---------------------------------------------------------------------------------------------


def test_threads_get_one_class_and_the_text_runs_once(tmp_path: Path) -> None:
    path = _write(tmp_path, _text(before=f"with open({str(tmp_path / 'runs')!r}, 'a') as out:\n    out.write('x')\n"))
    found: list[type[DatasetBuilder]] = []
    threads = [threading.Thread(target=lambda: found.append(load_script(path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert (tmp_path / "runs").read_text() == "x"


def _rows(cls: Any) -> list[Any]:
    return list(cls.rows())


def test_classes_of_a_script_work_in_worker_processes(tmp_path: Path) -> None:
    after = (
        "\n    @classmethod\n    def rows(cls):\n"
        "        from .late import LATE\n        return [cls.TAG, EARLY, helper(), LATE]\n"
        "\ndef helper():\n    return datasets.Version('1.2.3').major\n"
    )
    path = _write(tmp_path, _text(tag="t", before="from .early import EARLY\n", after=after))
    _write(tmp_path, "EARLY = 'early'", "early.py")
    _write(tmp_path, "LATE = 'late'", "late.py")
    results = list(ProcessEngine(1).run(_rows, [load_script(path)]))
    assert results == [(0, ["t", "early", 1, "late"])]


def _called(function: Any) -> Any:
    return function()


def test_modules_that_functions_use_reach_worker_processes_though_they_hold_what_cannot_be_pickled(tmp_path: Path) -> None:
    path = _write(tmp_path, _text(before="from . import held\n", after="\ndef number():\n    return held.NUMBER\n"))
    _write(tmp_path, "import threading\nLOCK, NUMBER = threading.Lock(), 3", "held.py")
    number = sys.modules[load_script(path).__module__].number
    assert list(ProcessEngine(1).run(_called, [number])) == [(0, 3)]


def test_functions_of_an_old_script_find_its_library_in_worker_processes(tmp_path: Path) -> None:
    after = (
        "\ndef bare():\n    import datasets\n    from datasets.tasks import TextClassification as T\n"
        "    return datasets.__version__, datasets.features.Value('int8').dtype, T.task\n"
        "def held():\n    return datasets.Split.TRAIN, VALUE\n"
        "VALUE = datasets.Value('int16')\n"
        "class Main(Main):\n    FUNCTIONS = (bare, held)\n"
    )
    text = _text(after=after).replace(HEAD, "import datasets\n").replace("class Main(data", "class First(data", 1)
    text = text.replace("class Main(Main)", "class Main(First)")
    module = sys.modules[load_script(_write(tmp_path, text)).__module__]
    results = dict(ProcessEngine(2).run(_called, [module.bare, module.held]))
    assert results == {0: ("2.21.0", "int8", "text-classification"), 1: ("train", Value("int16"))}


def test_the_hyphens_of_a_file_stay_in_the_name_of_an_old_builder(tmp_path: Path) -> None:
    text = "import datasets\n" + BUILDER.format(name="Main", tag=1)
    assert load_script(_write(tmp_path, text, "My-data.py")).class_name() == "my-data"


# What the code of a script raises, or hangs at, before it makes rows.


def _script(tmp_path, text):
    path = tmp_path / "reviews.py"
    path.write_text(text)
    return read_script(path)


def _run(script, names=None):
    code = compile(Path(script.path).read_text(), script.path, "exec")
    return lambda: exec(code, {} if names is None else names)  # a script's code, as it is


class _Strange(BaseException):
    pass


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n1 / 0\n", "importing it failed with ZeroDivisionError: division by zero"),
        ("\nraise SystemExit(3)\n", "failed with SystemExit: 3"),
        ("\nraise GeneratorExit\n", "failed with GeneratorExit"),
        ("\nraise Strange('x')\n", "failed with _Strange: x"),
        ("\nraise Column('x', known=['a'])\n", "Unknown column 'x'"),
        (
            "\nraise ExceptionGroup('two', [KeyError('a'), ValueError('b')])\n",
            "two .2 sub-exceptions.: KeyError: 'a'; ValueError: b",
        ),
    ],
)
def test_what_a_script_raises_is_told_by_its_line(tmp_path, text, words):
    script = _script(tmp_path, text)

    with pytest.raises(ScriptError, match=words) as caught:
        ran(script, _run(script, {"Strange": _Strange, "Column": UnknownColumnError}), doing="importing it")

    assert (caught.value.path, caught.value.line) == (script.path, 2)


def test_a_missing_package_is_told_by_its_line(tmp_path):
    script = _script(tmp_path, "\nimport no_such_package_anywhere\n")

    with pytest.raises(MissingDependencyError, match="line 2, needs the package 'no_such_package_anywhere'"):
        ran(script, _run(script), doing="importing it")


def test_what_the_library_says_to_the_user_passes(tmp_path):
    script = _script(tmp_path, "raise Unknown('a', dataset='b', known=())")

    with pytest.raises(UnknownConfigError):
        ran(script, _run(script, {"Unknown": UnknownConfigError}), doing="creating its builder")


def test_an_interruption_passes(tmp_path):
    script = _script(tmp_path, "raise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        ran(script, _run(script), doing="importing it")


def test_code_that_hangs_is_told_by_the_line_where_it_does(tmp_path):
    script = _script(tmp_path, "def wait():\n    while True:\n        pass\n\nwait()\n")

    with pytest.raises(ScriptTimeoutError, match=r"importing it was not finished after 0\.05 seconds") as caught:
        ran(script, _run(script), doing="importing it", deadline=Deadline.of(0.05))

    assert caught.value.path == script.path
    assert caught.value.line in (2, 3)


# rewritten


def _run_rewritten(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(rewritten(text.encode(), "a.py"), space)
    return space


FACE = open_module("datasets")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("import datasets", {"datasets": FACE}),
        ("import datasets as x", {"x": FACE}),
        ("import os, datasets as x, sys", {"os": __import__("os"), "x": FACE, "sys": sys}),
        ("import datasets.features", {"datasets": FACE}),
        ("import datasets.utils.logging as l", {"l": open_module("datasets.utils.logging")}),
        ("from datasets import features, Value as V", {"features": open_module("datasets.features"), "V": Value}),
        ("from datasets.features import Value", {"Value": Value}),
        ("import importlib\nx = importlib.import_module('datasets.features')", {"x": open_module("datasets.features")}),
        ("from importlib import import_module as import_module\nx = import_module('datasets')", {"x": FACE}),
        ("x = __import__('datasets')", {"x": FACE}),
        ("x = __import__('datasets.features')", {"x": FACE}),
        ("x = __import__('datasets.features', fromlist=['Value'])", {"x": open_module("datasets.features")}),
        ("x = __import__('json')", {"x": __import__("json")}),
        ("try:\n    import datasets\nexcept ImportError:\n    datasets = None", {"datasets": FACE}),
        ("if True:\n  for _ in 'x':\n    import datasets", {"datasets": FACE}),
    ],
)
def test_an_import_binds_the_names_that_it_says(text: str, bound: dict[str, Any]) -> None:
    space = _run_rewritten(text)
    assert {name: space[name] for name in bound} == bound
    assert "datasets_core" not in space


def test_imports_in_functions_and_classes_open_faces_too() -> None:
    space = _run_rewritten(
        "class A:\n    import datasets\n    def f(self):\n        from datasets import Value\n        return Value\n"
    )
    assert space["A"].datasets is FACE
    assert space["A"]().f() is Value


def test_a_star_brings_the_public_names_and_no_others() -> None:
    space = _run_rewritten("from datasets import *")
    assert space["Value"] is Value
    assert space["features"] is open_module("datasets.features")
    assert not [name for name in space if name.startswith("_") and name != "__builtins__"]


def test_a_relative_import_is_left_alone() -> None:
    with pytest.raises(ImportError, match="relative import"):
        exec(rewritten(b"from .datasets import x", "a.py"), {"__package__": ""})


def test_lines_stay_what_they_are(tmp_path: Path) -> None:
    code = rewritten(b'"""Doc."""\n\nfrom __future__ import annotations\nimport datasets.features\n\n\nx = 1 / 0\n', "a.py")
    with pytest.raises(ZeroDivisionError) as caught:
        exec(code, {})
    assert caught.traceback[-1].lineno == 6  # from 0
    assert code.co_consts[0] == "Doc."


def test_texts_of_many_parts_are_no_trouble() -> None:
    branches = "".join(f"elif x == {number}:\n    import datasets\n" for number in range(400))
    text = "x = " + " + ".join(["'a'"] * 900) + "\nif x == -1:\n    pass\n" + branches + "import datasets\n"
    assert _run_rewritten(text)["datasets"] is FACE
    assert len(scan("a.py", text.encode()).needed) == 1


def test_sources_say_in_which_letters_they_are_written() -> None:
    space: dict[str, Any] = {}
    exec(rewritten("# -*- coding: latin-1 -*-\nx = 'ä'\nimport datasets\n".encode("latin-1"), "a.py"), space)
    assert (space["x"], space["datasets"]) == ("ä", FACE)
    exec(rewritten("x = 'ä'\r\nimport datasets\r\n".encode("utf-8-sig"), "a.py"), space)
    assert space["x"] == "ä"
