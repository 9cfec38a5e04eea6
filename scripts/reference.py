"""Writes the reference pages of the documentation: API, formats, command, settings, errors.

    python scripts/reference.py [folder]

`make docs` calls it.  Nothing of these pages is kept by hand: they come from `__all__`, docstrings, the parser of the command,
the fields of `Config` and the options of each format, so that a page cannot differ from the code.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import datasets_core
from datasets_core import config, errors
from datasets_core.cli.main import _parser as command_parser

sys.path.insert(0, str(Path(__file__).parent))
first_sentence = importlib.import_module("map").first_sentence  # of scripts/map.py

API: dict[str, tuple[str, str, str]] = {
    "loading": (
        "Load",
        "Functions that open a dataset, and what they take.",
        """load_dataset load_dataset_builder load_from_disk builder_from_directory builder_from_directories lock_dataset
        get_dataset_config_names get_dataset_config_info get_dataset_default_config_name get_dataset_infos
        get_dataset_split_names DownloadMode VerificationMode ReadConfig""",
    ),
    "dataset": (
        "Datasets",
        "A dataset on disk or in memory, and dictionaries of splits.",
        "Dataset DatasetDict Column concatenate_datasets interleave_datasets view Hasher",
    ),
    "streams": (
        "Streams",
        "A dataset that is read as it comes, and its states.",
        """IterableDataset IterableDatasetDict IterableColumn audit merge_states
        distributed.split_dataset_by_node""",
    ),
    "features": (
        "Features",
        "The types of columns.",
        """Features Value ClassLabel List LargeList Sequence Json Array2D Array3D Array4D Array5D Translation
        TranslationVariableLanguages Image Audio Video Pdf Nifti Mesh BioSequence BioStructure register_feature""",
    ),
    "splits": (
        "Splits",
        "Names of splits, slices of them, and where their rows are.",
        """Split NamedSplit ReadInstruction SplitDict SplitInfo SubSplitInfo even_splits split_for_process
        split_for_torch_process split_for_jax_process""",
    ),
    "builders": (
        "Builders",
        "Classes that a dataset script derives from, and what it is given.",
        """DatasetBuilder GeneratorBasedBuilder ArrowBasedBuilder BeamBasedBuilder BuilderConfig SplitGenerator
        DownloadManager StreamingDownloadManager DownloadConfig DatasetInfo SupervisedKeysData Version BlockedVersions
        Experiment register_format register_engine""",
    ),
    "utilities": (
        "Caching, logging, progress",
        "Switches for a whole process. [Settings](../settings.md) has the rest.",
        """enable_caching disable_caching is_caching_enabled enable_progress_bars disable_progress_bars
        are_progress_bars_disabled enable_progress_bar disable_progress_bar is_progress_bar_enabled""",
    ),
}
"""A page of the API → its title, its first sentence, and the public names on it, in their order."""

MODULES = {
    "records": ("datasets_core.records", "TFRecord files and `tf.train.Example` messages, without TensorFlow."),
    "slim": ("datasets_core.slim", "Decoders and data providers with the names and defaults of TF-Slim."),
    "tfds": ("datasets_core.tfds", "The names, arguments and defaults of TensorFlow Datasets."),
    "logging": ("datasets_core.logging", "The logger of the library."),
    "as_datasets": ("datasets_core.as_datasets", "The import name `datasets` for programs that want it."),
}
"""A page of the API → the module that it documents and its first sentence."""

_PAGES_OF_THEIR_OWN = {"config", "errors", "exceptions", "records", "slim", "tfds", "logging"}
_MODULES_OF_FUNCTIONS = {"distributed", "files", "inspect", "load", "progress", "__version__", "DatasetsError"}


def write(folder: Path) -> None:
    """Write all pages below `folder`, and leave pages alone that would not change."""
    pages = {
        "cli.md": _command(),
        "settings.md": _settings(),
        "errors.md": _errors(),
        "formats.md": _formats(),
        "troubleshooting.md": _troubleshooting(),
    }
    for name, (title, sentence, names) in API.items():
        pages[f"api/{name}.md"] = f"# {title}\n\n{sentence}\n\n" + "\n".join(map(_documented, names.split()))
    for name, (module, sentence) in MODULES.items():
        pages[f"api/{name}.md"] = f"# `{module}`\n\n{sentence}\n\n" + "\n".join(_of_module(module))
    listed = "\n".join(f"api/{name}" for name in (*API, *MODULES))
    pages["index.md"] = _INDEX.format(pages=listed)
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def undocumented() -> set[str]:
    """Public names of `datasets_core` that no page has."""
    there = {name for _, _, names in API.values() for name in names.split()}
    return set(datasets_core.__all__) - there - _PAGES_OF_THEIR_OWN - _MODULES_OF_FUNCTIONS


_VARIABLES = [
    ("`HF_HOME`, `XDG_CACHE_HOME`, `HF_DATASETS_CACHE`", "the folder of finished datasets"),
    (
        "`HF_DATASETS_DOWNLOADED_DATASETS_PATH`, `HF_DATASETS_EXTRACTED_DATASETS_PATH`",
        "the folders of downloads and of unpacked archives",
    ),
    ("`HF_HUB_CACHE`, `HF_ENDPOINT`, `HF_TOKEN`", "the folder of files of the Hub, its address, and the token"),
    ("`HF_DATASETS_OFFLINE`, `HF_HUB_OFFLINE`", "no network access"),
    ("`HF_DATASETS_TRUST_REMOTE_CODE`", "`0`: scripts that are found do not run; `1` has no effect"),
    ("`HF_DATASETS_IN_MEMORY_MAX_SIZE`", "datasets smaller than this are read into memory instead of mapped"),
    ("`HF_DATASETS_DISABLE_PROGRESS_BARS`, `DATASETS_VERBOSITY`", "progress bars, and the level of the log"),
]
"""Environment variables with what they set."""

_INDEX = """# Reference

Generated from the code: signatures and docstrings, options and settings.

```{{toctree}}
:maxdepth: 1

{pages}
formats
cli
settings
errors
```
"""


def _documented(name: str, module: str = "datasets_core") -> str:
    value: Any = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    kind = "autoclass" if inspect.isclass(value) else "autofunction" if callable(value) else "autodata"
    return f"```{{eval-rst}}\n.. {kind}:: {module}.{name}\n```\n"


def _of_module(module: str) -> Iterator[str]:
    loaded = importlib.import_module(module)
    for name in loaded.__all__:
        value = getattr(loaded, name)
        if inspect.ismodule(value):
            continue
        home = _home_of(value, module)
        if home is None:
            yield _documented(name, module)
        else:  # each object is described once
            yield f"```{{eval-rst}}\n`{module}.{name}`\n    The same as :py:obj:`{home}`.\n```\n"


def _home_of(value: Any, module: str) -> str | None:
    """The path under which another page describes the same class or function, if one does."""
    if not callable(value):
        return None
    for _, _, names in API.values():
        for name in names.split():
            if "." not in name and getattr(datasets_core, name) is value:
                return f"datasets_core.{name}"
    for other, _ in MODULES.values():
        if other == module:
            return None
        loaded = importlib.import_module(other)
        for name in loaded.__all__:
            if getattr(loaded, name) is value:
                return f"{other}.{name}"
    return None


def _command() -> str:
    """The page of the command, from its parser."""
    parts = ["# The command `datasets-core`\n", "`datasets-core COMMAND --help` prints the same text.\n"]

    def walk(parser: argparse.ArgumentParser) -> None:
        parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=88)
        parts.append(f"## `{parser.prog}`\n\n```text\n{parser.format_help().rstrip()}\n```\n")
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for below in dict.fromkeys(action.choices.values()):
                    walk(below)

    walk(command_parser())
    return "\n".join(parts)


def _attributes(docstring: str | None) -> dict[str, str]:
    """The entries of an `Attributes:` or `Args:` section by name; one entry may describe several names."""
    section = re.search(
        r"^ *(?:Attributes|Args):\n(.*?)(?:\n\s*\n|\Z)", inspect.cleandoc(docstring or ""), re.DOTALL | re.MULTILINE
    )
    found: dict[str, str] = {}
    if section:
        for entry in re.split(r"\n(?= {4}\S)", section.group(1)):
            names, _, meaning = entry.strip().partition(": ")
            found |= {name.strip(): " ".join(meaning.split()) for name in names.split(",")}
    return found


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _settings() -> str:
    """The page of the settings, from the fields of `Config`."""
    described = _attributes(config.Config.__doc__)
    rows = []
    for field in dataclasses.fields(config.Config):
        default = "" if field.default is dataclasses.MISSING else f"`{field.default!r}`"
        rows.append(f"| `{field.name}` | {default} | {_cell(described[field.name])} |")
    using = _documented("using", "datasets_core.config")
    variables = "\n".join(
        ["| environment variable | sets |", "|---|---|", *(f"| {name} | {what} |" for name, what in _VARIABLES)]
    )
    table = "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows])
    return (
        "# Settings\n\nDefaults come from the environment; `config.using(name=value)` changes settings within a block, in this "
        f"thread and the tasks that it starts.\n\n{table}\n\n{variables}\n\n{using}"
    )


_EVERY_ERROR = (object, BaseException, Exception)


def _error_classes() -> list[tuple[str, type]]:
    return [(name, value) for name in errors.__all__ if inspect.isclass(value := getattr(errors, name))]


def _paragraphs(value: type) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in (inspect.getdoc(value) or "").split("\n\n")]


def remedy(value: type) -> str:
    """What to do about an error: the paragraph of its docstring that begins with `To fix:`."""
    found = (text.removeprefix("To fix: ") for text in _paragraphs(value) if text.startswith("To fix: "))
    return next((text[0].upper() + text[1:] for text in found), "")


_TROUBLE = """# Troubleshooting

Find the class with which the traceback ends. These tables are generated from the docstrings of the errors.

## Read an error

The last line of a traceback has the class and the message: what happened, with the file, row or value, and then what to do.
The facts are attributes of the error:

```text
datasets_core.errors.UnknownSplitError: Unknown split 'tran' in 'flowers'. Available splits: 'test', 'train'.
```

```python
from datasets_core import Dataset
from datasets_core.errors import DatasetsCoreError

try:
    Dataset.from_dict({"text": ["one"]})["txt"]
except DatasetsCoreError as error:
    print(type(error).__name__, error.value, error.known)
```

```text
UnknownColumnError txt ('text',)
```

* An error of your function shows its frames and one of the library; `DATASETS_CORE_FULL_TRACEBACKS=1` shows all.
* `DATASETS_VERBOSITY=info` logs what the library does: files that it chose, downloads, and cached results that it used.
* `datasets-core doctor` prints versions, installed extras, and whether this machine can confine scripts. Add it to a report.
"""


def _troubleshooting() -> str:
    """The page of what to do about each error, in the groups of the modules of `errors`."""
    parts, listed = [_TROUBLE], set[type]()
    tables = {}
    for name in ("base", "loading", "data", "fetching"):  # each imports classes of those before
        module = importlib.import_module(f"datasets_core.errors.{name}")
        own = [value for _, value in _error_classes() if value in vars(module).values() and value not in listed]
        listed.update(own)
        title = first_sentence(module.__doc__ or "").removeprefix("Errors of ") if name != "base" else "any part"
        rows = [
            f"| {{py:exc}}`~datasets_core.errors.{value.__name__}` | {_cell(_paragraphs(value)[0])} | {_cell(remedy(value))} |"
            for value in sorted(dict.fromkeys(own), key=lambda each: each.__name__)
        ]
        tables[name] = "\n".join(
            [f"## {title[0].upper()}{title[1:]}\n", "| class | what happened | what to do |", "|---|---|---|", *rows, ""]
        )
    return "\n".join([*parts, tables.pop("loading"), tables.pop("data"), tables.pop("fetching"), *tables.values()])


def _errors() -> str:
    """The page of errors, from their docstrings."""
    parts = [
        "# Errors and warnings\n",
        "All derive from `DatasetsCoreError` (warnings: from `UserWarning`), and from the builtin exception that a caller "
        "would expect. The facts of a message are attributes: `error.file`, `error.line`, `error.row`, `error.split`, …\n\n"
        "[Troubleshooting](troubleshooting.md) says what to do about each.\n",
    ]
    classes = _error_classes()
    rows = []
    for name, value in sorted(classes, key=lambda each: each[0]):
        caught = [base.__name__ for base in value.__mro__ if base.__module__ == "builtins" and base not in _EVERY_ERROR]
        rows.append(f"| `{name}` | {_cell(_paragraphs(value)[0])} | {', '.join(f'`{base}`' for base in caught)} |")
    parts.append(
        "## Overview\n\n| class | what happened | also caught by |\n|---|---|---|\n" + "\n".join(rows) + "\n\n## Classes\n"
    )
    for name, _ in classes:
        options = ":show-inheritance:\n   :no-inherited-members:"
        parts.append(f"```{{eval-rst}}\n.. autoexception:: datasets_core.errors.{name}\n   {options}\n```\n")
    return "\n".join(parts)


def _formats() -> str:
    """The page of formats, from the registered builders and their configs."""
    parts = [
        "# Formats and their options\n",
        "`load_dataset(FORMAT, data_files=…, OPTION=…)`. For a folder, the format follows from the extensions of its files.\n",
    ]
    entries = sorted(entry_points(group="datasets_core.builders"), key=lambda entry: entry.name)
    modules = [entry.module for entry in entries]
    for entry in entries:
        builder = entry.load()
        options = builder.BUILDER_CONFIG_CLASS
        described = _attributes(options.__doc__)
        common = {field.name for field in dataclasses.fields(datasets_core.BuilderConfig)}
        rows = [
            f"| `{field.name}` | `{_cell(str(field.type))}` | {_default(field)} | {_cell(described.get(field.name, ''))} |"
            for field in dataclasses.fields(options)
            if field.name not in common and not field.name.startswith("_")
        ]
        described_by = sys.modules[builder.__module__] if modules.count(entry.module) == 1 else builder
        sentence = inspect.cleandoc(described_by.__doc__ or "").partition("\n\n")[0]
        parts.append(f"## `{entry.name}`\n\n{sentence}\n")
        if rows:
            parts.append("\n".join(["| option | type | default | meaning |", "|---|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{field.default!r}`"
    return "" if field.default_factory is dataclasses.MISSING else f"`{field.default_factory()!r}`"


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "docs" / "reference"))
