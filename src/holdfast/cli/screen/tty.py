"""The renderer for terminals: two or three live lines below what was said, redrawn four times a second at most."""

from __future__ import annotations

import os
from contextlib import suppress
from textwrap import wrap
from types import TracebackType
from typing import Self

from rich.console import Console as RichConsole
from rich.live import Live
from rich.text import Text

from holdfast.cli.screen.console import Console
from holdfast.cli.screen.progress import ProgressUpdate, activity
from holdfast.cli.screen.text import clean, folded
from holdfast.cli.screen.values import span
from holdfast.clock import Clock, SystemClock
from holdfast.policy.limits import pages_of, time_left_ms
from holdfast.views.job import percent

REFRESHES_PER_S = 4
BAR_CELLS = 27
SHOW_CURSOR = b"\x1b[?25h\n"


class Terminal:
    """A rich Live view. It redraws from its own thread, so that showing an update costs one assignment."""

    def __init__(self, console: Console, head: str, tail: str, *, clock: Clock | None = None) -> None:
        self._console, self._head, self._tail = console, clean(head), tail
        self._clock: Clock = clock or SystemClock()
        self._update: ProgressUpdate | None = None
        self._banner = ""
        options = console.options
        self._rich = RichConsole(file=console.err, no_color=options.no_color or None, highlight=False, soft_wrap=True)
        self._live = Live(
            get_renderable=self._draw,
            console=self._rich,
            refresh_per_second=REFRESHES_PER_S,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        self._console.above = self._print
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._console.above = None
        with suppress(OSError):  # the terminal may have been closed
            self._live.stop()

    def show(self, update: ProgressUpdate) -> None:
        self._update = update

    def urgent(self, text: str) -> None:
        self._banner = text

    def abandon(self) -> None:
        """The process ends now: give the terminal its cursor back."""
        with suppress(OSError):
            os.write(self._console.err.fileno(), SHOW_CURSOR)

    def _print(self, text: str) -> None:
        self._rich.print(text, markup=False)

    def _draw(self) -> Text:
        width = max(20, self._rich.width)
        lines = [head_line(self._head, self._tail, width)]
        if self._update is not None:
            lines.append(live_line(self._update, self._clock.monotonic_ms()))
            lines += [clean(self._update.waiting)] if self._update.waiting else []
        if self._banner:
            lines.append(self._banner)
        # Folded here, not by the terminal: a line that wraps there would make the view taller than what is erased.
        fitting = [part for line in folded("\n".join(lines), width - 1).split("\n") for part in wrap(line, width - 1)]
        return Text("\n").join(Text(part) for part in fitting)


def head_line(head: str, tail: str, width: int) -> str:
    """The job on the left and, where there is room, what Ctrl-C does on the right."""
    return f"{head}      {tail}" if len(head) + len(tail) + 6 < width else head


def room_left(update: ProgressUpdate) -> list[str]:
    """What the job's limits leave: `12 of 100 pages, ETA 5 min`, `20 min of time left`. Nothing without limits."""
    job, counts, found = update.job, update.counts, []
    if job.options.max_pages is not None:
        left = max(0, job.options.max_pages - pages_of(counts))
        eta = f", ETA {span(left / update.rate)}" if update.rate and counts.left >= left > 0 else ""
        found.append(f"{pages_of(counts)} of {job.options.max_pages} pages{eta}")
    left_ms = time_left_ms(job.options, job.active_ms)
    if left_ms is not None:
        found.append(f"{span(left_ms / 1000)} of time left")
    return found


def live_line(update: ProgressUpdate, now_ms: int) -> str:
    """`crawling   1412 done   690 known left   6.1/s   failed 9   …`"""
    counts = update.counts
    share = percent(update.job, counts)
    if share is not None:
        return total_line(update, share)
    parts = [
        activity(update.job),
        f"{counts.succeeded} done",
        f"{counts.left} known left",
        "-/s" if update.rate is None else f"{update.rate:.1f}/s",
        f"failed {counts.failed}",
        f"skipped {counts.skipped}",
        f"in flight {update.in_flight}",
    ]
    parts += room_left(update)
    if update.checkpoint is not None and update.checkpoint_ms is not None:
        parts.append(f"checkpoint {update.checkpoint}, {span((now_ms - update.checkpoint_ms) / 1000)} ago")
    return "   ".join(parts)


def total_line(update: ProgressUpdate, share: float) -> str:
    """`IMM   ██████░░░░ 612/1182   51.8 %   1.9/s   ETA 5 min`, where the whole is known."""
    job, counts = update.job, update.counts
    filled = round(BAR_CELLS * share / 100)
    total = job.planned_total or 0
    parts = [
        clean(job.name),
        f"{'█' * filled}{'░' * (BAR_CELLS - filled)} {counts.settled}/{total}",
        f"{share} %",
        "-/s" if update.rate is None else f"{update.rate:.1f}/s",
    ]
    if update.rate:
        parts.append(f"ETA {span((total - counts.settled) / update.rate)}")
    if counts.failed:
        parts.append(f"failed {counts.failed}")
    return "   ".join(parts)
