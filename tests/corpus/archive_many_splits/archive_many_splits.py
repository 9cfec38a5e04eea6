"""One archive, three splits, two columns of texts; walked again inside one split as well."""

import datasets


class ArchiveManySplits(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("tar", "gz", "zip", "bz2", "xz")]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {"path": datasets.Value("string"), "text": datasets.Value("string"), "of": datasets.Value("int32")}
            )
        )

    def _split_generators(self, dl_manager):
        names = {"tar": "letters.tar", "gz": "letters.tar.gz", "zip": "letters.zip", "bz2": "letters.tar.bz2", "xz": "letters.tar.xz"}
        archive = dl_manager.download(names[self.config.name])
        return [
            datasets.SplitGenerator(
                name=name, gen_kwargs={"directory": "letters/" + name, "files": dl_manager.iter_archive(archive)}
            )
            for name in ("train", "validation", "test")
        ]

    def _generate_examples(self, directory, files):
        number = sum(1 for path, f in files if path.startswith(directory))
        for path, f in files:
            if path.startswith(directory):
                yield path, {"path": path, "text": f.read().decode("utf-8"), "of": number}
