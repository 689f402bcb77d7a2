"""An error of an author's code as one sentence: what was raised, and on which line of theirs."""

from __future__ import annotations

import asyncio
import sysconfig
import traceback
from os.path import basename
from pathlib import Path
from types import FrameType

from holdfast.errors import HoldfastError

LENGTH_MAX = 400
NOT_BY_US = "what the step waited for was cancelled, and not by Holdfast"
# What an author's code may raise, be it what ends a program. Where it runs on the main thread, a KeyboardInterrupt is a
# person's; anywhere else it is the author's, too.
RAISED = (Exception, SystemExit, GeneratorExit, asyncio.CancelledError)
RAISED_IN_A_THREAD = (*RAISED, KeyboardInterrupt)
_NOT_THEIRS = (str(Path(__file__).resolve().parents[1]), sysconfig.get_path("stdlib"), "<")


def sentence(error: BaseException, giver: object = None) -> str:
    """`KeyError: 'start' (forum.py, line 12)`; our own errors say what they say without their class.

    `giver`: the plan or step whose last yield is complained of; its own code has not raised.
    """
    return f"{_said(error)[:LENGTH_MAX]}{_place(error) or _waits_at(giver)}"


def _said(error: BaseException) -> str:
    if isinstance(error, HoldfastError):
        return error.message
    what = NOT_BY_US if isinstance(error, asyncio.CancelledError) and not str(error) else str(error)
    return f"{type(error).__name__}: {what}".removesuffix(": ")


def is_theirs(error: BaseException) -> bool:
    """Whether a step's own code raised it. Not where the task that works the target is being cancelled: that is us."""
    task = asyncio.current_task() if isinstance(error, asyncio.CancelledError) else None
    return task is None or not task.cancelling()


def line_of(frame: FrameType) -> str:
    return f" ({basename(frame.f_code.co_filename)}, line {frame.f_lineno})"


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
