import enum

import pytest

from datasets_core.errors import UnknownExperimentError
from datasets_core.meta.version import Experiment, check_experiment, is_on_by_default


class Packing(Experiment):
    __on_by_default__ = ("SORTED",)
    SORTED = "sorted"
    BY_LENGTH = "by length"


class Own(Experiment):
    DUMMY = "an author's own"


class Plain(enum.Enum):
    PACKED = 1


def test_the_library_s_own_experiment_is_off_by_default() -> None:
    assert isinstance(Experiment.DUMMY, Experiment)
    assert not is_on_by_default(Experiment.DUMMY)


def test_an_enum_says_which_experiments_are_on_by_default() -> None:
    assert [is_on_by_default(each) for each in (*Packing, *Plain)] == [True, False, False]


def test_members_are_those_of_the_author() -> None:
    assert [each.name for each in Packing] == ["SORTED", "BY_LENGTH"]
    assert Own.DUMMY is not Experiment.DUMMY
    assert list(Own) == [Own.DUMMY]


@pytest.mark.parametrize("value", ["unknown", None, 1, [], Packing])
def test_what_is_no_member_is_refused(value: object) -> None:
    with pytest.raises(UnknownExperimentError, match="Unknown experiment"):
        check_experiment(value)
