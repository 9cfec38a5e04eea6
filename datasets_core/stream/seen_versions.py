"""`seen_versions`: which versions of files elsewhere a state was made of, told shortly, and compared when it is loaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from datasets_core.errors import FileChangedError, StreamStateError
from datasets_core.stream.block_index import BlockIndex

Seen: TypeAlias = "list[list[Any]]"
"""Of each list of files how many of the first ones count, a digest of their sizes, and one of their tags (or "")."""

_ADVICE = "Give what state_dict() returned, unaltered."


def told_by(indexes: Iterable[BlockIndex]) -> Seen:
    """What the indexes relied on so far: nothing of files on this disk.  No file is asked."""
    return [_relied(index) for index in indexes]


def _relied(index: BlockIndex) -> list[Any]:
    count = index.num_relied
    if index.told is None or index.told[0] != count:
        is_here = all(file.is_local and file.saved_as is None for file in index.files[:count])
        index.told = count, _told([] if is_here else index.versions(count))
    return list(index.told[1])


def check_told(indexes: Iterable[BlockIndex], seen: Sequence[Sequence[Any]]) -> None:
    """Compare what a state says of its files with these: footers are asked for that are not known.

    Args:
        indexes: of the files.
        seen: what `told_by` gave for them when the state was saved.

    Raises:
        FileChangedError: a file has another version.
        StreamStateError: it was not given by `told_by` for so many lists of files.
    """
    own = list(indexes)
    is_list = isinstance(seen, (list, tuple)) and len(seen) == len(own) and all(map(_is_entry, seen))
    if not is_list or any(entry[0] > len(index.files) for index, entry in zip(own, seen, strict=True)):
        raise StreamStateError(f"The state does not say of which versions its files were. {_ADVICE}")
    for index, entry in zip(own, seen, strict=True):
        count = entry[0]
        if not count:
            continue
        differs = _differ(_told(index.versions(count)), entry)
        if differs and index.forget_saved():  # the state may be younger than what was saved here
            differs = _differ(_told(index.versions(count)), entry)
        if differs:
            last = "" if count == 1 else f", or a file of the dataset up to {index.files[count - 1].name},"
            raise FileChangedError(index.files[0].name, f"it{last} is another one than when the state was saved")
        index.rely(count)


def joined(each: Sequence[Any]) -> Seen | None:
    """What several states of one stream say, as one: of each list of files what most of them tells; None: nothing.

    >>> joined([[[1, "a", ""]], [[2, "b", ""]], [[0, "", ""]]])
    [[2, 'b', '']]

    Raises:
        StreamStateError: they are of different versions.
    """
    known = [seen for seen in each if seen is not None]
    if not known:
        return None
    if len({len(seen) for seen in known}) > 1 or not all(_is_entry(entry) for seen in known for entry in seen):
        raise StreamStateError(f"The states do not say of which versions their files were. {_ADVICE}")
    found = []
    for entries in zip(*known, strict=True):
        longest = max(entries, key=lambda entry: (entry[0], bool(entry[2])))
        if any(entry[0] == longest[0] and _differ(entry, longest) for entry in entries):
            raise StreamStateError(
                "The states are of different versions of their files: one changed meanwhile. "
                "Give the states of one moment, one of each rank and worker."
            )
        found.append(list(longest))
    return found


def _told(versions: Sequence[tuple[int, str]]) -> list[Any]:
    sizes, tags = [size for size, _ in versions], [tag for _, tag in versions]
    return [len(versions), _digest(sizes), _digest(tags) if all(tags) else ""]


def _digest(values: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:12] if values else ""


def _differ(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return one[0] != other[0] or one[1] != other[1] or bool(one[2] and other[2] and one[2] != other[2])


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, (list, tuple)) or len(entry) != 3:
        return False
    count, *texts = entry
    return (
        isinstance(count, int) and not isinstance(count, bool) and count >= 0 and all(isinstance(text, str) for text in texts)
    )
