"""Row ids: `<file name of the shard>__<index in it>`, the name of a row in every slice and order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from datasets_core.errors import RowIdError

_SHARD_NUMBER = re.compile(r"-([0-9]{1,18})-of-[0-9]+(?:\.[^/]*)?$")
_MOST_NAMED = 5
_INDEX = re.compile(r"0|[1-9][0-9]{0,18}")


def row_id(name: str, index: int) -> str:
    """The id of row `index` of the shard file `name`.

    >>> row_id("reviews-train-00003-of-00012.arrow", 32)
    'reviews-train-00003-of-00012.arrow__32'
    """
    return f"{name}__{index}"


def parse_row_id(id: str | bytes) -> tuple[str, int]:
    """The shard file of a row id, and the row's index in it; as bytes, an id is UTF-8.

    Raises:
        RowIdError: it is no row id.

    >>> parse_row_id("reviews-train-00003-of-00012.arrow__32")
    ('reviews-train-00003-of-00012.arrow', 32)
    """
    text = id.decode("utf-8", "replace") if isinstance(id, bytes) else id
    name, mark, index = text.rpartition("__") if isinstance(text, str) else ("", "", "")
    if not (name and mark and _INDEX.fullmatch(index)):
        raise RowIdError(id, "it is not '<file name>__<index>'")
    return str(name), int(index)


def shard_number(name: str, total: int, file_name: Callable[[int], str]) -> int | None:
    """Which of `total` shards is called `name`, by the number in it; None for none.

    >>> shard_number("reviews-train-00003-of-00012.arrow", 12, "reviews-train-{:05d}-of-00012.arrow".format)
    3
    """
    found = _SHARD_NUMBER.search(name)
    shard = int(found[1]) if found else total
    return shard if shard < total and file_name(shard) == name else None


def alike_names(name: str, known: Iterable[str]) -> str:
    """The files of joined folders whose names end in `name`, as words of a message; none for none.

    >>> alike_names("a.arrow", ["x/a.arrow", "y/a.arrow", "y/b.arrow"])
    ", but 'x/a.arrow', 'y/a.arrow' are"
    """
    alike = [own for own in known if own.endswith(f"/{name}")][:_MOST_NAMED]
    return f", but {', '.join(map(repr, alike))} {'is' if len(alike) == 1 else 'are'}" if alike else ""
