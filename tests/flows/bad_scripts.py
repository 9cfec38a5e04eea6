"""Scripts that are wrong, each in one way: their text, and what an error must say of it."""

from dataclasses import dataclass, field
from typing import Any

HEAD = "import datasets\n\n\n"
FEATURES = 'datasets.Features({"a": datasets.Value("int32"), "t": datasets.Value("string")})'


@dataclass(frozen=True)
class Bad:
    """A wrong script.

    Attributes:
        text: of the script; the line that is wrong ends with `# HERE`.
        error: name of the class of the error.
        words: what its message says besides the script's path.
        line: whether it names the line `# HERE`.
        beside: text of other files in the folder, by name.
        raw: the bytes of the script instead of its text.
        options: more arguments of `load_dataset`.
        names_script: whether it names the script; else it names a file beside it, or answers the user.
        confined: name of the class where the script runs confined, if that is another; "" where it means nothing there.
    """

    text: str
    error: str
    words: tuple[str, ...] = ()
    line: bool = True
    beside: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    options: dict[str, Any] = field(default_factory=dict)
    names_script: bool = True
    confined: str | None = None


def script(
    *,
    head: str = "",
    top: str = "",
    info: str = f"return datasets.DatasetInfo(features={FEATURES})",
    splits: str = 'return [datasets.SplitGenerator(name="train", gen_kwargs={"n": 5})]',
    rows: str = "",
    signature: str = "n",
    body: str | None = None,
    base: str = "datasets.GeneratorBasedBuilder",
    init: str = "",
) -> str:
    """A script that is right but for what is given."""
    rows = rows or 'for i in range(n):\n    yield i, {"a": i, "t": "x"}'
    body = body if body is not None else f"def _generate_examples(self, {signature}):\n" + _indented(rows, 4)
    parts = [
        top,
        init,
        "def _info(self):\n" + _indented(info, 4),
        "def _split_generators(self, dl_manager):\n" + _indented(splits, 4),
        body,
    ]
    inside = "\n\n".join(_indented(part, 4) for part in parts if part)
    return f"{HEAD}{head}\n\nclass Bad({base}):\n{inside}\n"


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line if line else line for line in text.split("\n"))


def of_rows(statements: str) -> str:
    """A script whose `_generate_examples` yields two good rows and goes on with `statements`, which know `i == 2`."""
    return script(rows='for i in range(2):\n    yield i, {"a": i, "t": "x"}\ni = 2\n' + statements)


def of_features(features: str, row: str) -> str:
    """A script with these features, whose third row is `row`."""
    good = f"{{name: None for name in {features}}}"
    rows = f"for i in range(2):\n    yield i, {good}\nyield 'k2', {row}  # HERE"
    return script(info=f"return datasets.DatasetInfo(features=datasets.Features({features}))", rows=rows)


TWO_CONFIGS = 'BUILDER_CONFIGS = [datasets.BuilderConfig(name="a"), datasets.BuilderConfig(name="b")]'
ROW_2 = ("split 'train'", "row 2", "after key 1")
FIT_2 = ("Row 2", "key 'k2'", "split 'train'")

BAD: dict[str, Bad] = {
    # -- the text ------------------------------------------------------------------------------------------------------
    "syntax error": Bad(HEAD + "class Bad(:  # HERE\n    pass\n", "ScriptError", ("not valid Python", "invalid syntax")),
    "wrong indentation": Bad(HEAD + "def f():\nreturn 1  # HERE\n", "ScriptError", ("not valid Python", "indented")),
    "null bytes": Bad("", "ScriptError", ("null",), line=False, raw=b"import datasets\n\0\n"),
    "not utf-8": Bad("", "ScriptError", ("not valid Python", "utf-8"), line=False, raw=b"import datasets\nx = '\xff'\n"),
    "unknown coding": Bad(
        "", "ScriptError", ("not valid Python", "encoding"), line=False, raw=b"# coding: klingon\nimport datasets\n"
    ),
    "utf-16": Bad("", "ScriptError", ("not valid Python",), line=False, raw="import datasets\n".encode("utf-16")),
    "python 2": Bad(HEAD + "print 'x'  # HERE\n", "ScriptError", ("not valid Python", "print")),
    "empty": Bad("", "ScriptError", ("no dataset builder",), line=False),
    "nested too deep": Bad(HEAD + "x = " + "(" * 300 + ")" * 300 + "  # HERE\n", "ScriptError", ("not valid Python",)),
    # -- imports -------------------------------------------------------------------------------------------------------
    "fails at import": Bad(HEAD + "1 / 0  # HERE\n", "ScriptError", ("importing it", "ZeroDivisionError: division by zero")),
    "exits at import": Bad(HEAD + "import sys\nsys.exit(3)  # HERE\n", "ScriptError", ("SystemExit: 3",)),
    "missing sibling": Bad(HEAD + "from .gone import x  # HERE\n", "ScriptError", ("gone.py", "does not exist")),
    "sibling with a syntax error": Bad(
        HEAD + "from .near import x\n",
        "ScriptError",
        ("near.py, line 2", "not valid Python"),
        line=False,
        beside={"near.py": "x = 1\nx = = 2\n"},
        names_script=False,
    ),
    "sibling that fails": Bad(
        HEAD + "from .near import x\n",
        "ScriptError",
        ("near.py, line 2", "KeyError: 'b'"),
        line=False,
        beside={"near.py": "x = {}\nx['b']\n"},
        names_script=False,
    ),
    "import cycle": Bad(
        HEAD + "from .near import x\ny = 1\n",
        "ScriptError",
        ("near.py, line 1", "ImportError", "circular"),
        line=False,
        beside={"near.py": "from .bad import y\nx = 1\n"},
    ),
    "name that a sibling lacks": Bad(
        HEAD + "from .near import y  # HERE\n", "ScriptError", ("ImportError", "'y'"), beside={"near.py": "x = 1\n"}
    ),
    "missing package": Bad(
        HEAD + "import no_such_package_at_all  # HERE\n", "MissingDependencyError", ("no_such_package_at_all", "pip install")
    ),
    "unknown name of datasets": Bad(HEAD + "x = datasets.NoSuchName  # HERE\n", "ScriptError", ("NoSuchName",)),
    # -- the builder ---------------------------------------------------------------------------------------------------
    "no builder": Bad(HEAD + "class Bad:\n    pass\n", "ScriptError", ("no dataset builder", "Define"), line=False),
    "builder without its hooks": Bad(
        HEAD + "class Bad(datasets.GeneratorBasedBuilder):\n    pass\n", "ScriptError", ("no dataset builder",), line=False
    ),
    "two builders": Bad(
        script().replace("class Bad(", "class One(  # HERE\n    ")
        + script().replace(HEAD, "").replace("class Bad", "class Two"),
        "ScriptError",
        ("two builders", "One", "Two"),
    ),
    "init raises": Bad(
        script(init="def __init__(self, **kwargs):\n    super().__init__(**kwargs)\n    raise OSError('no luck')  # HERE"),
        "ScriptError",
        ("OSError: no luck",),
    ),
    "init of another signature": Bad(
        script(init="def __init__(self):\n    super().__init__()"), "ScriptError", ("__init__", "TypeError"), line=False
    ),
    "info raises": Bad(script(info="raise KeyError('x')  # HERE"), "ScriptError", ("creating its builder", "KeyError: 'x'")),
    "info exits": Bad(script(info="raise SystemExit('bye')  # HERE"), "ScriptError", ("SystemExit: bye",)),
    "info gives None": Bad(script(info="pass"), "ConfigurationError", ("_info", "None", "DatasetInfo"), line=False),
    "info gives a dict": Bad(
        script(info="return {'features': {}}"), "ConfigurationError", ("_info", "dict", "DatasetInfo"), line=False
    ),
    "info recurses": Bad(script(info="return self._info()  # HERE"), "ScriptError", ("RecursionError",)),
    "features that are none": Bad(
        script(info="return datasets.DatasetInfo(features=3)  # HERE"), "ScriptError", ("3", "features")
    ),
    "a type that is none": Bad(
        script(info='return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("int33")}))  # HERE'),
        "ScriptError",
        ("int33",),
    ),
    "a column that is no feature": Bad(
        script(info='return datasets.DatasetInfo(features=datasets.Features({"a": 3}))  # HERE'), "ScriptError", ("3",)
    ),
    "unknown argument of DatasetInfo": Bad(
        script(info="return datasets.DatasetInfo(colour=3)  # HERE"), "ScriptError", ("colour",)
    ),
    "labels with duplicates": Bad(
        script(
            info='return datasets.DatasetInfo(features=datasets.Features({"a": datasets.ClassLabel(names=["x", "x"])}))  # HERE'
        ),
        "ScriptError",
        ("'x'",),
    ),
    # -- configs -------------------------------------------------------------------------------------------------------
    "two configs of one name": Bad(
        script(top='BUILDER_CONFIGS = [datasets.BuilderConfig(name="a"), datasets.BuilderConfig(name="a")]'),
        "ConfigurationError",
        ("'a'", "BUILDER_CONFIGS"),
        line=False,
    ),
    "configs that are texts": Bad(
        script(top='BUILDER_CONFIGS = ["a", "b"]'), "ConfigurationError", ("BUILDER_CONFIGS", "'a'"), line=False
    ),
    "configs that are no list": Bad(
        script(top="BUILDER_CONFIGS = 3"), "ConfigurationError", ("BUILDER_CONFIGS", "3"), line=False
    ),
    "a config without a name": Bad(
        script(top="BUILDER_CONFIGS = [datasets.BuilderConfig(name=None)]  # HERE"), "ScriptError", ("None",)
    ),
    "a config with a bad name": Bad(
        script(top='BUILDER_CONFIGS = [datasets.BuilderConfig(name="a/b")]  # HERE'), "ScriptError", ("'a/b'",)
    ),
    "a config with a bad version": Bad(
        script(top='BUILDER_CONFIGS = [datasets.BuilderConfig(name="a", version=datasets.Version("x"))]  # HERE'),
        "ScriptError",
        ("'x'",),
    ),
    "default config that is none": Bad(
        script(top=f'{TWO_CONFIGS}\nDEFAULT_CONFIG_NAME = "c"'),
        "ConfigurationError",
        ("DEFAULT_CONFIG_NAME", "'c'", "'a', 'b'"),
        line=False,
    ),
    "several configs, none asked for": Bad(
        script(top=TWO_CONFIGS),
        "UnknownConfigError",
        ("several", "'a', 'b'"),
        line=False,
        names_script=False,
    ),
    "unknown option": Bad(
        script(), "UnknownOptionError", ("colour",), line=False, options={"colour": "red"}, names_script=False
    ),
    # -- splits --------------------------------------------------------------------------------------------------------
    "splits raise": Bad(
        script(splits="raise RuntimeError('oh')  # HERE"),
        "DatasetGenerationError",
        ("returning its splits", "RuntimeError: oh"),
    ),
    "splits exit": Bad(script(splits="raise SystemExit(1)  # HERE"), "DatasetGenerationError", ("SystemExit: 1",)),
    "splits are None": Bad(
        script(splits="pass"), "ConfigurationError", ("_split_generators", "None", "SplitGenerator"), line=False
    ),
    "splits are a dict": Bad(
        script(splits='return {"train": 3}'), "ConfigurationError", ("_split_generators", "SplitGenerator"), line=False
    ),
    "splits are texts": Bad(script(splits='return ["train"]'), "ConfigurationError", ("'train'", "SplitGenerator"), line=False),
    "splits are empty": Bad(script(splits="return []"), "ConfigurationError", ("no splits",), line=False),
    "splits of one name": Bad(
        script(splits='one = datasets.SplitGenerator(name="train", gen_kwargs={"n": 1})\nreturn [one, one]'),
        "ConfigurationError",
        ("two splits named 'train'",),
        line=False,
    ),
    "a split without a meaning": Bad(
        script(splits='return [datasets.SplitGenerator(name="a b/c", gen_kwargs={"n": 1})]'),
        "ConfigurationError",
        ("'a b/c'",),
        line=False,
    ),
    "gen_kwargs that are none": Bad(
        script(splits='return [datasets.SplitGenerator(name="train", gen_kwargs=[3])]'),
        "ConfigurationError",
        ("gen_kwargs", "[3]"),
        line=False,
    ),
    "gen_kwargs of other names": Bad(
        script(splits='return [datasets.SplitGenerator(name="train", gen_kwargs={"m": 1})]'),
        "DatasetGenerationError",
        ("_generate_examples", "'m'", "split 'train'"),
        line=False,
    ),
    "gen_kwargs that lack one": Bad(
        script(signature="n, m"), "DatasetGenerationError", ("_generate_examples", "'m'", "split 'train'"), line=False
    ),
    "a file that is not there": Bad(
        script(
            splits='return [datasets.SplitGenerator(name="train", gen_kwargs={"n": dl_manager.download("gone.txt")})]  # HERE'
        ),
        "DataFilesNotFoundError",
        ("gone.txt",),
        line=False,
        names_script=False,
    ),
    # -- rows ----------------------------------------------------------------------------------------------------------
    "raises at row 2": Bad(
        of_rows("raise ValueError('broken')  # HERE"), "DatasetGenerationError", (*ROW_2, "ValueError: broken")
    ),
    "raises at once": Bad(
        script(rows="raise ValueError('broken')  # HERE\nyield"),
        "DatasetGenerationError",
        ("row 0", "split 'train'", "ValueError: broken"),
    ),
    "raises in a function": Bad(
        script(head="def read(i):\n    return {}[i]  # HERE", rows="yield 0, {'a': read(3), 't': ''}"),
        "DatasetGenerationError",
        ("row 0", "KeyError: 3"),
    ),
    "raises where it is called": Bad(
        script(body="def _generate_examples(self, n):\n    raise ValueError('called')  # HERE"),
        "DatasetGenerationError",
        ("row 0", "split 'train'", "ValueError: called"),
    ),
    "raises in a sibling": Bad(
        script(head="from .near import read", rows="yield 0, read()"),
        "DatasetGenerationError",
        ("row 0", "near.py, line 2", "ZeroDivisionError"),
        line=False,
        beside={"near.py": "def read():\n    return 1 / 0\n"},
    ),
    "exits": Bad(of_rows("import sys\nsys.exit(2)  # HERE"), "DatasetGenerationError", (*ROW_2, "SystemExit: 2")),
    "raises StopIteration": Bad(of_rows("next(iter([]))  # HERE"), "DatasetGenerationError", (*ROW_2, "StopIteration")),
    "raises GeneratorExit": Bad(of_rows("raise GeneratorExit  # HERE"), "DatasetGenerationError", (*ROW_2, "GeneratorExit")),
    "raises its own BaseException": Bad(
        script(head="class Stop(BaseException):\n    pass", rows="yield 0, {'a': 1, 't': ''}\nraise Stop('now')  # HERE"),
        "DatasetGenerationError",
        ("row 1", "Stop: now"),
    ),
    "recurses": Bad(
        script(head="def deep(i):\n    return deep(i + 1)  # HERE", rows="yield 0, {'a': deep(0), 't': ''}"),
        "DatasetGenerationError",
        ("row 0", "RecursionError"),
    ),
    "raises what cannot be sent": Bad(
        script(
            head="class Odd(Exception):\n    def __init__(self, a, b):\n        super().__init__(a)\n        self.b = open",
            rows="yield 0, {'a': 1, 't': ''}\nraise Odd('odd', 2)  # HERE",
        ),
        "DatasetGenerationError",
        ("row 1", "Odd: odd"),
    ),
    "raises what cannot be shown": Bad(
        script(
            head="class Mute(Exception):\n    def __str__(self):\n        raise ValueError", rows="raise Mute()  # HERE\nyield"
        ),
        "DatasetGenerationError",
        ("row 0", "Mute"),
    ),
    "raises a group": Bad(
        of_rows("raise ExceptionGroup('both', [KeyError('k'), ValueError('v')])  # HERE"),
        "DatasetGenerationError",
        (*ROW_2, "ExceptionGroup: both", "KeyError: 'k'", "ValueError: v"),
    ),
    "raises a very long text": Bad(
        of_rows("raise ValueError('x' * 10**6)  # HERE"), "DatasetGenerationError", (*ROW_2, "ValueError: xxx")
    ),
    "asks the library for what is not there": Bad(
        of_rows("self.info.features['z']  # HERE"), "DatasetGenerationError", (*ROW_2, "'z'")
    ),
    "gives None": Bad(
        script(body="def _generate_examples(self, n):\n    return None"),
        "ConfigurationError",
        ("_generate_examples", "None"),
        line=False,
    ),
    "gives a number": Bad(
        script(body="def _generate_examples(self, n):\n    return 3"),
        "ConfigurationError",
        ("_generate_examples", "3"),
        line=False,
    ),
    "yields no pairs": Bad(
        of_rows("yield {'a': 2, 't': ''}  # HERE"), "DatasetGenerationError", ("row 2", "split 'train'", "dict", "pair")
    ),
    "yields None": Bad(of_rows("yield None  # HERE"), "DatasetGenerationError", ("row 2", "None")),
    "yields a list for a row": Bad(of_rows("yield 2, [2, 'x']  # HERE"), "DatasetGenerationError", ("row 2", "list", "dict")),
    "yields None for a row": Bad(of_rows("yield 2, None  # HERE"), "DatasetGenerationError", ("row 2", "None", "dict")),
    "yields three": Bad(of_rows("yield 2, {'a': 2, 't': ''}, 3  # HERE"), "DatasetGenerationError", ("row 2", "tuple of 3")),
    # -- keys ----------------------------------------------------------------------------------------------------------
    "a key twice": Bad(
        of_rows("yield 1, {'a': 2, 't': ''}  # HERE"), "DuplicateKeysError", ("split 'train'", "key 1", "row 1", "row 2")
    ),
    "a key that is None": Bad(
        of_rows("yield None, {'a': 2, 't': ''}  # HERE"), "InvalidKeyError", ("row 2", "split 'train'", "None")
    ),
    "a key that is a list": Bad(
        of_rows("yield [2], {'a': 2, 't': ''}  # HERE"), "InvalidKeyError", ("row 2", "split 'train'", "[2]", "list")
    ),
    "a key that is an object": Bad(
        of_rows("yield object(), {'a': 2, 't': ''}  # HERE"), "InvalidKeyError", ("row 2", "split 'train'", "object")
    ),
    # -- values --------------------------------------------------------------------------------------------------------
    "a text for a number": Bad(
        of_rows("yield 'k2', {'a': 'two', 't': ''}  # HERE"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 'a'", "'two'", "str", "int32"),
    ),
    "a number out of range": Bad(
        of_rows("yield 'k2', {'a': 2**40, 't': ''}  # HERE"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 'a'", "1099511627776", "int32"),
    ),
    "a list for a number": Bad(
        of_rows("yield 'k2', {'a': [2], 't': ''}  # HERE"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 'a'", "[2]", "list", "int32"),
    ),
    "a label that is unknown": Bad(
        of_features('{"l": datasets.ClassLabel(names=["x", "y"])}', "{'l': 'z'}"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 'l'", "'z'", "'x', 'y'"),
    ),
    "a label out of range": Bad(
        of_features('{"l": datasets.ClassLabel(names=["x", "y"])}', "{'l': 7}"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 'l'", "7"),
    ),
    "a wrong value in a list": Bad(
        of_features('{"s": datasets.Sequence(datasets.Value("int32"))}', "{'s': [1, 'b']}"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 's", "'b'", "int32"),
    ),
    "a wrong value in a list of dicts": Bad(
        of_features('{"s": [{"x": datasets.Value("float32")}]}', "{'s': [{'x': 1.0}, {'x': 'b'}]}"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 's", "x", "'b'", "float"),
    ),
    "a wrong value in a dict of lists": Bad(
        of_features('{"s": datasets.Sequence({"x": datasets.Value("int64")})}', "{'s': {'x': [1, None, 'b']}}"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 's", "x", "'b'", "int64"),
    ),
    "a list for a dict": Bad(
        of_features('{"d": {"x": datasets.Value("int32")}}', "{'d': [1]}"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 'd'", "[1]", "list"),
    ),
    "a list of another length": Bad(
        of_features('{"s": datasets.Sequence(datasets.Value("int32"), length=2)}', "{'s': [1, 2, 3]}"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 's'", "2", "3"),
    ),
    "a translation of another language": Bad(
        of_features('{"t": datasets.Translation(languages=["en", "de"])}', "{'t': {'en': 'a', 'fr': 'b'}}"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 't", "fr"),
    ),
    "an array of another shape": Bad(
        of_features('{"m": datasets.Array2D(shape=(2, 2), dtype="int32")}', "{'m': [[1, 2, 3]]}"),
        "DatasetGenerationCastError",
        (*FIT_2, "column 'm'", "(2, 2)"),
    ),
    "a picture that is none": Bad(
        of_features('{"i": datasets.Image()}', "{'i': 3}"), "DatasetGenerationCastError", (*FIT_2, "column 'i'", "int")
    ),
    "columns that change": Bad(
        script(info="return datasets.DatasetInfo()", rows="yield 0, {'a': 1}\nyield 'k2', {'a': 'text'}  # HERE"),
        "DatasetGenerationCastError",
        ("'k2'", "column 'a'", "'text'"),
    ),
    # -- tables --------------------------------------------------------------------------------------------------------
    "tables that are none": Bad(
        script(base="datasets.ArrowBasedBuilder", body="def _generate_tables(self, n):\n    yield 0, {'a': [1]}"),
        "DatasetGenerationError",
        ("dict", "split 'train'", "Table"),
        line=False,
    ),
    "tables that do not fit": Bad(
        script(
            base="datasets.ArrowBasedBuilder",
            head="import pyarrow as pa",
            body="def _generate_tables(self, n):\n    yield 0, pa.table({'a': ['x'], 't': ['y']})",
        ),
        "DatasetGenerationCastError",
        ("'a'", "int32", "split 'train'"),
        line=False,
    ),
    "tables that raise": Bad(
        script(
            base="datasets.ArrowBasedBuilder",
            body="def _generate_tables(self, n):\n    raise ValueError('t')  # HERE\n    yield",
        ),
        "DatasetGenerationError",
        ("split 'train'", "ValueError: t"),
    ),
}
