"""A class is told from another by its code, with a file and without."""

CLASS_OF_A_NOTEBOOK = """
import datasets_core as datasets
FACTOR = {factor}

class Rows(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({{"a": datasets.Value("int64")}}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={{"n": 2}})]

    def _generate_examples(self, n):
        for i in range(n):
            yield i, {{"a": i * FACTOR}}
"""


def test_a_class_without_a_file_is_told_from_another_by_its_code(tmp_path):
    found = []
    for factor in (2, 2, 3):
        names = {"__name__": "of_no_file"}
        exec(CLASS_OF_A_NOTEBOOK.format(factor=factor), names)
        builder = names["Rows"](cache_dir=str(tmp_path))
        builder.download_and_prepare()
        found.append((builder.cache_dir, builder.as_dataset(split="train")["a"][:]))

    assert [rows for _, rows in found] == [[0, 2], [0, 2], [0, 3]]
    assert found[0][0] == found[1][0]
