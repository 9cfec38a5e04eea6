"""Asks whether it is streamed; the rows are the same."""

import datasets


class StreamingFlag(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"line": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        archive = dl_manager.download("lines.tar.gz")
        local = dl_manager.extract(archive) if not dl_manager.is_streaming else None
        return [
            datasets.SplitGenerator(
                name=datasets.Split.TRAIN, gen_kwargs={"local": local, "files": dl_manager.iter_archive(archive)}
            )
        ]

    def _generate_examples(self, local, files):
        for path, f in files:
            if local:
                with open(local + "/" + path, encoding="utf-8") as inner:
                    text = inner.read()
                assert text == f.read().decode("utf-8")
            else:
                text = f.read().decode("utf-8")
            for number, line in enumerate(text.splitlines()):
                yield f"{path}_{number}", {"line": line}
