"""Renderers over one stream of moments (ux 3.4): plain lines, JSON lines, or nothing. The terminal's is in tty.py."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from holdfast.cli.moments import Moment, Screen, activity
from holdfast.cli.text import clean, to_json
from holdfast.cli.values import time_of_day
from holdfast.cli.voice import Voice
from holdfast.clock import iso
from holdfast.engine.progress import because, percent

PLAIN_EVERY_MS = 10_000
JSONL_EVERY_MS = 500
UNFINISHED = ("pending", "in_progress")

Write = Callable[[Voice, Moment, bool], None]
News = Callable[[], Iterable[dict[str, Any]]]


class Lines:
    """A renderer that writes lines: when the state changes, and else when `every_ms` have passed."""

    def __init__(self, voice: Voice, write: Write, every_ms: int) -> None:
        self._voice, self._write, self._every_ms = voice, write, every_ms
        self._shown_ms: int | None = None
        self._state: tuple[str, str | None, str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return None

    def show(self, moment: Moment) -> None:
        before, self._state = self._state, (moment.job.status, moment.job.requested, moment.waiting)
        changed = before != self._state
        if changed or self._shown_ms is None or moment.now_ms - self._shown_ms >= self._every_ms:
            self._shown_ms = moment.now_ms
            self._write(self._voice, moment, changed)

    def urgent(self, text: str) -> None:
        # Past the stream's buffer: a signal may arrive while that is being written.
        with suppress(OSError):
            os.write(self._voice.err.fileno(), f"{text}\n".encode())


class Events(Lines):
    """The events of the job on stdout, one per line: its status, what happened since the last look, how far it is.

    Who stops reading at the status of a job that is over has read everything: that one waits until the screen goes
    down, behind what is still untold then, and the last progress behind it.
    """

    def __init__(self, voice: Voice, news: News) -> None:
        super().__init__(voice, self._tell, JSONL_EVERY_MS)
        self._news = news
        self._last: Moment | None = None
        self._is_over = False  # and not said so yet

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None and self._last is not None:
            self._tell_end(self._voice, self._last)

    def show(self, moment: Moment) -> None:
        self._last = moment
        super().show(moment)

    def _tell(self, voice: Voice, moment: Moment, changed: bool) -> None:
        if moment.job.status not in UNFINISHED:
            self._is_over = True
            return
        if changed:
            voice.data(to_json(status_event(moment)))
        self._tell_news(voice)
        voice.data(to_json(progress_event(moment)))
        voice.out.flush()

    def _tell_news(self, voice: Voice) -> None:
        for event in self._news():
            voice.data(to_json(event))

    def _tell_end(self, voice: Voice, last: Moment) -> None:
        self._tell_news(voice)
        if self._is_over:
            voice.data(to_json(status_event(last)))
        voice.data(to_json(progress_event(last)))
        voice.out.flush()


def write_plain(voice: Voice, moment: Moment, changed: bool) -> None:
    voice.say(plain_line(moment))


def write_nothing(voice: Voice, moment: Moment, changed: bool) -> None:
    """--quiet: only the answer to a signal is shown."""


def plain_line(moment: Moment) -> str:
    """`14:31:07Z docs-x crawling succeeded=1412 …`"""
    counts = moment.counts
    numbers = " ".join(
        f"{name}={getattr(counts, name)}" for name in ("succeeded", "failed", "skipped", "pending", "in_progress")
    )
    rate = "-" if moment.rate is None else f"{moment.rate:.1f}/s"
    checkpoint = "-" if moment.checkpoint is None else moment.checkpoint
    head = f"{time_of_day(moment.wall_ms)} {clean(moment.job.name)} {activity(moment.job)}"
    share = percent(moment.job, counts)
    known = "" if share is None else f" percent={share}"
    waiting = f" {clean(moment.waiting)}" if moment.waiting else ""
    return f"{head} {numbers} rate={rate} checkpoint={checkpoint}{known}{waiting}"


def status_event(moment: Moment) -> dict[str, object]:
    job = moment.job
    return {
        "type": "job.status",
        "at": iso(moment.wall_ms),
        "job": job.uid,
        "name": job.name,
        "status": job.status,
        "requested": job.requested,
        "paused_by": job.paused_by,
        "because": because(job, moment.counts, waiting=moment.waiting),
    }


def progress_event(moment: Moment) -> dict[str, object]:
    return {
        "type": "progress",
        "at": iso(moment.wall_ms),
        "job": moment.job.uid,
        "name": moment.job.name,
        "status": moment.job.status,
        "phase": moment.job.phase,
        "counts": moment.counts.seven(),
        "in_flight": moment.in_flight,
        "rate_per_second": None if moment.rate is None else round(moment.rate, 1),
        "checkpoint": moment.checkpoint,
    }


def screen_for(voice: Voice, head: str, tail: str, news: News = tuple) -> Screen:
    """The renderer that the options and the terminal ask for. rich is loaded only for a terminal."""
    if voice.options.jsonl:
        return Events(voice, news)
    if voice.options.quiet:
        return Lines(voice, write_nothing, PLAIN_EVERY_MS)
    if voice.has_screen:
        from holdfast.cli.tty import Terminal

        return Terminal(voice, head, tail)
    return Lines(voice, write_plain, PLAIN_EVERY_MS)
