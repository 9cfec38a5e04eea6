"""What the code of a script raises, or hangs at, before it makes rows."""

from pathlib import Path

import pytest

from datasets_core.engines.deadline import Deadline
from datasets_core.errors import MissingDependencyError, ScriptError, ScriptTimeoutError, UnknownColumnError, UnknownConfigError
from datasets_core.scripting.modules import read_script
from datasets_core.scripting.script import ran


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
        ran(script, _run(script, {"Unknown": UnknownConfigError}), doing="making its builder")


def test_an_interruption_passes(tmp_path):
    script = _script(tmp_path, "raise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        ran(script, _run(script), doing="importing it")


def test_code_that_hangs_is_told_by_the_line_where_it_does(tmp_path):
    script = _script(tmp_path, "def wait():\n    while True:\n        pass\n\nwait()\n")

    with pytest.raises(ScriptTimeoutError, match=r"importing it was not done after 0\.05 seconds") as caught:
        ran(script, _run(script), doing="importing it", deadline=Deadline.of(0.05))

    assert caught.value.path == script.path
    assert caught.value.line in (2, 3)
