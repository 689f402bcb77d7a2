"""A job as rows and as whole files, for its portable form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from holdfast.model.job import Job
from holdfast.model.portable import Arrival, Shape, Slice, Standing
from holdfast.ports.jobs import IsDead

Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


Judge = Callable[[Query, int], Sequence[str]]  # what is wrong with the rows of a job, one sentence each


class Copies(Protocol):
    """A job's rows as they lie there, for its portable form. Ledgers over SQL have one, whichever engine runs them."""

    def shapes(self) -> tuple[Shape, ...]:
        """The tables that hold rows of a job, in the order in which they can be written."""

    def standing(self, job: int) -> Standing:
        """Where the job stands: asked before and after its rows were read, equal answers mean one instant."""

    def copy_out(
        self, job: int, shape: Shape, *, after: tuple[object, ...] = (), limit: int = 1000
    ) -> tuple[list[tuple[Any, ...]], tuple[object, ...] | None]:
        """The next rows of one table, in a short transaction, and where to go on; None: these were the last."""

    def copy_in(self, arrival: Arrival, slices: Iterator[Slice], *, is_dead: IsDead, judge: Judge) -> Job:
        """A job from its rows, in one commit: ids are moved to free ones, keys are salted anew, held names raise
        Refused, and so do rows that `judge` finds something wrong with before the commit. What was in progress arrives
        paused; what it replaces is paused and set aside in the same commit."""


class FileShelf(Protocol):
    """Files of their own, as whole files."""

    def size(self, path: str) -> int | None:
        """How long one is; None where there is none."""

    def blocks(self, path: str, size: int) -> Iterator[bytes]:
        """All of it, piece by piece; Corrupt where it is shorter, NotFound where it is missing."""

    def receive(self, path: str, sha256: bytes, blocks: Iterable[bytes]) -> str:
        """Put one in its place, durably; its path, which is another where other bytes have that name."""


class Shelf(Protocol):
    """The files that bodies lie in, as whole files."""

    def size(self, name: str) -> int:
        """How long one is; 0 where there is none."""

    def blocks(self, name: str, length: int) -> Iterator[bytes]:
        """The first bytes of one, piece by piece; Corrupt where there are fewer, NotFound where there is none."""

    def is_free(self, uid: str) -> bool:
        """Whether bodies of a job with this id may be put here: no bodies of another job are."""

    def receiving(
        self, uids: Iterable[str], is_taken: Callable[[str], bool], ledger: str = ""
    ) -> AbstractContextManager[tuple[str, Callable[[str, Iterable[bytes]], None]]]:
        """Put files below the first of these ids that is free, each whole or not at all; around the commit that refers
        to them, in the ledger of this id. `is_taken`, whether a job has an id, is asked while the id is locked.
        Refused: none stays."""
