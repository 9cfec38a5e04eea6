"""A list of paths, of archives and of generators, told apart when rows are made."""

import io

import datasets


class MixedLists(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"from": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        files = dl_manager.download(["one.txt", "two.tar", "three.txt"])

        def made():
            for letter in "pq":
                yield letter, io.BytesIO(letter.encode())

        return [
            datasets.SplitGenerator(
                name=split._name, gen_kwargs={"sources": [files[0], dl_manager.iter_archive(files[1]), made(), files[2]]}
            )
            for split in (datasets.Split.TRAIN, datasets.Split.TEST)
        ]

    def _generate_examples(self, sources):
        key = 0
        for source in sources:
            if isinstance(source, str):
                with open(source, encoding="utf-8") as f:
                    yield key, {"from": "file", "text": f.read()}
                key += 1
                continue
            for path, f in source:
                yield key, {"from": path, "text": f.read().decode("utf-8")}
                key += 1
