"""The names of TF-Slim's modules."""

import pytest

from datasets_core import slim

KNOWN = {
    "data_decoder": "DataDecoder",
    "data_provider": "DataProvider",
    "dataset": "Dataset",
    "dataset_data_provider": "DatasetDataProvider",
    "parallel_reader": "ParallelReader",
    "prefetch_queue": "prefetch_queue",
    "tfexample_decoder": "TFExampleDecoder",
}


@pytest.mark.parametrize("module", sorted(KNOWN))
def test_a_name_is_found_in_the_module_that_has_it_in_tf_slim(module: str) -> None:
    assert getattr(getattr(slim, module), KNOWN[module]) is getattr(slim, KNOWN[module])


def test_modules_are_imported_by_their_names() -> None:
    from datasets_core.slim import dataset, tfexample_decoder

    assert dataset.Dataset is slim.Dataset and tfexample_decoder.Image is slim.Image
