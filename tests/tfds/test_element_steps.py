"""Functions on elements as steps of a stream."""

import pickle
from typing import Any

from datasets_core import tfds
from datasets_core.dataset.dataset import Dataset
from datasets_core.stream.nodes.block import DictBlock
from datasets_core.tfds.elements import WHOLE, Row, Supervised
from datasets_core.tfds.split_stream import ElementFunction, FilterElements, MapElements, NumberElements


def _is_big(x: Any) -> bool:
    return bool(x > 1)


BLOCK = DictBlock([{"x": 1, "y": 10}, {"x": 2, "y": 20}])


def test_tuples_come_as_arguments() -> None:
    step = MapElements(ElementFunction(lambda x, y: x + y, Supervised(("x", "y")), "map"))
    assert step.changed(BLOCK, None).rows() == [{WHOLE: 11}, {WHOLE: 22}]


def test_rows_are_kept_or_numbered() -> None:
    keep = ElementFunction(_is_big, Supervised(("x",)), "filter")
    assert keep.kept_rows(BLOCK, None) == [1]
    assert NumberElements(Row(), 5).changed(BLOCK, range(2)).rows()[1] == {WHOLE: (6, {"x": 2, "y": 20})}


def test_steps_are_known_by_their_functions_and_travel() -> None:
    step = FilterElements(ElementFunction(_is_big, Row(), "filter"))
    assert (step.text, step.features(None)) == ("filter(_is_big)", None)
    assert pickle.loads(pickle.dumps(step)) == step


def test_a_function_behind_a_filter_sees_what_is_left() -> None:
    stream = tfds.SplitStream.of(Dataset.from_dict({"a": range(20)}).to_iterable_dataset())
    found = stream.filter(lambda row: row["a"] % 3 == 0).enumerate().map(lambda number, row: (number, row["a"]))
    assert list(found) == [(0, 0), (1, 3), (2, 6), (3, 9), (4, 12), (5, 15), (6, 18)]
