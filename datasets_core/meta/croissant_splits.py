"""How the split of a row is told in Croissant: by the path of its file, or by a constant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from datasets_core.meta.croissant_terms import Ids, plain_text
from datasets_core.meta.dataset_files import DatasetFile

_DIGITS = re.compile(r"\d+")


def split_nodes(
    ids: Ids,
    record_set: str,
    splits: Sequence[str],
    files: Sequence[DatasetFile],
    source: Mapping[str, Any],
    columns: Collection[str] = (),
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The record set that lists the splits, and the field that says of each row which of them it belongs to.

    The field is a constant where there is one split, and a part of the path of the row's file where all paths tell it alike.
    Else it is that path, by which the record set knows the split.

    Args:
        ids: the identifiers of the description.
        record_set: that of the rows.
        splits: their names, at least one.
        files: those of the rows, each of one split; none where they are still to be written.
        source: the node that stands for the files.
        columns: the names of the columns, none of which the field is called.
    """
    called = next(word for number in range(len(columns) + 1) if (word := "split" + "_name" * number) not in columns)
    node = ids.of_path(f"{record_set}_splits")
    name = ids.new(node, "split_name")
    listed: dict[str, Any] = {
        "@type": "cr:RecordSet",
        "@id": node,
        "name": node,
        "description": f"The splits of {record_set}.",
        "dataType": "cr:Split",
        "key": {"@id": name},
        "field": [{"@type": "cr:Field", "@id": name, "name": "split_name", "dataType": "sc:Text"}],
        "data": [{name: split} for split in splits],
    }
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": ids.new(record_set, called),
        "name": called,
        "description": "The split that the row belongs to.",
        "dataType": "sc:Text",
    }
    if files and len(splits) == 1:
        return listed, field | {"dataType": ["sc:Text", "cr:Split"], "value": splits[0]}
    field["source"] = {**source, "extract": {"fileProperty": "fullpath"}}
    pattern = split_pattern(files) if files else f"^data/({'|'.join(map(re.escape, splits))})-.+\\.parquet$"
    if pattern is not None:
        field["source"]["transform"] = {"regex": pattern}
        return listed, field | {"references": {"field": {"@id": name}}}
    file = ids.new(node, "file")
    listed["key"] = {"@id": file}
    listed["field"].append({"@type": "cr:Field", "@id": file, "name": "file", "dataType": "sc:Text"})
    listed["data"] = [{name: each.splits[0], file: plain_text(each.name)} for each in files]
    return listed, field | {"references": {"field": {"@id": file}}}


def split_pattern(files: Sequence[DatasetFile]) -> str | None:
    """A regular expression whose group is the split of each file, told from its name; None where no single one does.

    >>> split_pattern([DatasetFile(f"data/{name}-00000-of-00001.parquet", splits=(name,)) for name in ("train", "test")])
    '^data/(train|test)\\\\-\\\\d+\\\\-of\\\\-\\\\d+\\\\.parquet$'
    """
    if any(len(file.splits) != 1 for file in files):
        return None
    shared: set[tuple[str, str]] = set()
    for number, file in enumerate(files):
        frames = set(_frames(file.name, file.splits[0]))
        shared = frames if number == 0 else shared & frames
        if not shared:
            return None
    names = "|".join(map(re.escape, dict.fromkeys(file.splits[0] for file in files)))
    for before, after in sorted(shared, key=lambda frame: (len(frame[0]), frame)):
        pattern = f"^{before}({names}){after}$"
        found = re.compile(pattern)
        if all((match := found.match(file.name)) is not None and match[1] == file.splits[0] for file in files):
            return pattern
    return None


def _frames(path: str, split: str) -> Iterator[tuple[str, str]]:
    """What stands before and after each mention of `split`, as patterns: numbers in it may differ, and further mentions."""
    at = path.find(split)
    while at >= 0:
        yield _loosely(path[:at], split), _loosely(path[at + len(split) :], split)
        at = path.find(split, at + 1)


def _loosely(text: str, split: str) -> str:
    return ".+".join(r"\d+".join(map(re.escape, _DIGITS.split(part))) for part in text.split(split))
