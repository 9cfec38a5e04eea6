"""Datetimes, times and durations with nanoseconds, for values too precise for the `datetime` module.

Each is a subclass of the standard class with one more attribute, `nanosecond` (0 to 999).  A value of whole microseconds comes
out as the standard class, so most columns never meet these.  Hugging Face gives pandas objects here; these compare equal to
them, need no pandas, and do not depend on what is installed.  Arithmetic is that of the standard classes and gives their
values, cut to microseconds; `replace` and `astimezone` keep the nanoseconds.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Self

import numpy as np


class _Fine:
    """Order, hash and pickles of a class with nanoseconds; the standard class follows it among the bases.

    Attributes:
        nanosecond: from 0 to 999.
        standard: the class without nanoseconds.
        theirs: what the class of pandas calls its nanoseconds.
    """

    nanosecond: int = 0
    standard: ClassVar[type[Any]]
    theirs: ClassVar[str] = "nanosecond"

    @classmethod
    def _made(cls, nanosecond: int, *parts: Any, **named: Any) -> Self:
        made = cls(*parts, **named)
        made.nanosecond = nanosecond
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}.of({self.whole()!r}, {self.nanosecond})"  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, self.standard):
            return NotImplemented
        return super().__eq__(other) and self.nanosecond == getattr(other, self.theirs, 0)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((super().__hash__(), self.nanosecond))

    def __lt__(self, other: Any) -> bool:
        is_less: bool = super().__lt__(other)  # type: ignore[misc]
        return is_less or (super().__eq__(other) and self.nanosecond < getattr(other, self.theirs, 0))

    def __le__(self, other: Any) -> bool:
        return bool(self < other or self == other)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self).of, (self.whole(), self.nanosecond)  # type: ignore[attr-defined]


class NanosecondDatetime(_Fine, dt.datetime):
    """A `datetime` with nanoseconds.

    >>> NanosecondDatetime.of(dt.datetime(2020, 1, 2, 3, 4, 5, 6), 789).isoformat()
    '2020-01-02T03:04:05.000006789'
    """

    standard = dt.datetime

    @classmethod
    def of(cls, whole: dt.datetime, nanosecond: int) -> Self:
        """`whole` and `nanosecond` more."""
        date = whole.year, whole.month, whole.day
        time = whole.hour, whole.minute, whole.second, whole.microsecond, whole.tzinfo
        return cls._made(nanosecond, *date, *time, fold=whole.fold)

    def whole(self) -> dt.datetime:
        """The value cut to microseconds, as the standard class."""
        return dt.datetime.combine(self.date(), self.timetz())

    def to_datetime64(self) -> np.datetime64:
        """The moment for numpy, in UTC if it has a time zone; the name is that of pandas."""
        whole = self.whole()
        plain = whole if whole.tzinfo is None else whole.astimezone(dt.UTC).replace(tzinfo=None)
        moment: np.datetime64 = np.datetime64(plain, "us").astype("datetime64[ns]") + np.timedelta64(self.nanosecond, "ns")
        return moment

    def replace(self, *args: Any, **kwargs: Any) -> Self:
        """The value with some parts changed and the nanoseconds kept."""
        return type(self).of(self.whole().replace(*args, **kwargs), self.nanosecond)

    def astimezone(self, tz: dt.tzinfo | None = None) -> Self:
        """The same moment in another time zone."""
        return type(self).of(self.whole().astimezone(tz), self.nanosecond)

    def __add__(self, other: dt.timedelta) -> dt.datetime:  # type: ignore[override]
        return self.whole() + other

    __radd__ = __add__  # type: ignore[assignment]

    def __sub__(self, other: Any) -> Any:
        return self.whole() - (other.whole() if isinstance(other, NanosecondDatetime) else other)

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """Return the ISO text, with nine digits after the second unless `timespec` asks for less."""
        if timespec != "auto":
            return super().isoformat(sep, timespec)
        text = self.whole().isoformat(sep, "microseconds")
        return f"{text[:26]}{self.nanosecond:03d}{text[26:]}"

    def __str__(self) -> str:
        return self.isoformat(" ")


class NanosecondTime(_Fine, dt.time):
    """A `time` with nanoseconds."""

    standard = dt.time

    @classmethod
    def of(cls, whole: dt.time, nanosecond: int) -> Self:
        """`whole` and `nanosecond` more."""
        parts = whole.hour, whole.minute, whole.second, whole.microsecond, whole.tzinfo
        return cls._made(nanosecond, *parts, fold=whole.fold)

    def whole(self) -> dt.time:
        """The value cut to microseconds, as the standard class."""
        return dt.time(self.hour, self.minute, self.second, self.microsecond, self.tzinfo, fold=self.fold)

    def replace(self, *args: Any, **kwargs: Any) -> Self:
        """The value with some parts changed and the nanoseconds kept."""
        return type(self).of(self.whole().replace(*args, **kwargs), self.nanosecond)

    def isoformat(self, timespec: str = "auto") -> str:
        """Return the ISO text, with nine digits after the second unless `timespec` asks for less."""
        if timespec != "auto":
            return super().isoformat(timespec)
        text = self.whole().isoformat("microseconds")
        return f"{text[:15]}{self.nanosecond:03d}{text[15:]}"

    def __str__(self) -> str:
        return self.isoformat()


class NanosecondTimedelta(_Fine, dt.timedelta):
    """A `timedelta` with nanoseconds (`nanosecond`, 0 to 999, counts upwards from the rest, also below zero)."""

    standard, theirs = dt.timedelta, "nanoseconds"

    @classmethod
    def of(cls, whole: dt.timedelta, nanosecond: int) -> Self:
        """`whole` and `nanosecond` more."""
        return cls._made(nanosecond, whole.days, whole.seconds, whole.microseconds)

    @property
    def nanoseconds(self) -> int:
        """The name that pandas has for `nanosecond`."""
        return self.nanosecond

    def whole(self) -> dt.timedelta:
        """The value cut downwards to microseconds, as the standard class."""
        return dt.timedelta(self.days, self.seconds, self.microseconds)

    def to_timedelta64(self) -> np.timedelta64:
        """The duration for numpy; the name is that of pandas."""
        fine: np.timedelta64 = np.timedelta64(self.whole(), "us").astype("timedelta64[ns]")
        return fine + np.timedelta64(self.nanosecond, "ns")

    def __str__(self) -> str:
        minutes, seconds = divmod(self.seconds, 60)
        hours, minutes = divmod(minutes, 60)
        head = f"{self.days} day{'' if abs(self.days) == 1 else 's'}, " if self.days else ""
        return f"{head}{hours}:{minutes:02d}:{seconds:02d}.{self.microseconds:06d}{self.nanosecond:03d}"
