"""Media of a stream decoded by threads, and damaged ones that are left out or None."""

import io
import itertools
import threading
from typing import Any

import numpy as np
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import MediaDecodeError
from datasets_core.features.base import Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.block import DecodedBlock, joined
from datasets_core.stream.plan import Decoded, decoding_of

PIL = pytest.importorskip("PIL.Image")


def _png(value: int) -> dict[str, Any]:
    sink = io.BytesIO()
    PIL.new("L", (2, 2), value).save(sink, "PNG")
    return {"bytes": sink.getvalue(), "path": None}


FEATURES = Features({"a": Value("int64"), "image": Image()})
BAD = {3, 17}
WHOLE = Dataset.from_list([{"a": value, "image": _png(value)} for value in range(30)], FEATURES).to_iterable_dataset()
DAMAGED = Dataset.from_list(
    [{"a": value, "image": {"bytes": b"x", "path": None} if value in BAD else _png(value)} for value in range(30)], FEATURES
).to_iterable_dataset()


def _pixels(stream: IterableDataset) -> list[tuple[int, int | None]]:
    return [(row["a"], None if row["image"] is None else row["image"].getpixel((0, 0))) for row in stream]


@pytest.mark.parametrize("change", [
    lambda stream: stream,
    lambda stream: stream.shuffle(seed=1),
    lambda stream: stream.filter(lambda row: row["a"] % 2, input_columns=None),
    lambda stream: stream.select_columns(["image", "a"]).take(9),
    lambda stream: split_dataset_by_node(stream, 1, 2, lanes=4),
])  # fmt: skip
def test_threads_change_nothing_but_who_decodes(change: Any) -> None:
    assert _pixels(change(WHOLE.decode(num_threads=3))) == _pixels(change(WHOLE.decode()))


def test_several_threads_decode(monkeypatch: pytest.MonkeyPatch) -> None:
    names = set()
    decode = Image.decode_stored
    barrier, calls = threading.Barrier(2, timeout=60), itertools.count()

    def noted(self: Image, *given: Any) -> Any:
        names.add(threading.current_thread().name)
        if next(calls) < 2:  # the first two meet
            barrier.wait()
        return decode(self, *given)

    monkeypatch.setattr(Image, "decode_stored", noted)
    assert len(list(WHOLE.take(4).decode(num_threads=2))) == 4
    assert names == {"datasets_core-worker"}


def test_states_go_from_threads_to_none_and_back() -> None:
    threaded, plain = WHOLE.decode(num_threads=2), WHOLE.decode()
    rows = _pixels(plain)
    for one, other in ((threaded, plain), (plain, threaded)):
        found = iter(one)
        for _ in range(7):
            next(found)
        other.load_state_dict(found.state_dict())
        assert _pixels(other) == rows[7:]


@pytest.mark.parametrize("kind", ["numpy", pytest.param("torch", marks=pytest.mark.optional("torch"))])
def test_formats_show_decoded_media_as_they_show_others(kind: str) -> None:
    threaded, plain = WHOLE.decode(num_threads=2).with_format(kind), WHOLE.with_format(kind)
    assert repr(list(threaded)) == repr(list(plain))
    assert repr(list(threaded.iter(7))) == repr(list(plain.iter(7)))


def test_damaged_media_are_left_out_or_none() -> None:
    with pytest.raises(MediaDecodeError):
        _pixels(DAMAGED)
    assert _pixels(DAMAGED.on_error("skip")) == [(value, value) for value in range(30) if value not in BAD]
    assert _pixels(DAMAGED.on_error("null")) == [(value, None if value in BAD else value) for value in range(30)]
    assert _pixels(DAMAGED.on_error("skip").decode(num_threads=2)) == _pixels(DAMAGED.on_error("skip"))
    kept = [batch["image"].shape for batch in DAMAGED.on_error("skip").with_format("numpy").iter(10)]
    assert kept == [(10, 2, 2), (10, 2, 2), (8, 2, 2)]


def test_a_function_that_is_given_damaged_media_fails_at_that_row_alone() -> None:
    rows = DAMAGED.map(lambda row: {"mean": float(np.asarray(row["image"]).mean())}, remove_columns="image")
    assert [row["a"] for row in rows.on_error("skip")] == [value for value in range(30) if value not in BAD]
    assert [row["mean"] for row in rows.on_error("null")] == [None if value in BAD else value for value in range(30)]
    with pytest.raises(MediaDecodeError):
        list(rows)


def test_states_behind_damaged_media_are_exact() -> None:
    stream = DAMAGED.on_error("skip", max_errors=2)
    rows, found = _pixels(stream), iter(stream)
    for place, _ in enumerate(found):
        other = DAMAGED.on_error("skip", max_errors=2)
        other.load_state_dict(found.state_dict())
        assert _pixels(other) == rows[place + 1 :]


def test_streams_without_media_are_read_as_they_are() -> None:
    plan = IterableDataset.from_dict({"a": [1]}).decode(num_threads=2)._plan
    assert decoding_of(plan.steps, plan.features, None) is None
    assert decoding_of((), FEATURES, None) is None
    assert decoding_of(plan.steps, FEATURES, None) is not None
    assert WHOLE.decode(num_threads=2)._plan.signature() == WHOLE.decode()._plan.signature()


def test_decoded_values_stay_with_their_rows() -> None:
    block = next(iter(WHOLE._plan.node(0).blocks(0))).block
    done = Decoded().changed(block, None)
    assert isinstance(done, DecodedBlock)
    for other in (done.take([1, 0]), done.slice(1, 3), joined([done, done])):
        assert isinstance(other, DecodedBlock)
        assert [row["image"].getpixel((0, 0)) for row in other.rows()] == [row["a"] for row in other.rows()]


@pytest.mark.parametrize("features", [None, Features({"a": Value("int64")}), Features({"a": Image()})])
def test_rows_of_a_generator_come_from_threads_too(features: Features | None) -> None:
    value: Any = _png(7) if features is not None and isinstance(features["a"], Image) else 7
    stream = IterableDataset.from_generator(lambda: ({"a": value} for _ in range(3)), features=features)
    rows = list(stream.decode(num_threads=2))
    assert len(rows) == len(list(stream)) == 3
    assert rows[0] == next(iter(stream))
