"""An error of an author's code as one sentence: what was raised, and on which line of theirs."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from types import FrameType

from holdfast.errors import HoldfastError

LENGTH_MAX = 400
_NOT_THEIRS = (str(Path(__file__).resolve().parents[1]), sysconfig.get_path("stdlib"), "<")


def sentence(error: BaseException, giver: object = None) -> str:
    """`KeyError: 'start' (forum.py, line 12)`; our own errors say what they say without their class.

    `giver`: the plan or step whose last yield is complained of; its own code has not raised.
    """
    said = error.message if isinstance(error, HoldfastError) else f"{type(error).__name__}: {error}".removesuffix(": ")
    return f"{said[:LENGTH_MAX]}{_place(error) or _waits_at(giver)}"


def line_of(frame: FrameType) -> str:
    return f" ({Path(frame.f_code.co_filename).name}, line {frame.f_lineno})"


def _waits_at(giver: object) -> str:
    """The `yield` that a generator waits at; nothing of one that has ended, or is a list."""
    frame = getattr(giver, "ag_frame", None) or getattr(giver, "gi_frame", None)
    return "" if frame is None else line_of(frame)


def _place(error: BaseException) -> str:
    """The last line of code that is neither ours nor Python's own."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_NOT_THEIRS):
            return f" ({Path(frame.filename).name}, line {frame.lineno})"
    return ""
