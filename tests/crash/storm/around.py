"""What everybody in a storm is handed: the job, time, chance, and calls whose answers may get lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from conformance.bench import Bench
from crash.storm.log import Log, Watched
from crash.storm.site import Site
from crash.storm.witness import Believer, Witness
from holdfast.clock import ManualClock


class Lost(Exception):
    """Nobody knows what came of a call, or whoever made it is no more."""


class Around(Protocol):
    """`size`: how many processes there are; `is_rough`: whether things still go wrong."""

    bench: Bench
    clock: ManualClock
    site: Site
    log: Log
    job: int
    size: int
    ledger: Watched
    witness: Witness
    is_rough: bool
    hits: Counter[str]

    @property
    def processes(self) -> Sequence[Any]: ...

    def draw(self, share: float) -> bool:
        """Whether something that happens this often happens now."""

    def choose(self, *things: Any) -> Any: ...

    def call(self, process: Any, verb: str, ask: Callable[[], Any]) -> Any:
        """A call of a process. Raises Lost where its answer is lost, whether or not it was carried out."""

    def bury(self, process: Believer) -> None:
        """It is dead; after a while there is another one."""

    def note(self, what: str, process: Believer | None = None) -> None: ...
