import datasets

from .common import TrainValidTestChild
from .generated_definitions import DEFINITIONS

_DESCRIPTION = "Small pieces of code, and what is asked of them."


class PairsImpl(TrainValidTestChild):
    _DESCRIPTION = _DESCRIPTION
    _FEATURES = {
        "id": datasets.Value("int32"),
        "code": datasets.Value("string"),
        "same": datasets.Value("bool"),
    }
    _SUPERVISED_KEYS = ["same"]

    def generate_urls(self, split_name):
        yield "index", f"{split_name}.txt"
        yield "data", "snippets.jsonl"

    def _generate_examples(self, split_name, file_paths):
        import json

        snippets = {}
        with open(file_paths["data"], encoding="utf-8") as f:
            for line in f:
                entry = json.loads(line)
                snippets[int(entry["idx"])] = entry["func"]
        with open(file_paths["index"], encoding="utf-8") as f:
            for idx, line in enumerate(f):
                first, second, same = [int(part) for part in line.split("\t")]
                yield idx, dict(id=idx, code=snippets[first] + "\n" + snippets[second], same=same == 1)


CLASS_MAPPING = {"Pairs": PairsImpl}


class DelegateChildren(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = datasets.BuilderConfig
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name=name, description=info["description"]) for name, info in DEFINITIONS.items()
    ]

    def _info(self):
        name = self.config.name
        info = DEFINITIONS[name]
        if info["class_name"] in CLASS_MAPPING:
            self.child = CLASS_MAPPING[info["class_name"]](info)
        else:
            raise RuntimeError(f"Unknown python class for dataset configuration {name}")
        return self.child._info()

    def _split_generators(self, dl_manager: datasets.DownloadManager):
        return self.child._split_generators(dl_manager=dl_manager)

    def _generate_examples(self, split_name, file_paths):
        return self.child._generate_examples(split_name, file_paths)
