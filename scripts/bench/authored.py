"""Dataset scripts: many of them loaded, and rows that their code makes, confined and not."""

import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from context import Context, Timed, Workload

ROOT = str(Path(__file__).parents[2])
SCRIPT = """
import datasets


class Config(datasets.BuilderConfig):
    def __init__(self, number, **kwargs):
        super().__init__(name=f"config-{{number}}", version=datasets.Version("1.0.0", ""), **kwargs)


class Data{number}(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = Config
    BUILDER_CONFIGS = [Config(number) for number in range({configs})]
    DEFAULT_CONFIG_NAME = "config-7"

    def _info(self):
        kinds = {{"id": "int64", "x": "float64", "flag": "bool", "cat": "string", "text": "string"}}
        features = datasets.Features({{name: datasets.Value(kind) for name, kind in kinds.items()}})
        return datasets.DatasetInfo(description="x" * 1000, features=features)

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={{"rows": {rows}}})]

    def _generate_examples(self, rows):
        for i in range(rows):
            yield i, {{"id": i, "x": i * 0.5, "flag": i % 3 == 0, "cat": f"c{{i % 17}}", "text": f"this is row number {{i}}"}}
"""
CONFIGS = 150
BODY = "Lorem ipsum dolor sit amet, consectetur: adipiscing --- elit, dataset_info sed do eiusmod.\n"


# -- many scripts ---------------------------------------------------------------------------------------------------------


def _scripts(context: Context) -> list[str]:
    count = max(10, int(100 * context.scale))
    return [str(context.warm / f"data-{number}" / f"data-{number}.py") for number in range(count)]


def _write_scripts(context: Context) -> None:
    """Scripts with a README of a megabyte and more, and a `dataset_infos.json` of one."""
    fields = "".join(f"  - name: field{field}\n    dtype: string\n" for field in range(8))
    splits = "  splits:\n  - name: train\n    num_bytes: 900\n    num_examples: 10\n  download_size: 5\n  dataset_size: 900\n"
    names = [f"config-{number}" for number in range(CONFIGS)]
    infos = "".join(f"- config_name: {name}\n  features:\n{fields}{splits}" for name in names)
    configs = "".join(f"- config_name: {name}\n  data_files:\n  - split: train\n    path: {name}/train-*\n" for name in names)
    card = f"---\nlicense: mit\ndataset_info:\n{infos}configs:\n{configs}---\n# Data\n" + BODY * 12_000
    known = {name: {"description": "d" * 6000, "citation": "", "download_checksums": {}, "config_name": name} for name in names}
    recorded = json.dumps(known)
    for number, path in enumerate(_scripts(context)):
        folder = Path(path).parent
        folder.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(SCRIPT.format(number=number, configs=CONFIGS, rows=10))
        (folder / "README.md").write_text(card)
        (folder / "dataset_infos.json").write_text(recorded)


def _load_scripts(context: Context) -> Timed:
    trust = {"trust_remote_code": True} if context.module == "datasets" else {}
    load, paths = context.library.load_dataset_builder, _scripts(context)
    load(paths.pop(), cache_dir=str(context.scratch), **trust)  # the first loads packages

    def run() -> int:
        for path in paths:
            load(path, cache_dir=str(context.scratch), **trust)
        return len(paths)

    return run


def _compile_scripts(context: Context) -> Timed:
    """The least that importing them takes: their texts are read and compiled."""
    paths = _scripts(context)[:-1]

    def run() -> int:
        for path in paths:
            compile(Path(path).read_bytes(), path, "exec")
        return len(paths)

    return run


# -- confined rows --------------------------------------------------------------------------------------------------------


def _build(rows: int, *, trust: Any) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        module = context.module or "datasets_core"  # "by hand" is the same build, not confined
        if not context.module and ROOT not in sys.path:
            sys.path.insert(0, ROOT)
        library = import_module(module)
        if module == "datasets_core":  # what the build opens late
            for name in ("resolve.script", "scripting.sandbox.process", "scripting.sandbox.builder", "building.write.build"):
                import_module(f"datasets_core.{name}")
        count = rows if rows < 1000 else context.rows(rows)
        path = context.scratch / "data.py"
        path.write_text(SCRIPT.format(number=0, configs=8, rows=count))
        asked = trust if context.module == "datasets_core" else True
        options: dict[str, Any] = {"split": "train", "trust_remote_code": asked, "cache_dir": str(context.scratch / "cache")}
        load = library.load_dataset
        os.chdir(context.scratch)
        return lambda: len(load(str(path), **options))

    return cell


def _confined(title: str, rows: int) -> Workload:
    return Workload(title, _build(rows, trust="sandbox"), _build(rows, trust=True), is_peer=False, by_wall=True)


ROWS = {
    "load_100_scripts": Workload(
        "load 100 scripts with large cards (by hand: compile them)", _load_scripts, _compile_scripts, prepare=_write_scripts
    ),
    "confined": _confined("300k rows of a script, confined (by hand: not confined; wall time)", 300_000),
    "confined_start": _confined("10 rows of a script, confined (by hand: not confined; wall time)", 10),
}
