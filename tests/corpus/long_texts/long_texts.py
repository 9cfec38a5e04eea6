"""Texts that are very long, and letters from everywhere."""

import datasets


class LongTexts(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"text": datasets.Value("string"), "größe": datasets.Value("int64"), "with space": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"size": 300_000}), datasets.SplitGenerator(name="test", gen_kwargs={"size": 3})]

    def _generate_examples(self, size):
        for i, letter in enumerate(["a", "é", "e\u0301", "字", "🜁", "\u202e", "\r\n", "\x85\u2028", "\ufeff", "\x1f"]):
            text = letter * (size if i < 2 else 3)
            yield "%d%s" % (i, letter), {"text": text, "größe": len(text), "with space": " " + letter + "\t"}
