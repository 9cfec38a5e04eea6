"""What stands in for packages that TFDS brought along."""

import logging

import pytest

from datasets_core.scripting.compat import packages
from datasets_core.scripting.compat.packages import absl_logging, six


def test_absl_logs(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "absl"):
        absl_logging.info("one %d", 1)
        absl_logging.log(absl_logging.ERROR, "two")
        for _ in range(5):
            absl_logging.log_first_n(absl_logging.INFO, "few", 2)
            absl_logging.log_every_n(absl_logging.WARNING, "each third", 3)
    said = [record.getMessage() for record in caplog.records]
    assert (said[:2], said.count("few"), said.count("each third")) == (["one 1", "two"], 2, 2)
    absl_logging.set_verbosity(absl_logging.INFO)
    assert absl_logging.get_verbosity() == 0


def test_absl_flags_have_their_defaults() -> None:
    flags = packages.AbslFlags()
    flags.DEFINE_integer("count", 3, "How many.", lower_bound=1)
    assert flags.FLAGS.count == 3
    with pytest.raises(AttributeError):
        _ = flags.nothing


def test_six() -> None:
    assert (list(six.iteritems({"a": 1})), six.ensure_text(b"a"), six.ensure_binary("a")) == ([("a", 1)], "a", b"a")
    assert six.moves.urllib.parse.urljoin("http://a/", "b") == "http://a/b"

    class Meta(type):
        pass

    @six.add_metaclass(Meta)
    class Made:
        x = 1

    assert (type(Made), Made.x) == (Meta, 1)


def test_nests() -> None:
    nest = {"b": (1, [2]), "a": 3}
    assert packages.map_structure(str, nest) == {"b": ("1", ["2"]), "a": "3"}
    assert packages.flatten(nest) == [3, 1, 2]
