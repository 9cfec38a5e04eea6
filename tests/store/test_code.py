"""Values of other libraries are what they contain."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import UnhashableError
from datasets_core.store.fingerprint import Hasher


def test_a_dataset_is_its_fingerprint_and_its_format() -> None:
    dataset = Dataset.from_dict({"a": [1, 2]})

    assert Hasher.hash(dataset) == Hasher.hash(pickle.loads(pickle.dumps(dataset)))
    assert Hasher.hash(dataset) != Hasher.hash(dataset.select([1]))
    assert Hasher.hash(dataset) != Hasher.hash(dataset.with_format("arrow"))


def test_tensors_and_modules_are_their_values() -> None:
    torch = pytest.importorskip("torch")
    linear = torch.nn.Linear(2, 2)
    values = [
        torch.tensor([1.0, 2.0]),
        torch.tensor([1.0, 3.0]),
        torch.tensor([1.0, 2.0], dtype=torch.bfloat16),
        torch.tensor([[1.0, 2.0]]),
        torch.tensor(1.0),
        torch.tensor([1.0, 2.0], requires_grad=True),
        torch.tensor([1.0, 2.0]).to_sparse(),
        torch.Generator().manual_seed(1),
        torch.Generator().manual_seed(2),
        torch.float32,
        torch.device("cpu"),
        linear,
        pickle.loads(pickle.dumps(linear)).eval(),
        torch.nn.Sequential(linear, torch.nn.ReLU()),
    ]

    assert len({Hasher.hash(value) for value in values}) == len(values)
    assert Hasher.hash(linear) == Hasher.hash(pickle.loads(pickle.dumps(linear)))
    assert Hasher.hash(values[0]) == Hasher.hash(torch.tensor([0.0, 1.0, 2.0])[1:])


def test_frames_are_their_columns() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    made = [
        library.DataFrame(columns)
        for library in (pandas, polars)
        for columns in ({"a": [1, 2]}, {"a": [1, 3]}, {"b": [1, 2]}, {"a": ["x", None]}, {"a": [1, 2], "b": [1, 2]})
    ]
    frames = [*made, pandas.DataFrame({"a": [1, 2]}, index=["x", "y"]), pandas.Series([1, 2]), polars.Series("a", [1, 2])]

    assert len({Hasher.hash(frame) for frame in frames}) == len(frames)
    assert [Hasher.hash(frame) for frame in frames] == [Hasher.hash(pickle.loads(pickle.dumps(frame))) for frame in frames]
    assert Hasher.hash(polars.concat([polars.DataFrame({"a": [1]}), polars.DataFrame({"a": [2]})])) == Hasher.hash(made[5])


def test_frames_of_many_levels_are_their_values_and_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2]}, index=pandas.MultiIndex.from_tuples([(1, 2), (3, 4)], names=["x", "y"]))

    assert Hasher.hash(frame) == Hasher.hash(frame.copy())
    assert Hasher.hash(frame) != Hasher.hash(frame.rename_axis(["x", "z"]))
    assert Hasher.hash(frame) != Hasher.hash(frame.rename_axis("columns", axis=1))
    assert Hasher.hash(frame) != Hasher.hash(frame.set_axis(pandas.MultiIndex.from_tuples([(1, 2), (3, 5)], names=["x", "y"])))


def test_tensors_that_are_views_are_their_values_and_those_without_are_none() -> None:
    torch = pytest.importorskip("torch")

    assert Hasher.hash(torch.tensor([1 + 2j]).conj()) == Hasher.hash(torch.tensor([1 - 2j]))
    with pytest.raises(UnhashableError, match=r"torch\.Tensor cannot be read"):
        Hasher.hash(torch.empty(2, device="meta"))


def test_what_a_call_leaves_in_a_tokenizer_does_not_count() -> None:
    class Backend:
        def __init__(self, vocabulary: str, truncation: str = "null") -> None:
            self.text = f'{{"model": {{"vocab": "{vocabulary}"}}, "truncation": {truncation}, "padding": null}}'

        def to_str(self) -> str:
            return self.text

    base = type("PreTrainedTokenizerBase", (), {"__module__": "transformers.tokenization_utils_base"})

    def tokenizer(*backend: str) -> object:
        made = base()
        made._tokenizer, made.cache = Backend(*backend), {}
        return made

    used = tokenizer("a", "5")
    used.cache["word"] = "piece"  # type: ignore[attr-defined]
    assert Hasher.hash(used) == Hasher.hash(tokenizer("a"))
    assert Hasher.hash(used) != Hasher.hash(tokenizer("b"))


# What a function imports itself is part of its identity, loaded or not, with all that it imports in turn.

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from datasets_core.store.fingerprint import Hasher
exec({source!r})
print(Hasher.hash(f))
try:
    f(0)
except ImportError:
    pass
print(Hasher.hash(f))
{change}
print(Hasher.hash(f))
"""

_FILES = {
    "pkg/__init__.py": "",
    "pkg/sub.py": "from .deep import K",
    "pkg/deep.py": "K = 1",
    "helpers.py": (
        "import functools\nimport importlib\nfrom deeper import K\nLIMIT = {1, 2}\n"
        "@functools.lru_cache\ndef g(): return importlib.import_module('dyn').K\n"
        "class A:\n  def m(s): return 1"
    ),
    "deeper.py": "K = 1",
    "dyn.py": "K = 1",
}


def _hashes(folder: Path, source: str, change: str = "") -> list[str]:
    for name, text in _FILES.items():
        path = folder / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(text)
    program = _PROGRAM.format(source=source, change=change)
    run = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.parametrize(
    ("body", "edited"),
    [
        ("from pkg import sub; return sub.K", "pkg/deep.py"),
        ("import pkg.sub; return pkg.sub.K", "pkg/__init__.py"),
        ("import helpers; return helpers.K", "deeper.py"),
        ("import helpers as h; return h.g()", "dyn.py"),
        ("import importlib; return importlib.import_module('dyn').K", "dyn.py"),
        ("return __import__('dyn').K", "dyn.py"),
    ],
)
def test_an_edited_file_counts_wherever_it_is_imported_and_a_loaded_module_does_not(
    tmp_path: Path, body: str, edited: str
) -> None:
    source = f"def f(r):\n  {body}"
    before = _hashes(tmp_path, source)
    (tmp_path / edited).write_text("K = 2")
    after = _hashes(tmp_path, source)

    assert len(set(before)) == len(set(after)) == 1
    assert before != after


@pytest.mark.parametrize(
    "change",
    [
        "import helpers; helpers.LIMIT = 5",
        "import helpers; helpers.other = 5",
        "open(sys.argv[1] + '/helpers.py', 'a').write('\\nK = 2')",
        "import helpers; helpers.A.m = lambda s: 2",
    ],
)
def test_what_was_changed_in_a_loaded_module_counts(tmp_path: Path, change: str) -> None:
    first, second, third = _hashes(tmp_path, "def f(r):\n  import helpers\n  return helpers.A().m()", change)

    assert first == second != third


def test_code_that_was_loaded_before_its_file_was_edited_is_not_the_files(tmp_path: Path) -> None:
    source = "def f(r):\n  import helpers\n  return helpers.A().m()"
    edit = "p = sys.argv[1] + '/helpers.py'; t = open(p).read(); open(p, 'w').write(t.replace('return 1', 'return 2'))"
    stale = _hashes(tmp_path, source, edit)[2]

    assert stale != _hashes(tmp_path, source)[0]


@pytest.mark.parametrize(
    "source",
    [
        "def f(r, name='dyn'):\n  import importlib\n  return importlib.import_module(name)",
        "def f(r, name='dyn'):\n  return __import__(name)",
        "def f(r):\n  import opens",
    ],
)
def test_an_import_of_what_only_the_run_decides_is_told(tmp_path: Path, source: str) -> None:
    (tmp_path / "opens.py").write_text("import importlib\ndef g(name): return importlib.import_module(name)")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        _hashes(tmp_path, source)

    assert "UnhashableError" in caught.value.stderr and "only known at run time" in caught.value.stderr
