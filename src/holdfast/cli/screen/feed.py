"""The one stream of progress updates: from what a session reports after its commits to what renderers show."""

from __future__ import annotations

from holdfast.cli.screen.console import Console
from holdfast.cli.screen.progress import ProgressUpdate, Screen
from holdfast.clock import Clock
from holdfast.model.job import Counts, Job
from holdfast.model.lease import Rescued
from holdfast.model.spelling import count_of
from holdfast.ports import Runner
from holdfast.views.job import Rate

SHOW_EVERY_MS = 100


class Feed:
    """Fulfils ports.Progress. It remembers the last update, for signals and for the end."""

    def __init__(self, screen: Screen, console: Console, clock: Clock) -> None:
        self._screen, self._console, self._clock = screen, console, clock
        self._rate = Rate()
        self._checkpoint: tuple[int | None, int | None] = (None, None)
        self._state: tuple[str, str | None, str] | None = None
        self._shown_ms: int | None = None
        self._told_rescue = False
        self.session: Runner | None = None
        self.last: ProgressUpdate | None = None

    def __call__(
        self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None, waiting: str | None = None
    ) -> None:
        """A watcher passes `waiting`; a session knows it itself."""
        self.tell_rescue(job)
        waits = waiting if self.session is None else self.session.waiting
        update = self._update(job, counts, in_flight, checkpoint, waits or "")
        self.last = update
        if self._is_due(update):
            self._screen.show(update)

    @property
    def in_flight(self) -> int:
        return 0 if self.last is None else self.last.in_flight

    def tell_rescue(self, job: Job) -> None:
        """The recovery line, once, as soon as the session knows."""
        rescued = None if self.session is None else self.session.rescued
        if rescued is not None and not self._told_rescue:
            self._told_rescue = True
            self._console.say(recovered(job, rescued))

    def _update(self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None, waiting: str) -> ProgressUpdate:
        now_ms = self._clock.monotonic_ms()
        if checkpoint != self._checkpoint[0]:
            self._checkpoint = (checkpoint, now_ms)
        self._rate.add(counts, now_ms)
        return ProgressUpdate(
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

    def _is_due(self, update: ProgressUpdate) -> bool:
        state = (update.job.status, update.job.requested, update.waiting)
        if state == self._state and self._shown_ms is not None and update.now_ms - self._shown_ms < SHOW_EVERY_MS:
            return False
        self._state, self._shown_ms = state, update.now_ms
        return True


def recovered(job: Job, rescued: Rescued) -> str:
    """Cause, loss (always stated), next."""
    verb = "is" if rescued.targets == 1 else "are"
    text = f"Recovered {job.name}: its worker died. 0 lost, "
    text += f"{count_of(rescued.targets, 'page')} in flight {verb} fetched again."
    if rescued.poisoned:
        text += f" {count_of(rescued.poisoned, 'page')} killed the worker three times and stands aside as failed."
    return text
