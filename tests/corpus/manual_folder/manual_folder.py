"""Files that a user has to fetch by hand."""

import os

import datasets


class ManualFolder(datasets.GeneratorBasedBuilder):
    """Needs data_dir."""

    @property
    def manual_download_instructions(self):
        return """\
        Ask the keeper of the shells for shells.txt, put it into a folder
        and load the dataset by `datasets.load_dataset("manual_folder", data_dir="<path/to/folder>")`.
        """

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"shell": datasets.Value("string"), "year": datasets.Value("int16")}))

    def _split_generators(self, dl_manager):
        data_dir = os.path.abspath(os.path.expanduser(dl_manager.manual_dir))
        path = os.path.join(data_dir, "shells.txt")
        if not os.path.exists(path):
            raise FileNotFoundError(
                "{} does not exist. Make sure you insert a manual dir that holds shells.txt. Instructions: {}".format(
                    data_dir, self.manual_download_instructions
                )
            )
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": path}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"path": os.path.join(self.config.data_dir, "more", "shells.txt")}),
        ]

    def _generate_examples(self, path):
        with open(path) as f:
            for i, line in enumerate(f):
                shell, year = line.strip().split(";")
                yield i, {"shell": shell, "year": int(year) if year else None}
