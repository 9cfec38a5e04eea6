"""Functions that behave otherwise have other hashes; functions that do the same have the same, in every process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from datasets_core.store.code import is_installed, reach_of

_HEAD = "import functools, re, enum, dataclasses, collections, operator, math, typing, json\nimport numpy as np\n"

_DECORATED = """
def d(k):
  def w(g):
    @functools.wraps(g)
    def h(r): return g(r) + k
    return h
  return w
"""

# Sources that leave an object `f`; the two of a pair do not do the same.
_DIFFER: dict[str, tuple[str, str]] = {
    "constant": ("f = lambda r: r + 1", "f = lambda r: r + 2"),
    "operator": ("f = lambda r: r + 1", "f = lambda r: r - 1"),
    "type of constant": ("f = lambda r: r * 1", "f = lambda r: r * 1.0"),
    "bool and int": ("f = lambda r: r == True", "f = lambda r: r == 1"),
    "zero": ("f = lambda r: r * 0.0", "f = lambda r: r * -0.0"),
    "bytes": ("f = lambda r: 'a'", "f = lambda r: b'a'"),
    "set constant": ("f = lambda r: r in {'a', 'b'}", "f = lambda r: r in {'a', 'c'}"),
    "order of a dict": ("D = {'a': 1, 'b': 2}\nf = lambda r: list(D)", "D = {'b': 2, 'a': 1}\nf = lambda r: list(D)"),
    "global": ("K = 1\ndef f(r): return r + K", "K = 2\ndef f(r): return r + K"),
    "global of a called function": (
        "K = 1\ndef g(r): return r + K\ndef f(r): return g(r)",
        "K = 2\ndef g(r): return r + K\ndef f(r): return g(r)",
    ),
    "called function": ("def g(r): return 1\ndef f(r): return g(r)", "def g(r): return 2\ndef f(r): return g(r)"),
    "recursive": ("def f(r): return 1 if r < 1 else f(r - 1)", "def f(r): return 1 if r < 1 else f(r - 2)"),
    "mutually recursive": (
        "def f(r): return r and g(r - 1)\ndef g(r): return r and f(r - 1)",
        "def f(r): return r and g(r - 1)\ndef g(r): return r and f(r - 2)",
    ),
    "inner function": (
        "def f(r):\n  def h(x): return x + 1\n  return h(r)",
        "def f(r):\n  def h(x): return x + 2\n  return h(r)",
    ),
    "global of an inner function": (
        "K = 1\ndef f(r):\n  def h(): return K\n  return h()",
        "K = 2\ndef f(r):\n  def h(): return K\n  return h()",
    ),
    "global of a comprehension": ("K = 1\nf = lambda r: [K for _ in r]", "K = 2\nf = lambda r: [K for _ in r]"),
    "global of an inner class": (
        "K = 1\ndef f(r):\n  class A: x = K\n  return A.x",
        "K = 2\ndef f(r):\n  class A: x = K\n  return A.x",
    ),
    "closure": ("f = (lambda k: lambda r: r + k)(1)", "f = (lambda k: lambda r: r + k)(2)"),
    "which variable is closed over": (
        "def m(a, b):\n  return lambda r: r + a\nf = m(1, 2)",
        "def m(a, b):\n  return lambda r: r + b\nf = m(1, 2)",
    ),
    "default": ("def f(r, k=1): return r + k", "def f(r, k=2): return r + k"),
    "keyword default": ("def f(r, *, k=1): return r + k", "def f(r, *, k=2): return r + k"),
    "handled exceptions": (
        "def f(r):\n  try: x = int(r)\n  except ValueError: x = 0\n  return x",
        "def f(r):\n  x = int(r)\n  try: pass\n  except ValueError: x = 0\n  return x",
    ),
    "kind of exception": (
        "def f(r):\n  try: return int(r)\n  except ValueError: return 0",
        "def f(r):\n  try: return int(r)\n  except TypeError: return 0",
    ),
    "attribute": ("f = lambda r: r.a", "f = lambda r: r.b"),
    "attribute of a function": ("def f(r): return r > f.k\nf.k = 1", "def f(r): return r > f.k\nf.k = 2"),
    "arguments": ("def f(a, b): return a - b", "def f(b, a): return a - b"),
    "star": ("def f(*a): return a", "def f(**a): return a"),
    "generator or list": ("f = lambda r: [x for x in r]", "f = lambda r: (x for x in r)"),
    "shadowed builtin": ("def f(r): return len(r)", "def len(r): return 7\ndef f(r): return len(r)"),
    "partial": ("f = functools.partial(max, 1)", "f = functools.partial(max, 2)"),
    "order of keywords": ("f = functools.partial(dict, a=1, b=2)", "f = functools.partial(dict, b=2, a=1)"),
    "partial of a function": (
        "def g(k, r): return k\nf = functools.partial(g, 1)",
        "def g(k, r): return -k\nf = functools.partial(g, 1)",
    ),
    "state of a method's object": (
        "class A:\n  def __init__(s, k): s.k = k\n  def m(s, r): return s.k\nf = A(1).m",
        "class A:\n  def __init__(s, k): s.k = k\n  def m(s, r): return s.k\nf = A(2).m",
    ),
    "code of a method's class": (
        "class A:\n  def m(s, r): return s.h()\n  def h(s): return 1\nf = A().m",
        "class A:\n  def m(s, r): return s.h()\n  def h(s): return 2\nf = A().m",
    ),
    "callable object": (
        "class A:\n  def __call__(s, r): return 1\nf = A()",
        "class A:\n  def __call__(s, r): return 2\nf = A()",
    ),
    "class attribute": ("class A: k = 1\nf = lambda r: A.k", "class A: k = 2\nf = lambda r: A.k"),
    "base class": (
        "class B:\n  def m(s): return 1\nclass A(B): pass\nf = lambda r: A().m()",
        "class B:\n  def m(s): return 2\nclass A(B): pass\nf = lambda r: A().m()",
    ),
    "property": (
        "class A:\n  @property\n  def p(s): return 1\nf = lambda r: A().p",
        "class A:\n  @property\n  def p(s): return 2\nf = lambda r: A().p",
    ),
    "cached property that was assigned": (
        "class A:\n  @functools.cached_property\n  def p(s): return 1\nf = A()\nf.p = 2",
        "class A:\n  @functools.cached_property\n  def p(s): return 1\nf = A()\nf.p = 3",
    ),
    "docstring of a class": ("class A: 'x'\nf = lambda r: A.__doc__", "class A: 'y'\nf = lambda r: A.__doc__"),
    "annotation of a class": ("class A: x: int\nf = A", "class A: x: int | None\nf = A"),
    "annotation": ("def f(r: int): return r", "def f(r: str): return r"),
    "dataclass that is a list": (
        "@dataclasses.dataclass\nclass A(list): x: int = 1\nf = A()\nf.append(1)",
        "@dataclasses.dataclass\nclass A(list): x: int = 1\nf = A()\nf.append(2)",
    ),
    "state of what is reduced to a name": (
        "class A:\n  def __reduce__(s): return 'f'\nf = A()\nf.k = 1",
        "class A:\n  def __reduce__(s): return 'f'\nf = A()\nf.k = 2",
    ),
    "path subclass": (
        "import pathlib\nclass P(type(pathlib.Path())):\n  def m(s): return 1\nf = P('a')",
        "import pathlib\nclass P(type(pathlib.Path())):\n  def m(s): return 2\nf = P('a')",
    ),
    "dtype of pairs": ("f = np.dtype((np.int32, (2,)))", "f = np.dtype((np.float32, (2,)))"),
    "dtype of raw bytes": ("f = np.dtype((np.int32, (2,)))", "f = np.dtype('V8')"),
    "static method": (
        "class A:\n  @staticmethod\n  def p(): return 1\nf = lambda r: A.p()",
        "class A:\n  @staticmethod\n  def p(): return 2\nf = lambda r: A.p()",
    ),
    "kind of method": (
        "class A:\n  @staticmethod\n  def p(*a): return a\nf = A",
        "class A:\n  @classmethod\n  def p(*a): return a\nf = A",
    ),
    "metaclass": (
        "class M(type):\n  def __len__(c): return 1\nclass A(metaclass=M): pass\nf = lambda r: len(A)",
        "class M(type):\n  def __len__(c): return 2\nclass A(metaclass=M): pass\nf = lambda r: len(A)",
    ),
    "slots": (
        "class A:\n  __slots__ = 'a',\nx = A()\nx.a = 1\nf = lambda r: x.a",
        "class A:\n  __slots__ = 'a',\nx = A()\nx.a = 2\nf = lambda r: x.a",
    ),
    "field of a dataclass": (
        "@dataclasses.dataclass\nclass A: a: int = 1\nf = A()",
        "@dataclasses.dataclass\nclass A: a: int = 1\nf = A(2)",
    ),
    "made dataclass": (
        "A = dataclasses.make_dataclass('A', [('a', int, 1)])\nf = lambda r: A().a",
        "A = dataclasses.make_dataclass('A', [('a', int, 2)])\nf = lambda r: A().a",
    ),
    "attribute beside the fields": (
        "@dataclasses.dataclass\nclass A: a: int = 1\nf = A()\nf.more = 1",
        "@dataclasses.dataclass\nclass A: a: int = 1\nf = A()\nf.more = 2",
    ),
    "value of an enum": ("class E(enum.Enum): A = 1\nf = lambda r: E.A", "class E(enum.Enum): A = 2\nf = lambda r: E.A"),
    "named tuple": (
        "T = collections.namedtuple('T', 'a b')\nf = lambda r: T(*r)._asdict()",
        "T = collections.namedtuple('T', 'b a')\nf = lambda r: T(*r)._asdict()",
    ),
    "dict subclass": (
        "class A(dict):\n  def __missing__(s, k): return 1\nx = A(a=1)\nf = lambda r: x[r]",
        "class A(dict):\n  def __missing__(s, k): return 2\nx = A(a=1)\nf = lambda r: x[r]",
    ),
    "default factory": (
        "x = collections.defaultdict(int)\nf = lambda r: x[r]",
        "x = collections.defaultdict(list)\nf = lambda r: x[r]",
    ),
    "regex": ("p = re.compile('a')\nf = lambda r: p.sub('', r)", "p = re.compile('b')\nf = lambda r: p.sub('', r)"),
    "flags of a regex": (
        "p = re.compile('a')\nf = lambda r: p.sub('', r)",
        "p = re.compile('a', re.I)\nf = lambda r: p.sub('', r)",
    ),
    "array": ("x = np.arange(3)\nf = lambda r: x[r]", "x = np.arange(3) + 1\nf = lambda r: x[r]"),
    "mask of an array": (
        "x = np.ma.masked_array([1, 2], [0, 1])\nf = lambda r: x",
        "x = np.ma.masked_array([1, 2], [1, 0])\nf = lambda r: x",
    ),
    "random generator": ("x = np.random.default_rng(1)\nf = lambda r: x", "x = np.random.default_rng(2)\nf = lambda r: x"),
    "text of eval": ("K = 1\nf = lambda r: eval('K + r')", "K = 2\nf = lambda r: eval('K + r')"),
    "globals by name": ("K = 1\nf = lambda r: globals()['K']", "K = 2\nf = lambda r: globals()['K']"),
    "function of numpy": ("f = lambda r: np.mean(r)", "f = lambda r: np.median(r)"),
    "decorated": (_DECORATED + "@d(1)\ndef f(r): return r", _DECORATED + "@d(2)\ndef f(r): return r"),
    "cached": ("@functools.lru_cache\ndef f(r): return 1", "@functools.lru_cache\ndef f(r): return 2"),
    "single dispatch": (
        "@functools.singledispatch\ndef f(r): return 1\n@f.register\ndef _(r: int): return 2",
        "@functools.singledispatch\ndef f(r): return 1\n@f.register\ndef _(r: int): return 3",
    ),
    "async": ("async def f(r): return r", "def f(r): return r"),
    "name of an inner class": (
        "def f(r):\n  class A: pass\n  return A.__name__",
        "def f(r):\n  class B: pass\n  return B.__name__",
    ),
    "helper of a module": ("import one\nf = lambda r: one.f(r)", "import two\nf = lambda r: two.f(r)"),
    "imported helper": ("from one import f", "from two import f"),
    "helper called one": ("import one as h\nf = lambda r: h.f(r)", "import two as h\nf = lambda r: h.f(r)"),
    "helper in a call": ("def f(r):\n  import one as h\n  return h.f(r)", "def f(r):\n  import two as h\n  return h.f(r)"),
    "looked up in a module": ("import one as h\nf = lambda r: getattr(h, r)", "import two as h\nf = lambda r: getattr(h, r)"),
    "value of a module": ("import one as h\nf = lambda r: h.K", "import two as h\nf = lambda r: h.K"),
}

# Sources that leave an object `f`; the two of a pair do the same.
_AGREE: dict[str, tuple[str, str]] = {
    "place": ("f = lambda r: r + 1", "\n\n\nx = 5\nf = lambda r: r + 1"),
    "comments": ("def f(r):\n  return r + 1", "def f(r):\n  # adds\n\n  return r + 1  # one"),
    "name": ("def f(r): return r + 1", "def g(r): return r + 1\nf = g"),
    "order of a set": ("S = {'a', 'b', 'c', 'd'}\nf = lambda r: r in S", "S = {'d', 'c', 'b', 'a'}\nf = lambda r: r in S"),
    "set subclass": (
        "class S(set): pass\nx = S(['a', 'b', 'c'])\nf = lambda r: r in x",
        "class S(set): pass\nx = S(['c', 'b', 'a'])\nf = lambda r: r in x",
    ),
    "global that is not read": ("K = 1\nf = lambda r: r.K", "K = 2\nf = lambda r: r.K"),
    "use": ("@functools.lru_cache\ndef f(r): return r", "@functools.lru_cache\ndef f(r): return r\nf(1)"),
    "dispatch": (
        "@functools.singledispatch\ndef f(r): return 1",
        "@functools.singledispatch\ndef f(r): return 1\nf('a')",
    ),
    "order of attributes": (
        "class A:\n  def __init__(s): s.a, s.b = 1, 2\nf = A()",
        "class A:\n  def __init__(s): s.a, s.b = 1, 2\nf = A()\ndel f.a\nf.a = 1",
    ),
    "what a module has besides": (
        "import one\nf = lambda r: one.f(r)",
        "import one\none.unrelated = 5\nf = lambda r: one.f(r)",
    ),
    "shared or not": ("x = [1]\nf = [x, x]", "f = [[1], [1]]"),
    "calls before": ("f = lambda r: r * 2", "f = lambda r: r * 2\nfor i in range(5000): f(i)"),
}

_PROGRAM = """
import json, sys
sources = json.load(sys.stdin)
from datasets_core.store.fingerprint import Hasher
hashes = []
for source in sources:
    names = {"__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), names)
    hashes.append(Hasher.hash(names["f"]))
print(json.dumps(hashes))
"""


def _hashes(sources: list[str], folder: Path, seed: str) -> list[str]:
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=json.dumps([_HEAD + source for source in sources]),
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{folder}:{root}"},
    )
    assert not done.returncode, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The hashes of all sources, in processes of different hash seeds."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "one.py").write_text("import deep\nK = 1\ndef f(r): return deep.g(r)\n")
    (folder / "two.py").write_text("import deep\nK = 2\ndef f(r): return deep.h(r)\n")
    (folder / "deep.py").write_text("import threading\nlock = threading.Lock()\ndef g(r): return 1\ndef h(r): return 2\n")
    sources = [source for pair in (*_DIFFER.values(), *_AGREE.values()) for source in pair]
    return {seed: _hashes(sources, folder, seed) for seed in ("0", "1", "2026")}


def _pair(found: dict[str, list[str]], place: int) -> tuple[str, str]:
    return found["0"][2 * place], found["0"][2 * place + 1]


def test_hashes_do_not_depend_on_the_hash_seed(found: dict[str, list[str]]) -> None:
    assert found["0"] == found["1"] == found["2026"]


@pytest.mark.parametrize("name", _DIFFER)
def test_what_does_something_else_has_another_hash(found: dict[str, list[str]], name: str) -> None:
    first, second = _pair(found, list(_DIFFER).index(name))

    assert first != second


@pytest.mark.parametrize("name", _AGREE)
def test_what_does_the_same_has_the_same_hash(found: dict[str, list[str]], name: str) -> None:
    first, second = _pair(found, len(_DIFFER) + list(_AGREE).index(name))

    assert first == second


def test_a_changed_helper_changes_what_calls_it(tmp_path: Path) -> None:
    source = "import helpers\ndef f(r): return helpers.f(r)"
    hashes = []
    for code in ("def f(r): return 1\n", "# a comment\ndef f(r): return 1\ndef unrelated(): pass\n", "def f(r): return 2\n"):
        folder = tmp_path / str(len(hashes))
        folder.mkdir()
        (folder / "helpers.py").write_text(code)
        hashes += _hashes([source], folder, "0")

    assert hashes[0] == hashes[1] != hashes[2]


def test_the_globals_and_attributes_that_code_reads_are_found() -> None:
    def read(row: Any) -> Any:
        import json.decoder

        return [helpers.sub.f(x) for x in row.data] + [LIMIT, json]  # type: ignore[name-defined]  # noqa: F821

    reach = reach_of(read.__code__)

    assert reach.paths == {("helpers", "sub", "f"), ("LIMIT",)}
    assert reach.imports == {(0, "json.decoder")}
    assert not reach.words


def test_packages_are_known_by_name_and_the_users_own_modules_are_not() -> None:
    assert is_installed("numpy")
    assert is_installed("json.decoder")
    assert is_installed("sys")
    assert not is_installed(sys.modules[__name__])
    assert not is_installed("__main__")
