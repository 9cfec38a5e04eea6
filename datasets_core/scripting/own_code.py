"""The code of a script, run as far as its import and its description: what it raises, or hangs at, told by its place."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from datasets_core.building.author_failures import describe
from datasets_core.engines.deadline import Deadline, Place, TimeUp, stopped_at
from datasets_core.errors import (
    DatasetBuildError,
    DatasetsCoreError,
    DefunctDatasetError,
    DownloadError,
    FileNotFoundDatasetsError,
    MissingDependencyError,
    ScriptError,
    ScriptTimeoutError,
    UnknownConfigError,
    UnknownOptionError,
    UnknownVersionError,
    VerificationError,
)
from datasets_core.optional import distribution, missing_package
from datasets_core.scripting.modules import Script

T = TypeVar("T")

# What the library says to the user of a script, and not to its author.
_TO_THE_USER = (
    DatasetBuildError, DefunctDatasetError, DownloadError, FileNotFoundDatasetsError, MissingDependencyError, ScriptError,
    UnknownConfigError, UnknownOptionError, UnknownVersionError, VerificationError,
)  # fmt: skip


def ran(script: Script, work: Callable[[], T], *, doing: str, deadline: Deadline | None = None) -> T:
    """What `work` makes, which runs code of the script.

    Args:
        script: whose code.
        work: what runs it.
        doing: "importing it", "making its builder".
        deadline: when it is to be done.

    Raises:
        MissingDependencyError: a package is not installed.
        ScriptError: the code raised something else than what the library says to a user.
        ScriptTimeoutError: it was not done in time.
    """
    try:
        return stopped_at(deadline, work, doing=doing)
    except TimeUp as up:
        path, line = _place(up.places[::-1], script) or (script.path, None)
        seconds = 0.0 if deadline is None else deadline.seconds
        raise ScriptTimeoutError(script.path, doing, seconds=seconds, path=path, line=line) from None
    except (KeyboardInterrupt, *_TO_THE_USER):
        raise
    except BaseException as error:
        place = _place([(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)], script)
        is_plain = isinstance(error, (Exception, SystemExit, GeneratorExit, BaseExceptionGroup))
        if place is None and (isinstance(error, DatasetsCoreError) or not is_plain):
            raise  # said by the library, or by what runs us, and not of a line of the script
        _tell(script, error, place, doing)


def _tell(script: Script, error: BaseException, place: Place | None, doing: str) -> NoReturn:
    path, line = place or (script.path, None)
    package = missing_package(error) if isinstance(error, Exception) else None
    if package is not None:
        where = path if line is None else f"{path}, line {line},"
        raise MissingDependencyError(package, needed_for=f"The script {where}", install=distribution(package)) from error
    words, advice = describe(error), "Mend the script"
    if isinstance(error, DatasetsCoreError) and ". " in words:  # which says itself what to do
        words, _, advice = words.rpartition(". ")
    raise ScriptError(path, f"{doing} failed with {words}", line=line, advice=advice) from error


def _place(frames: Sequence[Place], script: Script) -> Place | None:
    """The innermost of the frames, which come from the outside in, that is in the script or beside it."""
    ours = {module.path for module in script.modules}
    return next((place for place in reversed(frames) if place[0] in ours), None)
