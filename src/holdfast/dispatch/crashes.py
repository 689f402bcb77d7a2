"""Unexpected errors: the traceback goes into a file of the data folder, one sentence about it to the user."""

from __future__ import annotations

import os
import traceback
from typing import BinaryIO

from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.errors import HoldfastError


class Unexpected(HoldfastError):
    """Something unexpected happened; nothing that was saved is lost."""


def explained(settings: Settings | None, error: Exception) -> HoldfastError:
    """The error for users. Rows of a damaged file may raise anything, so the file is checked first."""
    if settings is not None:
        from holdfast import wiring

        damage = wiring.damage_of(settings)
        if damage is not None:
            return damage
    return keep_traceback(settings, error)


def keep_traceback(settings: Settings | None, error: Exception) -> Unexpected:
    """Its hint is where the traceback lies, or the traceback itself where that cannot be kept."""
    text = "".join(traceback.format_exception(error))
    what = f"Unexpected: {type(error).__name__}: {error}"
    if settings is not None and not settings.data.exists():
        # Gone, with its disk perhaps: made anew, it would look like the first use, and the next command would begin it.
        return Unexpected(f"{what}. The data folder {settings.data} is not there", hint=text)
    message = f"{what}. Nothing that was saved is lost; the same command goes on"
    if settings is not None:
        from holdfast import wiring

        path = settings.logs / f"unexpected-{SystemClock().wall_ms()}-{os.getpid()}.log"

        def write(file: BinaryIO) -> None:
            file.write(text.encode(errors="backslashreplace"))

        try:
            wiring.publish(path, write, ours=True)
        except HoldfastError:
            return Unexpected(message, hint=text)
        return Unexpected(message, hint=f"details: {path}")
    return Unexpected(message, hint=text)
