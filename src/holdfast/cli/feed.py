"""The one stream of moments: turns what a session tells after its commits into what renderers show. Cheap."""

from __future__ import annotations

from typing import Protocol

from holdfast.cli.moments import Moment, Screen
from holdfast.cli.text import count_of
from holdfast.cli.voice import Voice
from holdfast.clock import Clock
from holdfast.engine.progress import Rate
from holdfast.model.job import Counts, Job
from holdfast.model.lease import Rescued

SHOW_EVERY_MS = 100


class Rescuing(Protocol):
    """A session, as far as the feed looks at it."""

    rescued: Rescued | None
    waiting: str  # for what, while nothing is fetched


class Feed:
    """Fulfils ports.Progress. It remembers the last moment, for signals and for the end."""

    def __init__(self, screen: Screen, voice: Voice, clock: Clock) -> None:
        self._screen, self._voice, self._clock = screen, voice, clock
        self._rate = Rate()
        self._checkpoint: tuple[int | None, int | None] = (None, None)
        self._state: tuple[str, str | None, str] | None = None
        self._shown_ms: int | None = None
        self._told_rescue = False
        self.session: Rescuing | None = None
        self.last: Moment | None = None

    def __call__(
        self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None, waiting: str | None = None
    ) -> None:
        """`waiting` is told by who watches; a session knows it itself."""
        self.tell_rescue(job)
        waits = waiting if self.session is None else self.session.waiting
        moment = self._moment(job, counts, in_flight, checkpoint, waits or "")
        self.last = moment
        if self._is_due(moment):
            self._screen.show(moment)

    @property
    def in_flight(self) -> int:
        return 0 if self.last is None else self.last.in_flight

    def tell_rescue(self, job: Job) -> None:
        """The recovery line, once, as soon as the session knows."""
        rescued = None if self.session is None else self.session.rescued
        if rescued is not None and not self._told_rescue:
            self._told_rescue = True
            self._voice.say(recovered(job, rescued))

    def _moment(self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None, waiting: str) -> Moment:
        now_ms = self._clock.monotonic_ms()
        if checkpoint != self._checkpoint[0]:
            self._checkpoint = (checkpoint, now_ms)
        self._rate.add(counts, now_ms)
        return Moment(
            job=job,
            counts=counts,
            in_flight=in_flight,
            checkpoint=checkpoint,
            checkpoint_ms=self._checkpoint[1],
            rate=self._rate.per_second(counts, now_ms),
            now_ms=now_ms,
            wall_ms=self._clock.wall_ms(),
            waiting=waiting,
        )

    def _is_due(self, moment: Moment) -> bool:
        state = (moment.job.status, moment.job.requested, moment.waiting)
        if state == self._state and self._shown_ms is not None and moment.now_ms - self._shown_ms < SHOW_EVERY_MS:
            return False
        self._state, self._shown_ms = state, moment.now_ms
        return True


def recovered(job: Job, rescued: Rescued) -> str:
    """Cause, loss (always stated), next."""
    verb = "is" if rescued.targets == 1 else "are"
    text = f"Recovered {job.name}: its worker died. 0 lost, "
    text += f"{count_of(rescued.targets, 'page')} in flight {verb} fetched again."
    if rescued.poisoned:
        text += f" {count_of(rescued.poisoned, 'page')} killed the worker three times and stands aside as failed."
    return text
