"""Labels that are the names of folders."""

import os

import datasets


class FolderLabels(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="path"), datasets.BuilderConfig(name="file_bytes"), datasets.BuilderConfig(name="text")]

    def _info(self):
        kind = datasets.Value("string") if self.config.name == "text" else datasets.Image()
        return datasets.DatasetInfo(
            features=datasets.Features({"image": kind, "image_file_path": datasets.Value("string"), "labels": datasets.ClassLabel(names=["cat", "dog"])})
        )

    def _split_generators(self, dl_manager):
        root = dl_manager.download_and_extract("pets.zip")
        return [
            datasets.SplitGenerator(
                name=name, gen_kwargs={"files": dl_manager.iter_files([os.path.join(root, "pets", name)]), "root": root}
            )
            for name in ("train", "test")
        ]

    def _generate_examples(self, files, root):
        for i, path in enumerate(files):
            if os.path.basename(path).endswith(".png"):
                short = os.path.relpath(path, root)
                if self.config.name == "path":
                    image = path
                elif self.config.name == "file_bytes":
                    with open(path, "rb") as f:
                        image = {"path": None, "bytes": f.read()}
                else:
                    image = os.path.basename(path)
                yield i, {"image": image, "image_file_path": short, "labels": os.path.basename(os.path.dirname(path)).lower()}
