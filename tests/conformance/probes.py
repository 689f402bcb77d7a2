"""Looks behind the ports, for what no view shows: entries, runs, external links, records, undo rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import msgspec

from holdfast.model.states import wire_status
from holdfast.ports import Ledger
from oracle.state import MemoryStore


@dataclass(frozen=True, slots=True)
class EntrySeen:
    """One numbered commit of a chunk."""

    chunk: int
    no: int
    epoch: int
    verb: str


class Probe(Protocol):
    """What a bench may ask beyond the ports; every list is in the order of its key."""

    def entries(self, job: int) -> list[EntrySeen]: ...

    def externals(self, job: int) -> list[str]:
        """The URLs of the job's external links."""

    def runs(self, job: int) -> list[tuple[int, str, bool]]:
        """(number, status, whether it is over)."""

    def modes(self, job: int) -> list[str]:
        """The modes of its runs."""

    def records(self, target: int) -> list[tuple[int, int, str]]:
        """(generation, n, kind)."""

    def undone(self, target: int) -> list[tuple[str, str, int]]:
        """(verb, status before, generation before) of what was overwritten, oldest first."""


class MemoryProbe:
    """Reads the tables of a memory store."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def entries(self, job: int) -> list[EntrySeen]:
        tables = self.store.tables
        return [
            EntrySeen(chunk, no, entry.epoch, entry.verb)
            for (chunk, no), entry in sorted(tables.entries.items(), key=lambda item: item[0])
            if tables.chunks[chunk].job == job
        ]

    def externals(self, job: int) -> list[str]:
        return sorted(link.url for (owner, _), link in self.store.tables.external.items() if owner == job)

    def runs(self, job: int) -> list[tuple[int, str, bool]]:
        runs = self.store.tables.runs.items()
        return sorted((n, run.status, run.ended_at is not None) for (owner, n), run in runs if owner == job)

    def modes(self, job: int) -> list[str]:
        return [
            run.mode
            for (owner, _), run in sorted(self.store.tables.runs.items(), key=lambda item: item[0])
            if owner == job
        ]

    def records(self, target: int) -> list[tuple[int, int, str]]:
        rows = self.store.tables.records.items()
        return sorted((generation, n, record.kind) for (owner, generation, n), record in rows if owner == target)

    def undone(self, target: int) -> list[tuple[str, str, int]]:
        rows = self.store.tables.undo.items()
        found = [(chunk, no, row) for (owner, chunk, no), row in rows if owner == target]
        return [
            (row.verb, wire_status(row.before.state), row.before.generation)
            for _, _, row in sorted(found, key=lambda item: item[:2])
        ]


class SqlProbe:
    """Asks the tables of ledger/schema.py through the ledger's own read connection."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def entries(self, job: int) -> list[EntrySeen]:
        rows = self._ledger.query(
            "SELECT e.chunk, e.no, e.epoch, e.verb FROM entry e JOIN chunk c ON c.id = e.chunk WHERE c.job = ? "
            "ORDER BY e.chunk, e.no",
            (job,),
        )
        return [EntrySeen(*row) for row in rows]

    def externals(self, job: int) -> list[str]:
        return sorted(url for (url,) in self._ledger.query("SELECT url FROM external_link WHERE job = ?", (job,)))

    def runs(self, job: int) -> list[tuple[int, str, bool]]:
        rows = self._ledger.query("SELECT n, status, ended_at FROM run WHERE job = ? ORDER BY n", (job,))
        return [(n, status, ended_at is not None) for n, status, ended_at in rows]

    def modes(self, job: int) -> list[str]:
        return [mode for (mode,) in self._ledger.query("SELECT mode FROM run WHERE job = ? ORDER BY n", (job,))]

    def records(self, target: int) -> list[tuple[int, int, str]]:
        rows = self._ledger.query("SELECT gen, n, kind FROM record WHERE target = ? ORDER BY gen, n", (target,))
        return [(generation, n, kind) for generation, n, kind in rows]

    def undone(self, target: int) -> list[tuple[str, str, int]]:
        rows = self._ledger.query("SELECT verb, before FROM undo WHERE target = ? ORDER BY chunk, no", (target,))
        images = [(verb, msgspec.json.decode(bytes(before))) for verb, before in rows]
        return [(verb, wire_status(image["state"]), image["gen"]) for verb, image in images]
