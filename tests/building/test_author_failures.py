"""The words for code of an author that fails."""

import os
from types import SimpleNamespace

import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.failures import describe, fail, place_of
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.write.generate import begin
from datasets_core.errors import DatasetGenerationError, MissingDependencyError
from datasets_core.meta.info import DatasetInfo

PART = SimpleNamespace(
    split="train", gen_kwargs={"n": 1}, index=1, count=3, batch_rows=None, max_rows=None, deadline=None, is_order_free=False
)


class Author:
    label = "reviews"

    def generate(self, gen_kwargs):
        raise KeyError(gen_kwargs["n"])


def test_a_hook_that_fails_as_it_is_called_is_named_with_its_place():
    with pytest.raises(
        DatasetGenerationError, match=rf"at row 0 of split 'train' \(part 2 of 3\), in {__file__}, line \d+: Key"
    ):
        begin(PART, Author())


def test_a_failure_names_the_key_before_it():
    with pytest.raises(DatasetGenerationError, match="at row 7, behind key 'k'") as caught:
        fail(PART, Author(), ValueError("bad"), row=7, key="k")

    assert caught.value.row == 7


def test_a_package_that_is_missing_when_rows_are_made_is_named():
    class Lacking(Author):
        def generate(self, gen_kwargs):
            from no_such_package import inner

            return inner(gen_kwargs)

    with pytest.raises(MissingDependencyError, match=rf"reviews, in {__file__}, line \d+, needs the package 'no_such_package'"):
        begin(PART, Lacking())


@pytest.mark.parametrize("is_streaming", [False, True])
def test_a_path_of_a_manual_dir_that_was_not_given_is_told_with_what_to_do(tmp_path, is_streaming):
    class Manual(GeneratorBasedBuilder):
        def _info(self):
            return DatasetInfo()

        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {"path": os.path.join(dl_manager.manual_dir, "a.txt")})]

        def _generate_examples(self, path):
            yield 0, {"path": path}

    builder = Manual(cache_dir=str(tmp_path))
    with pytest.raises(DatasetGenerationError, match=r"manual_dir is None; pass the folder .* as data_dir="):
        list(builder.as_streaming_dataset("train")) if is_streaming else builder.download_and_prepare()


def test_an_error_without_words_is_its_kind():
    assert describe(AssertionError()) == "AssertionError"
    assert describe(ValueError(" bad. ")) == "ValueError: bad"


def test_the_place_is_in_the_authors_file():
    class Script:
        def fail(self):
            return [int(text) for text in ("1", "x")]

    with pytest.raises(ValueError, match="'x'") as caught:
        Script().fail()

    assert place_of(caught.value, Script()).startswith(f"in {__file__}, line ")
