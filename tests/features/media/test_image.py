import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, ConfigurationError, MediaDecodeError, UntrustedPathError
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.media.types import Image, is_pillow_image
from datasets_core.features.schema import Features

PIL = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.optional("PIL")
ImageArray = np.ndarray[Any, np.dtype[Any]]


def png(color: tuple[int, ...] | int = (255, 0, 0), size: tuple[int, int] = (3, 2), mode: str = "RGB", **options: Any) -> bytes:
    buffer = io.BytesIO()
    PIL.new(mode, size, color).save(buffer, format="PNG", **options)
    return buffer.getvalue()


def dataset(*values: Any, feature: Image | None = None) -> Dataset:
    return Dataset.from_dict({"image": list(values)}, features=Features({"image": feature or Image()}))


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 5), st.integers(1, 5), st.sampled_from([3, 4]))))
def test_an_array_of_colors_comes_back_as_it_was(pixels: ImageArray) -> None:
    image = Image()
    assert np.array_equal(np.asarray(image.decode_example(image.encode_example(pixels))), pixels)


@given(hnp.arrays(st.sampled_from(["u1", "u2", "i4", "f4", "?"]), st.tuples(st.integers(1, 5), st.integers(1, 5))))
def test_an_array_of_one_channel_comes_back_as_it_was(pixels: ImageArray) -> None:
    image = Image()
    back = np.asarray(image.decode_example(image.encode_example(pixels)))
    assert np.array_equal(back, pixels, equal_nan=pixels.dtype.kind == "f")


def test_numbers_that_fit_are_narrowed_and_others_are_refused() -> None:
    image = Image()
    with pytest.warns(UserWarning, match="Downcasting"):
        back = np.asarray(image.decode_example(image.encode_example([[[1, 2, 3]], [[4, 5, 255]]])))
    assert (back.dtype, back.tolist()) == (np.uint8, [[[1, 2, 3]], [[4, 5, 255]]])
    for wrong in (np.full((2, 2, 3), 256), np.full((2, 2, 3), -1), np.full((2, 2), 1 << 40)):
        with pytest.raises(CastError, match="outside the range"):
            image.encode_example(wrong)


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2, 3), "f4"), np.zeros((2, 2), "c8"), np.zeros((2, 2), "S1"), np.zeros((1,) * 5, "u1")]
)
def test_an_array_that_is_no_picture_is_refused(array: ImageArray) -> None:
    with pytest.raises(CastError, match="not an image"):
        Image().encode_example(array)


def test_a_pillow_image_is_stored_in_its_own_format_and_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    PIL.new("RGB", (4, 4), "red").save(path)
    with PIL.open(path) as image:
        assert Image().encode_example(image) == {"bytes": None, "path": str(path)}
    jpeg = PIL.open(io.BytesIO(path.read_bytes()))
    assert Image().encode_example(jpeg)["bytes"][:3] == b"\xff\xd8\xff"
    assert Image().encode_example(PIL.new("CMYK", (1, 1)))["bytes"][:2] in (b"II", b"MM")  # TIFF, as PNG has no such mode


def test_rows_give_pillow_images_and_undecoded_ones_what_is_stored() -> None:
    rows = dataset(png(), None, {"bytes": png((0, 9, 0)), "path": "b.png"})
    assert [row["image"] and row["image"].getpixel((0, 0)) for row in rows] == [(255, 0, 0), None, (0, 9, 0)]
    stored = dataset(png(), feature=Image(decode=False))
    assert stored[0] == {"image": {"bytes": png(), "path": None}}


def test_a_mode_converts_and_the_camera_is_turned_upright() -> None:
    assert dataset(png(), feature=Image(mode="L"))[0]["image"].mode == "L"
    exif = PIL.Exif()
    exif[0x0112] = 6  # turned by a quarter
    turned = png(size=(3, 2), exif=exif.tobytes())
    assert dataset(turned)[0]["image"].size == (2, 3)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_a_damaged_exif_block_leaves_the_picture_as_it_lies() -> None:
    image = PIL.new("RGB", (3, 2))
    buffer = io.BytesIO()
    image.save(buffer, format="JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff")
    assert Image().decode_example({"bytes": buffer.getvalue(), "path": None}).size == (3, 2)


def test_frames_of_a_film_can_be_sought_after_reading(tmp_path: Path) -> None:
    path = tmp_path / "film.gif"
    frames = [PIL.new("L", (2, 2), value) for value in (0, 128, 255)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    image = dataset(str(path))[0]["image"]
    image.seek(2)
    assert image.convert("L").getpixel((0, 0)) == 255
    image.close()


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a", "a.gif"])
def test_a_name_that_belies_the_format_does_not_matter(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(png())
    assert dataset(str(tmp_path / name))[0]["image"].format == "PNG"


@pytest.mark.parametrize("data", [b"", b"no picture", png()[:40], png()[:-30], b"\xff\xd8\xff", b"GIF89a" + b"\xff" * 40])
def test_a_damaged_picture_names_row_and_column(data: bytes) -> None:
    rows = dataset(png(), data)
    for read in (lambda: rows[1], lambda: rows[:2], lambda: list(rows), lambda: rows["image"][1], lambda: rows[[1, 0]]):
        with pytest.raises(MediaDecodeError, match="Row 1, column 'image'") as caught:
            read()
        assert (caught.value.column, caught.value.row) == ("image", 1)


def test_a_decompression_bomb_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = png(size=(100, 100))
    monkeypatch.setattr(PIL, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(MediaDecodeError, match="decompression bomb"):
        dataset(bomb)[0]


def _iptc(data: bytes) -> bytes:
    """A picture inside an IPTC file."""
    fields = {(3, 20): b"\0\0\0\4", (3, 30): b"\0\0\0\4", (3, 60): b"\1\0", (3, 120): b"\0\0\0\5", (8, 10): data}
    return b"".join(bytes((0x1C, *tag)) + len(value).to_bytes(2, "big") + value for tag, value in fields.items())


@pytest.mark.parametrize("kind", ["EPS", "IPTC"])
@pytest.mark.parametrize("by_path", [True, False])
def test_no_program_is_started_to_decode(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, by_path: bool) -> None:
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 4 4\n%%EndComments\nshowpage\n%%EOF\n"
    data = eps if kind == "EPS" else _iptc(eps)
    started: list[Any] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **kwargs: started.append(args))
    (tmp_path / "a.eps").write_bytes(data)
    value = str(tmp_path / "a.eps") if by_path else data
    rows = Dataset.from_dict({"image": [value]}, Features({"image": Image()}))

    with pytest.raises(MediaDecodeError, match=f"Row 0, column 'image': .*{kind} with an external program"):
        rows[0]
    assert started == []
    assert rows.cast_column("image", Image(decode=False))[0]["image"]["path" if by_path else "bytes"] == value


def test_a_column_that_is_not_read_is_not_decoded() -> None:
    rows = Dataset.from_dict(
        {"image": [b"broken"], "n": [1]},
        features=Features.from_dict({"image": {"_type": "Image"}, "n": {"dtype": "int8", "_type": "Value"}}),
    )
    assert rows["n"][0] == 1 and rows.select_columns("n")[0] == {"n": 1}


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array(["a.png", None]), [{"bytes": None, "path": "a.png"}, None]),
        (pa.array(["a.png"], pa.large_string()), [{"bytes": None, "path": "a.png"}]),
        (pa.array(["a.png"], pa.string_view()), [{"bytes": None, "path": "a.png"}]),
        (pa.array(["a.png", "a.png"]).dictionary_encode(), [{"bytes": None, "path": "a.png"}] * 2),
        (pa.array([b"x", None]), [{"bytes": b"x", "path": None}, None]),
        (pa.array([b"x"], pa.large_binary()), [{"bytes": b"x", "path": None}]),
        (pa.array([{"path": "a", "bytes": b"x"}, None]), [{"bytes": b"x", "path": "a"}, None]),
        (pa.array([{"path": "a"}]), [{"bytes": None, "path": "a"}]),
        (pa.array([{"bytes": b"x", "other": 1}]), [{"bytes": b"x", "path": None}]),
        (pa.array([{"bytes": [1, 2]}], pa.struct({"bytes": pa.list_(pa.uint8())})), [{"bytes": b"\1\2", "path": None}]),
        (pa.nulls(2), [None, None]),
    ],
    ids=str,
)
def test_columns_of_other_types_are_cast(array: pa.Array, expected: list[Any]) -> None:
    cast = Image().cast_storage(array.dictionary_decode() if pa.types.is_dictionary(array.type) else array)
    assert cast.to_pylist() == expected
    assert cast.type == Image().arrow_type
    cast.validate(full=True)


def test_lists_of_numbers_are_cast_to_pictures_and_what_fits_nothing_is_refused() -> None:
    with pytest.warns(UserWarning, match="Downcasting"):
        cast = Image().cast_storage(pa.array([[[1, 2], [3, 4]], None]))
    assert np.asarray(Image().decode_example(cast[0].as_py())).tolist() == [[1, 2], [3, 4]]
    for wrong in (pa.array([1]), pa.array([{"x": 1}]), pa.array([["a"]])):
        with pytest.raises(CastError):
            Image().cast_storage(wrong)


def test_an_undecoded_feature_decodes_nothing_by_hand() -> None:
    with pytest.raises(ConfigurationError, match="decode=True"):
        Image(decode=False).decode_example({"bytes": png(), "path": None})
    image = PIL.new("L", (1, 1))
    assert Image().decode_example(image) is image


def test_only_paths_that_the_rule_allows_are_opened(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png())
    stored = {"bytes": None, "path": str(tmp_path / "a.png")}
    assert Image().decode_stored(stored, MediaPaths((str(tmp_path),))).size == (3, 2)
    with pytest.raises(UntrustedPathError):
        Image().decode_stored(stored, MediaPaths((str(tmp_path / "other"),)))


def test_storing_and_reading_undecoded_needs_no_pillow() -> None:
    code = """
import sys
sys.modules["PIL"] = None
from datasets_core import Dataset, Features, Image
rows = Dataset.from_dict({"a": [b"x", "p"]}, features=Features({"a": Image(decode=False)}))
assert rows[1] == {"a": {"bytes": None, "path": "p"}}
try:
    Dataset.from_dict({"a": [b"x"]}, features=Features({"a": Image()}))[0]
except ImportError as error:
    assert "datasets_core[vision]" in str(error), error
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_an_image_is_told_without_importing_pillow() -> None:
    assert is_pillow_image(PIL.new("L", (1, 1))) and not is_pillow_image("x")
