import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.records.specs.specs import RaggedFeature, UniformRowLength, as_specs, check_ragged


def test_one_partition_needs_no_list():
    alone = RaggedFeature("int64", "v", RaggedFeature.RowLengths("n"))
    assert alone == RaggedFeature("int64", "v", [RaggedFeature.RowLengths("n")])


def test_partitions_of_others_are_taken_by_their_names():
    class RowLengths:
        key = "n"

    assert RaggedFeature("int64", "v", [RowLengths()]).partitions == (RaggedFeature.RowLengths("n"),)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (RaggedFeature("int64", partitions=["n"]), "'n' of feature 'a' is not a partition"),
        (RaggedFeature("int64", partitions=[UniformRowLength(0)]), "rows of length 0"),
        (RaggedFeature("int64", row_splits_dtype="int8"), "row_splits_dtype='int8'"),
    ],
    ids=["partition", "length", "dtype"],
)
def test_what_has_no_meaning_is_refused(spec, reason):
    with pytest.raises(ConfigurationError, match=reason):
        check_ragged(spec, "a")
    with pytest.raises(ConfigurationError, match=reason):
        as_specs({"a": spec})
