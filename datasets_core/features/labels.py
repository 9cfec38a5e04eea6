"""`ClassLabel`: a column of integers that stand for names."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, ConfigurationError, FileNotFoundDatasetsError
from datasets_core.features.base import Feature


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ClassLabel(Feature):
    """An integer in each row that stands for one of `names`; -1 means unknown.

    Args:
        num_classes: how many classes there are; without names they are called `"0"`, `"1"`, ….
        names: the name of each class, in the order of their integers.
        names_file: a text file with one name a line.
        id: a name that is kept and never read.

    >>> label = ClassLabel(names=["negative", "positive"])
    >>> label.str2int("positive"), label.int2str([0, 1]), label.num_classes
    (1, ['negative', 'positive'], 2)
    """

    names: list[str]
    id: str | None = None
    names_file: str | None = field(default=None, compare=False)
    _codes: dict[str, int] = field(default_factory=dict, compare=False)
    _type: ClassVar[str] = "ClassLabel"
    needs_encoding: ClassVar[bool] = True

    def __init__(
        self,
        num_classes: int | None = None,
        names: Iterable[str] | None = None,
        names_file: str | None = None,
        id: str | None = None,
    ) -> None:
        if names is not None and names_file is not None:
            raise ConfigurationError("A ClassLabel takes names or names_file, not both. Leave one out.")
        if names_file is not None:
            listed = _names_in(names_file)
        elif names is not None:
            if isinstance(names, (str, bytes, set, frozenset, Mapping)) or not isinstance(names, Iterable):
                raise ConfigurationError(f"names={names!r} has no order. Pass the names of the classes as a list.")
            listed = [str(name) for name in names]
        elif num_classes is not None:
            if not isinstance(num_classes, int) or num_classes < 0:
                raise ConfigurationError(f"A ClassLabel cannot have {num_classes!r} classes. Pass how many there are.")
            listed = [str(code) for code in range(num_classes)]
        else:
            raise ConfigurationError("A ClassLabel needs its classes. Pass names=, names_file= or num_classes=.")
        if num_classes is not None and len(listed) != num_classes:
            raise ConfigurationError(f"{len(listed)} names do not fit num_classes={num_classes}. Leave num_classes out.")
        codes = {name: code for code, name in enumerate(listed)}
        if len(codes) != len(listed):
            twice = next(name for name in listed if listed.count(name) > 1)
            raise ConfigurationError(f"The class name {twice!r} is given more than once. Make the names unique.")
        object.__setattr__(self, "names", listed)
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "names_file", None if names_file is None else str(names_file))
        object.__setattr__(self, "_codes", codes)

    def __repr__(self) -> str:
        return f"ClassLabel(names={self.names!r})"

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        return len(self.names)

    @property
    def codes(self) -> dict[str, int]:
        """The integer of each name."""
        return self._codes

    @property
    def _str2int(self) -> dict[str, int]:  # which published scripts read, as the one below
        return dict(self._codes)

    @property
    def _int2str(self) -> list[str]:
        return self.names

    @property
    def dtype(self) -> str:
        """The name of the stored type."""
        return "int64"

    @property
    def arrow_type(self) -> pa.DataType:
        """See `Feature.arrow_type`."""
        return pa.int64()

    def str2int(self, values: str | Iterable[Any]) -> int | list[int]:
        """The integer of a name, or of each name in a list.

        A name may have spaces around it, and may be written as its integer.

        >>> ClassLabel(names=["a", "b"]).str2int([" b ", "0", "-1"])
        [1, 0, -1]

        Raises:
            CastError: a name is none of the classes.
        """
        if isinstance(values, str):
            return self._code(values)
        if not isinstance(values, Iterable):
            raise CastError(f"{values!r} is no class name. Pass a string, or a list of them.")
        return [self._code(value) for value in values]

    def int2str(self, values: Any) -> str | list[str]:
        """The name of an integer, or of each integer in a list.

        Raises:
            CastError: an integer is none of the classes.
        """
        if isinstance(values, Iterable) and not isinstance(values, (str, bytes)) and np.ndim(values) > 0:  # type: ignore[arg-type]
            return [self._name(value) for value in values]
        return self._name(values)

    def encode_example(self, value: Any) -> Any:
        """The integer of a name or of an integer, checked.

        >>> ClassLabel(names=["a", "b"]).encode_example("b")
        1
        """
        if isinstance(value, str):
            return self._code(value)
        code = _integer(value)
        if code is None:
            raise CastError(f"{value!r} is neither a name nor the integer of a class. {self._advice()}")
        return self._checked(code)

    def _code(self, name: Any) -> int:
        if isinstance(name, str):
            found = self._codes.get(name)
            if found is None:
                found = self._codes.get(name.strip())
            if found is not None:
                return found
        try:
            code = int(name)
        except (TypeError, ValueError, OverflowError):
            code = len(self.names)
        if not -1 <= code < len(self.names) or (isinstance(name, float) and name != code):
            raise CastError(f"{name!r} is no class. {self._advice()}")
        return code

    def _name(self, code: Any) -> str:
        number = _integer(code)
        if number is None or not 0 <= number < len(self.names):
            raise CastError(f"{code!r} is the integer of no class. {self._advice()}")
        return self.names[number]

    def _checked(self, code: int) -> int:
        if not -1 <= code < len(self.names):
            raise CastError(f"{code} is the integer of no class. {self._advice()}")
        return code

    def _advice(self) -> str:
        shown = ", ".join(repr(name) for name in self.names[:10]) + (", …" if len(self.names) > 10 else "")
        return f"The {len(self.names)} classes are {shown or 'none'}; -1 or None means unknown."


def _names_in(path: str) -> list[str]:
    """The lines of a file that are not blank."""
    try:
        with open(path, encoding="utf-8") as file:
            return [line.strip() for line in file.read().splitlines() if line.strip()]
    except FileNotFoundError as error:
        raise FileNotFoundDatasetsError(f"There is no file {path!r} of class names. Pass a path, or names=.") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"The class names in {path!r} are not UTF-8 text: {error}. Write the file again.") from error


def _integer(value: Any) -> int | None:
    """`value` as an int, if it is one without loss."""
    if isinstance(value, (float, np.floating)):
        return int(value) if value == value and abs(value) != float("inf") and value == int(value) else None
    try:
        return operator.index(value)
    except TypeError:
        return int(value) if isinstance(value, np.bool_) else None
