"""A folder whose name is no identifier, and files beside the script that are imported."""

import datasets

from .classes import COLOURS
from .languages import LANGUAGES as _LANGUAGES, describe
from .words import in_language


class NamesWithBoth(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=language, description=describe(language)) for language in _LANGUAGES]

    def _info(self):
        return datasets.DatasetInfo(
            description=self.config.description,
            features=datasets.Features(
                {"word": datasets.Value("string"), "colour": datasets.ClassLabel(names=list(COLOURS.values()))}
            ),
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"number": len(COLOURS)})]

    def _generate_examples(self, number):
        from .languages import shout

        for key, (short, colour) in enumerate(COLOURS.items()):
            yield key, {"word": shout(in_language(short, self.config.name)), "colour": colour}
