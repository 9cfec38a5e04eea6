import logging as standard
import subprocess
import sys
from collections.abc import Iterator

import pytest

from datasets_core import logging
from datasets_core.errors import ConfigurationError


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    logger = standard.getLogger("datasets_core")
    level, propagate = logger.level, logger.propagate
    yield
    logger.setLevel(level)
    logger.propagate = propagate


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
    with pytest.raises(ConfigurationError, match="Unknown level 'loud'"):
        logging.set_verbosity("loud")


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
