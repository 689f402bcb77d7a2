"""Renderers over one stream of progress updates (ux 3.4): plain lines, JSON lines, or nothing. Terminals: tty.py."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from holdfast.cli.screen.console import Console
from holdfast.cli.screen.progress import ProgressUpdate, Screen, activity
from holdfast.cli.screen.text import clean, to_json
from holdfast.cli.screen.values import time_of_day
from holdfast.clock import iso
from holdfast.views.job import because, percent

PLAIN_EVERY_MS = 10_000
JSONL_EVERY_MS = 500
UNFINISHED = ("pending", "in_progress")

Write = Callable[[Console, ProgressUpdate, bool], None]
ReadEvents = Callable[[], Iterable[dict[str, Any]]]


class PlainLines:
    """A renderer that writes lines: when the state changes, and else when `every_ms` have passed."""

    def __init__(self, console: Console, write: Write, every_ms: int) -> None:
        self._console, self._write, self._every_ms = console, write, every_ms
        self._shown_ms: int | None = None
        self._state: tuple[str, str | None, str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return None

    def show(self, update: ProgressUpdate) -> None:
        before, self._state = self._state, (update.job.status, update.job.requested, update.waiting)
        changed = before != self._state
        if changed or self._shown_ms is None or update.now_ms - self._shown_ms >= self._every_ms:
            self._shown_ms = update.now_ms
            self._write(self._console, update, changed)

    def urgent(self, text: str) -> None:
        # Past the stream's buffer: a signal may arrive while that is being written.
        with suppress(OSError):
            os.write(self._console.err.fileno(), f"{text}\n".encode())


class Events(PlainLines):
    """The events of the job on stdout, one per line: its status, what happened since the last look, how far it is.

    The final status is the last line but one: it waits until the screen goes down and everything before it is written;
    only the last progress follows. So a reader that stops at the final status has read all events.
    """

    def __init__(self, console: Console, read_events: ReadEvents) -> None:
        super().__init__(console, self._tell, JSONL_EVERY_MS)
        self._read_events = read_events
        self._last: ProgressUpdate | None = None
        self._is_over = False  # and not said so yet

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None and self._last is not None:
            self._tell_end(self._console, self._last)

    def show(self, update: ProgressUpdate) -> None:
        self._last = update
        super().show(update)

    def _tell(self, console: Console, update: ProgressUpdate, changed: bool) -> None:
        if update.job.status not in UNFINISHED:
            self._is_over = True
            return
        if changed:
            console.data(to_json(status_event(update)))
        self._tell_events(console)
        console.data(to_json(progress_event(update)))
        console.out.flush()

    def _tell_events(self, console: Console) -> None:
        for event in self._read_events():
            console.data(to_json(event))

    def _tell_end(self, console: Console, last: ProgressUpdate) -> None:
        self._tell_events(console)
        if self._is_over:
            console.data(to_json(status_event(last)))
        console.data(to_json(progress_event(last)))
        console.out.flush()


def write_plain(console: Console, update: ProgressUpdate, changed: bool) -> None:
    console.say(plain_line(update))


def write_nothing(console: Console, update: ProgressUpdate, changed: bool) -> None:
    """--quiet: only the answer to a signal is shown."""


def plain_line(update: ProgressUpdate) -> str:
    """`14:31:07Z docs-x crawling succeeded=1412 …`"""
    counts = update.counts
    numbers = " ".join(
        f"{name}={getattr(counts, name)}" for name in ("succeeded", "failed", "skipped", "pending", "in_progress")
    )
    rate = "-" if update.rate is None else f"{update.rate:.1f}/s"
    checkpoint = "-" if update.checkpoint is None else update.checkpoint
    head = f"{time_of_day(update.wall_ms)} {clean(update.job.name)} {activity(update.job)}"
    share = percent(update.job, counts)
    known = "" if share is None else f" percent={share}"
    waiting = f" {clean(update.waiting)}" if update.waiting else ""
    return f"{head} {numbers} rate={rate} checkpoint={checkpoint}{known}{waiting}"


def status_event(update: ProgressUpdate) -> dict[str, object]:
    job = update.job
    return {
        "type": "job.status",
        "at": iso(update.wall_ms),
        "job": job.uid,
        "name": job.name,
        "status": job.status,
        "requested": job.requested,
        "paused_by": job.paused_by,
        "because": because(job, update.counts, waiting=update.waiting),
    }


def progress_event(update: ProgressUpdate) -> dict[str, object]:
    return {
        "type": "progress",
        "at": iso(update.wall_ms),
        "job": update.job.uid,
        "name": update.job.name,
        "status": update.job.status,
        "phase": update.job.phase,
        "counts": update.counts.seven(),
        "in_flight": update.in_flight,
        "rate_per_second": None if update.rate is None else round(update.rate, 1),
        "checkpoint": update.checkpoint,
    }


def screen_for(console: Console, head: str, tail: str, read_events: ReadEvents = tuple) -> Screen:
    """The renderer that the options and the terminal ask for. rich is loaded only for a terminal."""
    if console.options.jsonl:
        return Events(console, read_events)
    if console.options.quiet:
        return PlainLines(console, write_nothing, PLAIN_EVERY_MS)
    if console.has_screen:
        from holdfast.cli.screen.tty import Terminal

        return Terminal(console, head, tail)
    return PlainLines(console, write_plain, PLAIN_EVERY_MS)
