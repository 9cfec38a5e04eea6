"""A tar in a zip, and a zip in a tar."""

import io
import os
import tarfile
import zipfile

import datasets


class NestedArchives(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("extract_twice", "iter_inner", "iter_handle", "by_hand")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"path": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        if self.config.name == "extract_twice":
            outer = dl_manager.download_and_extract("outer.zip")
            inner = dl_manager.extract(os.path.join(outer, "outer", "inner.tar.gz"))
            return [datasets.SplitGenerator(name="train", gen_kwargs={"source": inner})]
        if self.config.name == "iter_inner":
            outer = dl_manager.download_and_extract("outer.zip")
            return [
                datasets.SplitGenerator(
                    name="train", gen_kwargs={"source": dl_manager.iter_archive(os.path.join(outer, "outer", "inner.tar.gz"))}
                )
            ]
        if self.config.name == "iter_handle":
            archive = dl_manager.download("tars.tar")
            return [datasets.SplitGenerator(name="train", gen_kwargs={"source": [archive, dl_manager]})]
        return [datasets.SplitGenerator(name="train", gen_kwargs={"source": dl_manager.download("outer.tar")})]

    def _generate_examples(self, source):
        if self.config.name == "extract_twice":
            for root, _, files in os.walk(source):
                for name in sorted(files):
                    with open(os.path.join(root, name), encoding="utf-8") as f:
                        yield name, {"path": name, "text": f.read()}
        elif self.config.name == "iter_inner":
            for path, f in source:
                yield path, {"path": path, "text": f.read().decode()}
        elif self.config.name == "iter_handle":
            archive, dl_manager = source
            for outer_path, outer in dl_manager.iter_archive(archive):
                for path, f in dl_manager.iter_archive(outer):
                    yield outer_path + path, {"path": outer_path + "::" + path, "text": f.read().decode()}
        else:
            with tarfile.open(source) as outer:
                for member in outer.getmembers():
                    with zipfile.ZipFile(io.BytesIO(outer.extractfile(member).read())) as inner:
                        for name in inner.namelist():
                            yield name, {"path": member.name + "::" + name, "text": inner.read(name).decode()}
