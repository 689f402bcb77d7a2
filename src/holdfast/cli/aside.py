"""What a recipe's code prints goes to people, line by line: stdout carries data, and a live screen stays whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from holdfast.cli.voice import Voice


class Aside(io.TextIOBase):
    """A text file whose whole lines are said."""

    def __init__(self, voice: Voice) -> None:
        self._voice, self._begun = voice, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *whole, self._begun = (self._begun + text).split("\n")
        for line in whole:
            self._voice.say(line)
        return len(text)

    def end(self) -> None:
        """Say the line that was not ended."""
        if self._begun:
            self.write("\n")


@contextmanager
def prints_said(voice: Voice) -> Iterator[None]:
    aside = Aside(voice)
    try:
        with redirect_stdout(aside):
            yield
    finally:
        aside.end()
