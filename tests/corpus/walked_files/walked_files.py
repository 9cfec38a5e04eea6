"""A zip that is extracted and looked through in all the ways there are."""

import glob
import os
import pathlib

import datasets


class WalkedFiles(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name=name) for name in ("walk", "glob", "rglob", "scandir", "iter_files", "iter_list", "pathlib")
    ]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {"path": datasets.Value("string"), "label": datasets.Value("string"), "size": datasets.Value("uint32")}
            )
        )

    def _split_generators(self, dl_manager):
        root = dl_manager.download_and_extract("forest.zip")
        if self.config.name == "iter_files":
            return [datasets.SplitGenerator(name="train", gen_kwargs={"root": root, "files": dl_manager.iter_files(root)})]
        if self.config.name == "iter_list":
            paths = [os.path.join(root, "forest", "oak"), os.path.join(root, "forest", "top.txt")]
            return [datasets.SplitGenerator(name="train", gen_kwargs={"root": root, "files": dl_manager.iter_files(paths)})]
        return [datasets.SplitGenerator(name="train", gen_kwargs={"root": root, "files": None})]

    def _paths(self, root, files):
        if files is not None:
            return files
        if self.config.name == "walk":
            return (os.path.join(at, name) for at, _, names in sorted(os.walk(root)) for name in sorted(names))
        if self.config.name == "glob":
            return sorted(glob.glob(os.path.join(root, "forest", "*", "*.txt")))
        if self.config.name == "rglob":
            return sorted(glob.glob(root + "/**/*.txt", recursive=True))
        if self.config.name == "scandir":
            return sorted(e.path for d in os.scandir(os.path.join(root, "forest")) if d.is_dir() for e in os.scandir(d.path))
        return sorted((pathlib.Path(root) / "forest").rglob("l*.txt"))

    def _generate_examples(self, root, files):
        for path in self._paths(root, files):
            short = os.path.relpath(path, root).replace(os.sep, "/")
            yield short, {
                "path": short,
                "label": os.path.basename(os.path.dirname(path)),
                "size": os.path.getsize(path),
            }
