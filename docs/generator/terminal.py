"""As much of a terminal as the demo uses: lines, the cursor up and down, lines erased. Colours stay in the text."""

from __future__ import annotations

import re
from collections import defaultdict

_PARTS = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+")
_COLOURS = "m"


class Screen:
    """Remembers every state that each line had, and since when. Whatever it does not know is an error, not a guess."""

    def __init__(self) -> None:
        self._row = 0
        self._lines: defaultdict[int, str] = defaultdict(str)
        self._states: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)
        self._left_over = ""

    def feed(self, at: float, said: str) -> None:
        """What came at this moment; a sequence that is cut in two waits for its end."""
        text = self._left_over + said
        cut = text.rfind("\x1b")
        if cut >= 0 and not re.match(r"\x1b\[[0-9;?]*[A-Za-z]", text[cut:]):
            text, self._left_over = text[:cut], text[cut:]
        else:
            self._left_over = ""
        for part in _PARTS.finditer(text):
            self._take(part)
        for row, line in self._lines.items():
            states = self._states[row]
            if (states[-1][1] if states else "") != line:
                states.append((at, line))

    def lines(self) -> list[list[tuple[float, str]]]:
        """Per line its states; trailing empty lines are left out."""
        rows = [self._states[row] for row in range(max(self._lines) + 1)]
        while rows and not (rows[-1] and rows[-1][-1][1].strip()):
            rows.pop()
        return rows

    def _take(self, part: re.Match[str]) -> None:
        text, how = part[0], part[2]
        if text == "\n":
            self._row += 1
        elif text == "\r":
            return  # a line is always erased before it is written again, so the column itself does not matter
        elif how is None or how == _COLOURS:
            self._lines[self._row] += text
        elif how == "A":
            self._row = max(0, self._row - int(part[1] or 1))
        elif how == "K":
            self._lines[self._row] = ""
        elif how not in "hl":  # showing and hiding the cursor
            raise ValueError(f"the terminal was told {text!r}, which nobody taught it")
