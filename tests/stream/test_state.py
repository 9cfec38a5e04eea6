"""States of streams as JSON: what they say, and when they are refused."""

import json

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import StreamStateError
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.state import Place, check_place, own_shards, read, saved
from datasets_core.stream.steps import Share

SIGNATURE = [["8 rows", "ab12"], ["batch(2)", "cd34"]]


@pytest.mark.parametrize("place", [Place(0, None, 7), Place(3, Share(1, 4), [[5, 0, 2], 1])])
def test_a_state_is_read_as_it_was_saved(place: Place) -> None:
    assert read(json.loads(json.dumps(saved(place, SIGNATURE))), SIGNATURE) == place


@pytest.mark.parametrize("odd", [None, {}, [], {"version": 1}, "x"])
def test_what_is_no_state_is_refused(odd: object) -> None:
    with pytest.raises(StreamStateError, match=r"Give what state_dict\(\) returned"):
        read(odd, SIGNATURE)


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(StreamStateError, match="has version 1, and this library reads version 2"):
        read({**saved(Place(0, None, 0), SIGNATURE), "version": 1}, SIGNATURE)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ([["9 rows", "ab12"]], "begins with 8 rows, and this one 9 rows"),
        ([["8 rows", "ffff"]], "begins with another 8 rows than this one"),
        ([SIGNATURE[0]], r"only the other has the step batch\(2\)"),
        ([*SIGNATURE, ["take(3)", "ee"]], r"only this one has the step take\(3\)"),
    ],
)
def test_a_refusal_says_what_differs(other: list[list[str]], message: str) -> None:
    with pytest.raises(StreamStateError, match=message):
        read(saved(Place(0, None, 0), SIGNATURE), other)


FILES = ["9 rows", "", [["dataset", "birds with 9 rows", "ab"], ["split", "train", "cd"], ["read config", "cycle=2", ""]]]


def _files(*parts: list[str]) -> list[object]:
    """The signature with other parts."""
    changed = {part[0]: part for part in parts}
    return ["9 rows", "", [changed.get(part[0], part) for part in FILES[2]]]  # type: ignore[index]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (["dataset", "owls with 9 rows", "ff"], "another dataset: it has birds with 9 rows, and this stream owls with 9 rows"),
        (["dataset", "birds with 9 rows", "ff"], "another dataset: it has another birds with 9 rows than this stream"),
        (["split", "train[1:]", "ff"], r"another split: it has train, and this stream train\[1:\]"),
        (["read config", "cycle=3", ""], "another read config: it has cycle=2, and this stream cycle=3"),
    ],
)
def test_a_state_of_other_files_is_refused_with_the_part_that_differs(other: list[str], message: str) -> None:
    with pytest.raises(StreamStateError, match=message):
        read(saved(Place(0, None, 0), [FILES]), [_files(other)])


def test_another_split_of_the_dataset_is_called_that() -> None:
    """The rows of the splits that are read tell a dataset from others; those of another split differ, too."""
    state = saved(Place(0, None, 0), [FILES])
    test = ["split", "test", "ff"]

    with pytest.raises(StreamStateError, match="another split: it has train, and this stream test"):
        read(state, [_files(["dataset", "birds with 2 rows", "ee"], test)])
    with pytest.raises(StreamStateError, match="another dataset: it has birds with 9 rows, and this stream owls with 2 rows"):
        read(state, [_files(["dataset", "owls with 2 rows", "ee"], test)])
    with pytest.raises(StreamStateError, match="another dataset: it has birds with 9 rows, and this stream birds with 2 rows"):
        read(state, [_files(["dataset", "birds with 2 rows", "ee"], ["split", "train", "ff"])])


def test_fields_of_a_read_config_are_compared_by_name() -> None:
    more = [*FILES[2], ["read config", "id=True", ""]]

    with pytest.raises(StreamStateError, match="it has none, and this stream seed=1"):
        read(
            saved(Place(0, None, 0), [[*FILES[:2], more]]), [[*FILES[:2], [*FILES[2], ["read config", "seed=1", ""], more[-1]]]]
        )


def test_a_part_that_is_missing_differs() -> None:
    with pytest.raises(StreamStateError, match="another read config: it has none, and this stream cycle=2"):
        read(saved(Place(0, None, 0), [["9 rows", "", FILES[2][:2]]]), [FILES])


@pytest.mark.parametrize("other", [["dataset", "the birds", "ab"], ["split", "train[:100%]", "cd"]])
def test_other_words_for_the_same_content_are_no_difference(other: list[str]) -> None:
    assert read(saved(Place(0, None, 7), [_files(other)]), [FILES]).at == 7


@pytest.mark.parametrize(
    "plan", [None, 3, "x", [3], [["a"]], [["a", 3]], [["a", "b", 3]], [["a", "b", [3]]], [["a", "b", [["c", "d"]]]]]
)
def test_a_plan_that_is_none_is_refused(plan: object) -> None:
    with pytest.raises(StreamStateError, match=r"Give what state_dict\(\) returned"):
        read({**saved(Place(0, None, 0), [FILES]), "plan": plan}, [FILES])


@pytest.mark.parametrize(("edit", "lanes"), [({"lanes": 4}, None), ({}, 4), ({"lanes": 3}, 4), ({"lanes": "4"}, 4)])
def test_a_state_is_of_as_many_lanes(edit: dict[str, object], lanes: int | None) -> None:
    with pytest.raises(StreamStateError, match="lanes"):
        read({**saved(Place(0, None, 0), SIGNATURE), **edit}, SIGNATURE, lanes=lanes)


def test_a_state_of_an_epoch_before_the_first_is_refused() -> None:
    with pytest.raises(StreamStateError, match="epoch -1"):
        read({**saved(Place(0, None, 0), SIGNATURE), "epoch": -1}, SIGNATURE)


def test_a_drawn_seed_goes_with_the_state() -> None:
    state = json.loads(json.dumps(saved(Place(0, None, 0, 42), SIGNATURE)))

    assert read(state, SIGNATURE, has_seed=True).seed == 42
    del state["seed"]
    with pytest.raises(StreamStateError, match="no seed for the order of the files"):
        read(state, SIGNATURE, has_seed=True)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"epoch": "x"}, "says epoch 'x', which is not an integer"),
        ({"epoch": None}, "says epoch None"),
        ({"epoch": 1.5}, "says epoch 1.5"),
        ({"epoch": True}, "says epoch True"),
        ({"share": "x"}, "says share 'x', which is not a number of a part"),
        ({"share": [1]}, r"says share \[1\]"),
        ({"share": [2, 2]}, r"says share \[2, 2\]"),
        ({"share": [-1, 2]}, r"says share \[-1, 2\]"),
        ({"share": [0, "2"]}, "says share"),
        ({"seed": 7}, "has a seed for the order of the files, and this stream drew none"),
    ],
)
def test_an_edited_state_is_refused_by_what_was_edited(edit: dict[str, object], message: str) -> None:
    with pytest.raises(StreamStateError, match=message):
        read({**saved(Place(0, None, 7), SIGNATURE), **edit}, SIGNATURE)


@pytest.mark.parametrize("seed", ["x", [1], 1.5, True])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(StreamStateError, match="says seed"):
        read({**saved(Place(0, None, 7, 3), SIGNATURE), "seed": seed}, SIGNATURE, has_seed=True)


ROWS = Dataset.from_dict({"a": list(range(9))}).to_iterable_dataset()._plan.node(0)
MADE = IterableDataset.from_generator(iter, gen_kwargs={"parts": list(range(9))}).shuffle(seed=1)._plan.node(0)


@pytest.mark.parametrize("at", [0, 9])
def test_a_place_has_the_form_of_the_beginning(at: int) -> None:
    check_place(ROWS, at)
    check_place(MADE, [[at, 3], 10, 1])


@pytest.mark.parametrize("at", [-1, "3", "x", None, 2.5, True, [1], {}])
def test_a_place_of_another_form_is_refused(at: object) -> None:
    with pytest.raises(StreamStateError, match="says that it stands at"):
        check_place(ROWS, at)
    with pytest.raises(StreamStateError, match="says that it stands at"):
        check_place(MADE, at)
    for form in ([[at, 0], 0, 0], [[0, at], 0, 0], [[0, 0], at, 0]):
        with pytest.raises(StreamStateError, match="says that it stands at"):
            check_place(MADE, form)


def test_the_place_in_a_job_may_have_a_mark() -> None:
    check_place(MADE, [[2, 5, [3, {"byte": 7}]], 1, 2])
    for odd in ([2, 5, 3], [2, 5, ["x", 1]], [2, 5, [1, 2, 3]], [2, 5, [1, 2], 3]):
        with pytest.raises(StreamStateError, match="says that it stands at"):
            check_place(MADE, [odd, 0, 0])


def test_lanes_are_found_by_their_numbers() -> None:
    assert own_shards([[0, 7], [2, 5, 0], (1, 6)], (1, 2), 3) == [[1, 6], [2, 5, 0]]


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (7, "does not say where each lane stands"),
        ([[0, "x"]], "does not say where each lane stands"),
        ([[0]], "does not say where each lane stands"),
        ([[3, 1]], "does not say where each lane stands"),
        ([[0, 7]], r"lacks lane 1 of 3.*merge_states\(\)"),
        ([], r"lacks the lanes 0, 1 of 3"),
        ([[0, 7], [1, 7], [0, 7]], "names a lane twice"),
    ],
)
def test_a_state_without_the_lanes_that_are_read_is_refused(at: object, words: str) -> None:
    with pytest.raises(StreamStateError, match=words):
        own_shards(at, (0, 1), 3)


def test_a_state_says_how_many_lanes_there_are() -> None:
    assert saved(Place(0, None, [[0, 1]]), SIGNATURE, 48)["lanes"] == 48
    assert "lanes" not in saved(Place(0, None, 1), SIGNATURE)
