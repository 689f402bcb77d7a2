"""What is settled is not asked for again, whatever is killed: by the ledger at each kill and the log of the world."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

from holdfast import wiring
from holdfast.config import Settings
from holdfast.demo.serving import WorldServer
from holdfast.model.target import TargetRow
from holdfast.policy.leasing import in_hand_max
from holdfast.recipes.catalogue import kind_of


@dataclass
class Settled:
    """Notes at each kill what the job had settled. Of a request and of a row it is told, in one word, what they are of;
    "" is of nothing that counts here.
    """

    world: WorldServer
    settings: Settings
    job: str
    asked_of: Callable[[str], str]
    row_of: Callable[[TargetRow], str]
    noted: list[tuple[int, frozenset[str]]] = field(default_factory=list)  # how long the log was, and what was settled

    def note(self) -> None:
        """Once its process is dead; it may have died before there was a job."""
        if self.settings.database_url == "sqlite" and not self.settings.ledger_path.exists():
            return
        self.world.ready()
        with closing(wiring.open_ledger(self.settings)) as ledger:
            rows = [row for job in ledger.jobs() if job.name == self.job for row in ledger.targets(job.id)]
        done = frozenset(self.row_of(row) for row in rows if row.status == "succeeded")
        self.noted.append((len(self.world.asks()), done - {""}))

    def asked_again(self) -> set[str]:
        """What was asked for though it was settled by then."""
        asked = [self.asked_of(ask["key"]) for ask in self.world.asks()]
        for since, done in self.noted:
            assert done <= set(asked[:since]), "the two functions give other names to one target"
        return {name for since, done in self.noted for name in done.intersection(asked[since:])}

    def in_hand_most(self) -> int:
        """How many targets one process of the job may have in hand, all of which a kill may make it ask for again."""
        with closing(wiring.open_ledger(self.settings)) as ledger:
            job = ledger.job(self.job)
        one_host, ahead = job.chunking == "key", kind_of(job).claims_ahead
        return in_hand_max(job.options, workers=1, place=0, one_host=one_host, ahead=ahead)
