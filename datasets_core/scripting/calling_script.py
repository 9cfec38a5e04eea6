"""Which script calls: found on the stack, for errors that name its line, and for paths that mean its folder."""

from __future__ import annotations

import os
import sys
from types import FrameType

from datasets_core.scripting.modules import ROOT


def script_frame() -> FrameType | None:
    """The innermost frame that runs code of a script; None where none does.

    >>> script_frame()
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not str(frame.f_globals.get("__name__", "")).startswith(f"{ROOT}."):
        frame = frame.f_back
    return frame


def script_place() -> str:
    """`The script FILE, line N,`, or a word for the code that calls where no script does.

    >>> script_place()
    'This code'
    """
    frame = script_frame()
    return "This code" if frame is None else f"The script {frame.f_code.co_filename}, line {frame.f_lineno},"


def script_folder() -> str | None:
    """The folder of the script that calls; None where none does.

    >>> script_folder()
    """
    frame = script_frame()
    return None if frame is None else os.path.dirname(os.path.abspath(frame.f_code.co_filename))
