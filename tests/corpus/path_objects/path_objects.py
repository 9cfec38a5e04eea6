"""Everything by pathlib."""

from pathlib import Path

import datasets


class PathObjects(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"name": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        root = Path(dl_manager.download_and_extract("leaves.zip"))
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"root": root, "pattern": "**/train_*.txt"}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"root": root / "leaves", "pattern": "test_*"}),
        ]

    def _generate_examples(self, root, pattern):
        for path in sorted(root.glob(pattern)):
            if path.suffix == ".txt" and path.is_file() and path.exists():
                with path.open(encoding="utf-8") as f:
                    assert f.read() == path.read_text(encoding="utf-8")
                yield path.stem, {"name": path.name, "text": path.read_text(encoding="utf-8")}
