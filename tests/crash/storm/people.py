"""Who else writes to the job: an operator with people's verbs, and the chores that every server does."""

from __future__ import annotations

from crash.storm.around import Around

CANCEL_SHARE = 0.04
ENCORE_SHARE = 0.12
SLICES = (2, 100)


class Operator:
    """Pauses, calls time, resumes, rarely cancels, and may open the job again, in a pause or after its end."""

    is_dead = False

    def __init__(self, around: Around) -> None:
        self._around = around
        self._cancels = around.is_rough and around.draw(CANCEL_SHARE)
        self._encore = around.choose("retry", "rescan") if around.is_rough and around.draw(ENCORE_SHARE) else ""
        self._is_cancelled = False

    def act(self) -> float:
        around, now = self._around, self._around.witness.last
        if now.status == "cancelled":
            self._is_cancelled = around.ledger.cancel_rest(around.job, limit=around.choose(*SLICES)) == 0
        elif now.status in ("paused", "timeout", "pending"):
            self._go_on(now.status)
        elif now.status == "completed" and self._encore:
            self._open_again(self._encore)
            self._encore = ""
        elif now.is_open and around.is_rough and around.draw(0.3):
            self._ask_for(
                "cancel" if self._cancels and around.draw(0.5) else around.choose("pause", "pause", "time_out")
            )
        return float(around.choose(3, 9, 15))

    def is_done(self) -> bool:
        """Whether nothing more is to be expected of them once the job is over."""
        return self._is_cancelled if self._around.witness.last.status == "cancelled" else not self._encore

    def _ask_for(self, action: str) -> None:
        around = self._around
        around.ledger.request(around.job, action, actor="ann", because="enough")
        around.log.is_closed = True
        around.hits[action] += 1
        around.note(f"ann asks for a {action}")

    def _go_on(self, status: str) -> None:
        around = self._around
        if around.is_rough and status != "pending" and around.draw(0.3):
            self._open_again("restart" if status == "paused" and around.draw(0.3) else "retry")
            return
        verb = "start" if status == "pending" else "resume"
        around.ledger.move(around.job, verb, actor="ann", because="go on")
        around.log.is_closed = False
        around.note(f"ann says: {verb}")

    def _open_again(self, verb: str) -> None:
        """The walk may be left to others after its first slice."""
        around = self._around
        around.ledger.reopen(around.job, verb, actor="ann", because="again")
        around.ledger.walk(around.job, limit=around.choose(*SLICES))
        around.note(f"ann asks for a {verb}")


class Chores:
    """Frees what dead or silent owners hold, and carries out a request that nobody is left to acknowledge."""

    is_dead = False

    def __init__(self, around: Around) -> None:
        self._around = around

    def act(self) -> float:
        around, is_dead = self._around, self._around.bench.is_dead
        if around.witness.last.requested is not None:
            around.ledger.acknowledge(around.job, is_dead=is_dead)
        else:
            rescued = around.ledger.rescue(around.job, is_dead=is_dead)
            if rescued.chunks:
                around.note(f"rescued: {rescued}")
        return float(around.choose(7, 15, 30))
