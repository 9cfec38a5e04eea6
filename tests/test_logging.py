import logging as standard
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import errors, logging
from datasets_core.errors import ConfigurationError


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    logger = standard.getLogger("datasets_core")
    level, propagate, handlers = logger.level, logger.propagate, logger.handlers[:]
    yield
    logger.setLevel(level)
    logger.propagate = propagate
    logger.handlers[:] = handlers


@pytest.mark.parametrize(
    ("verbosity", "level"), [("debug", standard.DEBUG), ("WARNING", standard.WARNING), (standard.ERROR, standard.ERROR)]
)
def test_the_level_is_that_of_the_librarys_logger(verbosity: str | int, level: int) -> None:
    logging.set_verbosity(verbosity)
    assert logging.get_verbosity() == level
    assert standard.getLogger("datasets_core.store").getEffectiveLevel() == level


@pytest.mark.parametrize("name", ["debug", "info", "warning", "error"])
def test_each_level_has_its_function(name: str) -> None:
    getattr(logging, f"set_verbosity_{name}")()
    assert logging.get_verbosity() == getattr(standard, name.upper())


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ConfigurationError) as caught:
        logging.set_verbosity("loud")
    assert caught.value.value == "loud"


def test_messages_reach_the_root_logger_unless_told_otherwise(caplog: pytest.LogCaptureFixture) -> None:
    logging.disable_propagation()
    logging.get_logger().warning("kept")
    logging.enable_propagation()
    logging.get_logger("datasets_core.x").warning("passed on")
    assert caplog.messages == ["passed on"]


@pytest.mark.parametrize(("value", "printed"), [("info", str(standard.INFO)), ("loud", str(standard.WARNING))])
def test_the_environment_sets_the_level_and_a_wrong_one_is_told(value: str, printed: str) -> None:
    code = "from datasets_core import logging; print(logging.get_verbosity())"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"DATASETS_VERBOSITY": value, "PATH": ""}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == printed
    assert ("'loud', which is not a level" in done.stderr) is (value == "loud")


_PROGRAM = """
import sys
from datasets_core import load_dataset, logging

def add(row):
    return {"b": row["a"] + 1}

if sys.argv[3] == "call":
    logging.set_verbosity_info()
    logging.set_verbosity_info()
if sys.argv[3] == "root":
    import logging as standard
    standard.basicConfig(format="root: %(message)s")
    logging.set_verbosity_info()
rows = load_dataset("csv", data_files=sys.argv[1], cache_dir=sys.argv[2], split="train")
rows.map(add).filter(lambda row: row["b"] > 1)
"""


@pytest.mark.parametrize("means", ["call", "environment", "root"])
def test_messages_of_the_chosen_level_are_shown_once(means: str, tmp_path: Path) -> None:
    data, cache, program = tmp_path / "a.csv", tmp_path / "cache", tmp_path / "program.py"
    data.write_text("a\n1\n", encoding="utf-8")
    program.write_text(_PROGRAM, encoding="utf-8")
    environment = {"PATH": "", "HOME": str(tmp_path), **({"DATASETS_VERBOSITY": "info"} if means == "environment" else {})}

    def told() -> list[str]:
        command = [sys.executable, program, data, cache, means]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr.splitlines()

    first, second = told(), told()

    assert len(set(first)) == len(first) == len(second) == 3, (first, second)
    assert all(str(cache) in line and line.startswith("root: ") is (means == "root") for line in first + second)
    assert not set(first) & set(second)


OBEYED = st.characters(categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\t\n") | st.sampled_from(
    "\u061c\u200e\u200f\u202a\u202e\u2066"
)


@given(st.text(OBEYED | st.characters()))
def test_no_message_holds_what_a_terminal_obeys(text: str) -> None:
    record = standard.LogRecord("datasets_core.x", standard.WARNING, "", 1, "%s has %d", (text, 3), None)
    told: list[str] = []
    handler = standard.Handler()
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logger = errors.logger_of("datasets_core.tests")
    logger.addHandler(handler)
    try:
        logger.handle(record)
    finally:
        logger.removeHandler(handler)
    for shown in (*told, str(errors.DataFilesWarning(text)), str(errors.ConfigurationError(text))):
        assert all(letter.isprintable() or letter in "\t\n " or unicodedata.category(letter) in "CoCnZsCf" for letter in shown)
        shown.encode()
    assert len(told) == 1


def test_every_module_takes_its_logger_where_messages_are_made_harmless() -> None:
    root = Path(errors.__file__).parents[2]
    files = [*(root / "datasets_core").rglob("*.py"), *(root / "builders").rglob("*.py")]
    assert [str(path) for path in files if "getLogger(__name__)" in path.read_text()] == []
