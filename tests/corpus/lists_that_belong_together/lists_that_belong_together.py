"""Lists in gen_kwargs whose items mean nothing apart: they are given whole where nobody asks for processes."""

import datasets


class ListsThatBelongTogether(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("counter", "header", "crossed", "memory", "uneven", "last")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"id": datasets.Value("int32"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        files = dl_manager.download(["parts/a.txt", "parts/b.txt", "parts/c.txt"])
        more = {
            "crossed": {"tongues": ["en", "fr", "de"]},
            "uneven": {"names": ["x", "y"]},
        }.get(self.config.name, {})
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"files": files, **more})]

    def _generate_examples(self, files, tongues=(), names=()):
        texts = []
        for path in files:
            with open(path, encoding="utf-8") as f:
                texts.append(f.read().split())
        number = 0
        if self.config.name == "header":
            for words in texts[1:]:
                for word in words:
                    yield word, {"id": len(words), "text": texts[0][0] + " " + word}
        elif self.config.name == "crossed":
            for words in texts:
                for tongue in tongues:
                    yield words[0] + tongue, {"id": len(tongues), "text": words[0] + " " + tongue}
        elif self.config.name == "last":
            for words in texts[:-1]:
                yield words[0], {"id": len(texts), "text": texts[-1][0]}
        else:
            seen = ""
            for words in texts:
                for word in words:
                    seen += word[0]
                    yield word, {"id": number, "text": seen if self.config.name == "memory" else word + "".join(names)}
                    number += 1
