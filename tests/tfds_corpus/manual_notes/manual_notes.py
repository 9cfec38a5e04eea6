"""Notes that are fetched by hand."""

import tensorflow_datasets.public_api as tfds


class ManualNotes(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Sign up at https://notes.example.org and put `notes.zip` into the folder.
    """

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self, description="Notes.", features=tfds.features.FeaturesDict({"note": tfds.features.Text()})
        )

    def _split_generators(self, dl_manager):
        archive = dl_manager.manual_dir / "notes.zip"
        if not archive.exists():
            raise AssertionError(f"{archive} is missing")
        return {"train": self._generate_examples(dl_manager.extract(archive))}

    def _generate_examples(self, path):
        notes = path / "notes"
        for note in [*notes.glob("*.txt"), *notes.glob("*/*.txt")]:
            yield note.name, {"note": note.read_text()}
