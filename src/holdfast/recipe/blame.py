"""An error of an author's code as one sentence: what was raised, and on which line of theirs."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

from holdfast.errors import HoldfastError

LENGTH_MAX = 400
_NOT_THEIRS = (str(Path(__file__).resolve().parents[1]), sysconfig.get_path("stdlib"), "<")


def sentence(error: BaseException) -> str:
    """`KeyError: 'start' (forum.py, line 12)`; our own errors say what they say without their class."""
    said = error.message if isinstance(error, HoldfastError) else f"{type(error).__name__}: {error}".removesuffix(": ")
    return f"{said[:LENGTH_MAX]}{_place(error)}"


def _place(error: BaseException) -> str:
    """The last line of code that is neither ours nor Python's own."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_NOT_THEIRS):
            return f" ({Path(frame.filename).name}, line {frame.lineno})"
    return ""
