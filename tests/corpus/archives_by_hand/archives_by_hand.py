"""Opens archives itself."""

import os
import tarfile
import tempfile
import zipfile

import datasets


class ArchivesByHand(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("zip", "tar", "temporary")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"name": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        path = dl_manager.download("box.tar" if self.config.name == "tar" else "box.zip")
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        if self.config.name == "zip":
            assert zipfile.is_zipfile(path)
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if name.endswith(".txt"):
                        with archive.open(name) as f:
                            yield name, {"name": name, "text": f.read().decode("utf-8")}
        elif self.config.name == "tar":
            with tarfile.open(path, "r:*") as archive:
                for member in archive:
                    if member.isfile():
                        yield member.name, {"name": member.name, "text": archive.extractfile(member).read().decode("utf-8")}
        else:
            with tempfile.TemporaryDirectory() as folder:
                with zipfile.ZipFile(path) as archive:
                    archive.extractall(folder)
                for name in sorted(os.listdir(os.path.join(folder, "box"))):
                    with open(os.path.join(folder, "box", name), encoding="utf-8") as f:
                        yield name, {"name": "box/" + name, "text": f.read()}
