"""The small functions of `tfds.core.utils`."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from datasets_core import progress
from datasets_core.tfds import utils as utils


def test_nests_are_flattened_and_packed() -> None:
    nest = {"a": {"b": 1, "c": {"d": 2}}, "e": 3}
    flat = utils.flatten_nest_dict(nest)
    assert flat == {"a/b": 1, "a/c/d": 2, "e": 3}
    assert utils.pack_as_nest_dict(flat, nest) == nest
    assert utils.map_nested(str, (1, [2]), map_tuple=True) == ("1", ["2"])
    assert utils.map_nested(len, {"a": [1, 2]}, dict_only=True) == {"a": 2}
    assert utils.zip_nested({"a": [1]}, {"a": [2]}, dict_only=True) == {"a": ([1], [2])}
    with pytest.raises(KeyError):
        list(utils.zip_dict({"a": 1}, {"b": 1}))


@pytest.mark.parametrize(("given", "expected"), [("True", True), (" false", False), ("1", True), ("0", False), (0, False)])
def test_words_for_true_and_false(given: Any, expected: bool) -> None:
    assert utils.parse_bool(given) is expected


def test_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="maybe"):
        utils.parse_bool("maybe")


def test_sizes_and_texts() -> None:
    assert [str(utils.Size(count)) for count in (5, 2048, 3 * utils.GiB)] == ["5 bytes", "2.00 KiB", "3.00 GiB"]
    assert utils.dedent(None) == ""
    assert utils.TextEncoderConfig().name == "plain_text"
    assert utils.TextEncoderConfig(encoder_cls=dict).name == "dict"
    assert utils.FileFormat("tfrecord") is utils.FileFormat.TFRECORD
    calls = []

    @utils.memoize()
    def once(n: int) -> int:
        calls.append(n)
        return n

    assert (once(1), once(1), calls) == (1, 1, [1])


def test_bars_are_shown_or_not() -> None:
    was = progress.is_progress_bar_enabled()
    utils.display_progress_bar(not was)
    assert progress.is_progress_bar_enabled() is not was
    utils.display_progress_bar(was)


@pytest.mark.parametrize(
    ("mode", "form", "convert"), [("CMYK", "JPEG", utils.jpeg_cmyk_to_rgb), ("RGBA", "PNG", utils.png_to_jpeg)]
)
def test_pictures_are_turned_into_jpeg(mode: str, form: str, convert: Any) -> None:
    written = io.BytesIO()
    Image.fromarray(np.full((8, 8, 4), 100, np.uint8), mode).save(written, form)
    found = Image.open(io.BytesIO(convert(written.getvalue())))
    assert (found.format, found.mode, found.size) == ("JPEG", "RGB", (8, 8))
