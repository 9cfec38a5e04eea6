"""Names for tests and pictures may be imported."""

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.tfds.utils import GraphVisualizerMetadataDict, testing, visualization


def test_they_may_be_derived_from_and_not_called() -> None:
    class Case(testing.DatasetBuilderTestCase):  # type: ignore[misc]
        SPLITS = {"train": 3}  # noqa: RUF012 - as authors write it

    assert Case.SPLITS == {"train": 3}
    with pytest.raises(ConfigurationError, match="test_main"):
        testing.test_main()
    with pytest.raises(ConfigurationError, match=r"mock\.more"):
        testing.mock.more()
    for missing in (testing, testing.mock):
        with pytest.raises(AttributeError):
            _ = missing._private


def test_graphs_are_described() -> None:
    assert visualization.GraphVisualizerMetadataDict is GraphVisualizerMetadataDict
    assert GraphVisualizerMetadataDict(edgelist_feature_name="e")["edgelist_feature_name"] == "e"
