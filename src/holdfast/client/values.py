"""What the facade hands out: rows with their fields as attributes, and runs. They do not change by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.model.job import Counts

NAMING = ("url", "id", "name")  # what a row is called by, the first that it has
TELLING = (  # what is said of it besides
    "key", "title", "status", "verdict", "disposition", "code", "host", "count", "change", "number", "ok", "because",
    "detail",
)  # fmt: skip


class Row(Mapping[str, Any]):
    """A page, a record, a target …: `row.url` and `row["url"]` are the same; `dict(row)` is a copy."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"no field {name!r}; there are: {', '.join(self._fields)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        name = next((str(self._fields[each]) for each in NAMING if self._fields.get(each)), "")
        told = [f"{each}={self._fields[each]!r}" for each in TELLING if self._fields.get(each) not in (None, name)]
        return f"<{' '.join([name, *told]).strip()}>" if name or told else f"<{dict(self._fields)}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a job. Counts, coverage and health are those of the job when the run ended, and of the latest
    run those of now; a run that ended under an earlier version has none."""

    id: str
    mode: str
    trigger: str
    status: str
    started_at: str | None
    ended_at: str | None
    stop_reason: str | None
    counts: Counts | None
    health: str | None
    error_counts: dict[str, int] | None = None  # failed targets by code
    error_summary: str | None = None
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def coverage(self) -> dict[str, Any] | None:
        """How much of what was found has come to its end, and how."""
        counts = self.counts
        if counts is None:
            return None
        planned = counts.discovered - counts.skipped - counts.cancelled
        return {
            "total": counts.discovered,
            "planned": planned,
            "attempted": counts.succeeded + counts.failed,
            "succeeded": counts.succeeded,
            "failed": counts.failed,
            "skipped": counts.skipped,
            "ratio": counts.succeeded / max(planned, 1),
            "health": self.health,
        }

    def __str__(self) -> str:
        numbers = "" if self.counts is None else f", {self.counts.succeeded} succeeded, {self.counts.failed} failed"
        return f"{self.id} {self.status}{numbers}"
