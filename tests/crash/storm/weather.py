"""What goes wrong by itself: processes die, sleep past their leases, and messages arrive late."""

from __future__ import annotations

from crash.storm.around import Around
from crash.storm.process import Process
from crash.storm.session import LIFE_MS
from crash.storm.zombie import RUDE_DEEDS

DEATHS_SPARED = 2  # of a page alone: one more would make it poison, which no undisturbed run has
LATE_AMONG = 6


class Weather:
    """Strikes every few seconds while the storm lasts."""

    is_dead = False

    def __init__(self, around: Around) -> None:
        self._around = around

    def act(self) -> float:
        around = self._around
        if around.is_rough:
            around.choose(self._kill, self._doom, self._put_to_sleep, self._put_to_sleep, self._come_late)()
        return float(around.choose(0.5, 1.5, 4.0))

    def is_spared(self, process: Process) -> bool:
        """Random deaths may not make an innocent page poison: results would depend on chance."""
        site, rows = self._around.site, self._around.witness.last.targets
        if process.at.suspects and not process.at.hand:
            return True  # it may be about to claim one alone
        alone = [here for here in process.at.hand.values() if here.alone and not site.kills(here)]
        return any(rows[here.id].deaths >= DEATHS_SPARED for here in alone)

    def _victim(self) -> Process | None:
        """Somebody who has something to lose."""
        awake = [each for each in self._around.processes if each.at.worker.leases and not each.asleep_until_ms]
        chosen = self._around.choose(*awake) if awake else None
        return None if chosen is None or self.is_spared(chosen) else chosen

    def _kill(self) -> None:
        victim = self._victim()
        if victim is not None:
            self._around.hits["killed"] += 1
            victim.die("is killed")

    def _doom(self) -> None:
        """It will die in its next call, before or after the commit."""
        victim = self._victim()
        if victim is not None:
            victim.is_doomed = True

    def _put_to_sleep(self) -> None:
        victim = self._victim()
        if victim is not None:
            self._around.hits["asleep"] += 1
            deeds = [self._around.choose(*RUDE_DEEDS) for _ in range(self._around.choose(0, 1, 3))]
            victim.sleep(round(LIFE_MS * self._around.choose(0.5, 1.1, 1.1, 1.8)), deeds)

    def _come_late(self) -> None:
        """A settle that was sent before arrives once more, or only now."""
        around = self._around
        if around.log.sent:
            job, batches = around.choose(*around.log.sent[-LATE_AMONG:])
            settled = around.ledger.settle(job, batches)
            around.hits["late"] += 1
            around.note(f"late: {[(b.chunk, b.no, settled.answers[b.chunk].kind) for b in batches]}")
