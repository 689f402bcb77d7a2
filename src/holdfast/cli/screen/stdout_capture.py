"""What a recipe's code prints goes to people, line by line: stdout carries data, and a live screen stays whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from holdfast.cli.screen.console import Console


class CapturedStdout(io.TextIOBase):
    """A text file whose whole lines are printed as messages."""

    def __init__(self, console: Console) -> None:
        self._console, self._begun = console, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *whole, self._begun = (self._begun + text).split("\n")
        for line in whole:
            self._console.say(line)
        return len(text)

    def end(self) -> None:
        """Print the line that was not ended."""
        if self._begun:
            self.write("\n")


@contextmanager
def stdout_captured(console: Console) -> Iterator[None]:
    captured = CapturedStdout(console)
    try:
        with redirect_stdout(captured):
            yield
    finally:
        captured.end()
