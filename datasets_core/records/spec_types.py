"""The types of values that specs name, by all the names that users have for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

NUMPY_TYPES: dict[str, npt.DTypeLike] = {"int64": np.int64, "float32": np.float32, "string": object}
"""The types of a spec, and the numpy type of the values that it gives; a string is `bytes`."""
KINDS = {"int64": "int64", "float32": "float", "string": "bytes"}
"""The types of a spec, and the kind of list on the wire that holds them."""
COLUMN_TYPES = {"int64": "int64", "float32": "float32", "string": "binary"}
_NAMES = {
    **dict.fromkeys(("int64", "int", "i8"), "int64"),
    **dict.fromkeys(("float32", "float", "f4"), "float32"),
    **dict.fromkeys(("string", "bytes", "str", "binary", "object", "large_binary", "large_string"), "string"),
}


def dtype_name(given: Any) -> Any:
    """The name of a type of a spec, from what users write for one; what is none of the three comes back as it is.

    >>> dtype_name(np.int64), dtype_name(float), dtype_name("string"), dtype_name("int32")
    ('int64', 'float32', 'string', 'int32')
    """
    if isinstance(given, str):
        return _NAMES.get(given, given)
    if isinstance(given, type) and issubclass(given, np.generic):
        given = np.dtype(given)
    if isinstance(given, np.dtype):
        name = "string" if given.kind in "SUO" else given.name
    elif isinstance(given, type):
        name = {int: "int64", float: "float32", bytes: "string", str: "string"}.get(given, given.__name__)
    else:
        name = getattr(given, "name", None) or str(given)
    return _NAMES.get(name, name)
