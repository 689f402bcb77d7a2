"""How the demo speaks: a live bar and a little colour on a terminal, calm lines elsewhere. It knows no crawl."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from holdfast.demo.proofs import DemoProof

INDENT = "  "
BAR_WIDTH = 40
LINES_PER_BAR = 4  # off a terminal: a line per quarter

Advance = Callable[[int], None]


class DemoOutput:
    """Writes to stdout. `plain` keeps it calm on a terminal too."""

    def __init__(self, *, plain: bool, color: bool) -> None:
        self._console = Console(
            file=sys.stdout, no_color=None if color else True, highlight=False, markup=False, soft_wrap=True
        )
        self._is_live = self._console.is_terminal and not self._console.is_dumb_terminal and not plain
        has_marks = self._console.encoding.lower().startswith("utf")
        self._good, self._bad = ("✓", "✗") if has_marks else ("ok", "NOT")

    def title(self, text: str) -> None:
        self._console.print(Text(text, style="bold"))

    def say(self, text: str = "", style: str = "") -> None:
        self._console.print(Text(f"{INDENT}{text}" if text else "", style=style))

    def command(self, words: Sequence[str], *, note: str = "", break_before: str = "") -> None:
        """A command as one types it; a long one in two lines that can be copied."""
        self.say()
        text = shlex.join(words)
        if break_before:
            text = text.replace(f" {break_before}", f" \\\n{INDENT}    {break_before}", 1)
        self._console.print(Text(f"{INDENT}$ ", "dim").append(text, "cyan").append(f" {note}" if note else "", "dim"))

    def death(self, text: str) -> None:
        self._console.print(Text(f"{INDENT}{self._bad} {text}", style="bold red"))

    def proof(self, proof: DemoProof) -> None:
        mark = Text(INDENT).append(
            self._good if proof.holds else self._bad, "bold green" if proof.holds else "bold red"
        )
        says = proof.says.replace("\n", f"\n{INDENT}{INDENT}")
        self._console.print(mark.append(f" {says}", "" if proof.holds else "red"))

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        width = max(len(left) for left, _ in pairs)
        for left, right in pairs:
            self._console.print(Text(INDENT).append(f"{left:<{width}}", "cyan").append(f"   {right}", "dim"))

    @contextmanager
    def bar(self, total: int, done: int = 0) -> Iterator[Advance]:
        """Gives a function that is told, as often as one likes, how far it is."""
        if not self._is_live:
            yield self._quarters(total, done)
            return
        counts = TextColumn("{task.completed:.0f} of {task.total:.0f} pages asked for")
        with Progress(TextColumn(" "), BarColumn(BAR_WIDTH), counts, console=self._console) as progress:
            task = progress.add_task("", total=total, completed=done)
            yield lambda now: progress.update(task, completed=now)

    def _quarters(self, total: int, done: int) -> Advance:
        told = done * LINES_PER_BAR // total

        def advance(now: int) -> None:
            nonlocal told
            if now * LINES_PER_BAR // total > told:
                told = now * LINES_PER_BAR // total
                self.say(f"{now} of {total} pages asked for")

        return advance
