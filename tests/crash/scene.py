"""A tree of pages, a data folder, and real `holdfast` processes in it: what every crash test plays with.

The world is shared by the tests of a process, so each scene counts only the requests that came since it began.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.audit.witness import Ask, asked_more_than_attempts, differences, doubled
from holdfast.config import Settings
from holdfast.demo.asks import Asks
from holdfast.demo.command import ChildCommand, now_ns
from holdfast.demo.crawler import Crawler
from holdfast.demo.serving import WorldServer
from holdfast.demo.sighting import Sighting, sight
from waiting import EVERY_S, stop, wait_until

PAGES = 200
DELAY_MS = 5
CONCURRENCY = 8
END_S_MAX = 60.0
OTHERS_WRITE_TRIES = 100
NOT_COMPARED = ("fetched_at", "run", "target")  # when, in which run and as which row: another run has others


@dataclass
class Scene:
    """One data folder and the one crawl command that belongs to it."""

    world: WorldServer
    folder: Path
    asks_of_world: Asks
    database: str = "sqlite"
    launch: Callable[..., ChildCommand] = ChildCommand
    environ: Mapping[str, str] = field(default_factory=dict)  # of every command here
    first: int = 0
    began_ns: int = 0
    started: list[ChildCommand] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world.set_faults()
        self.first, self.began_ns = self.asks_of_world.look(), now_ns()

    @property
    def seed_url(self) -> str:
        return f"{self.world.url}/p/0"

    @property
    def settings(self) -> Settings:
        return Settings(data=self.folder / "data", database_url=self.database)

    @property
    def where(self) -> list[str]:
        elsewhere = [] if self.database == "sqlite" else ["--database", self.database]
        return ["--data", str(self.settings.data), *elsewhere]

    @property
    def crawler(self) -> Crawler:
        pace = ["--delay", "0", "--per-host", str(CONCURRENCY), "--plain"]
        return Crawler(
            self.world, self.asks_of_world, self.seed_url, self.settings, self.folder, where=self.where, pace=pace
        )

    def start(self, *words: str, environ: Mapping[str, str] | None = None) -> ChildCommand:
        """Start a command; whatever still runs at the end of the test is killed then."""
        said = self.folder / f"scene-{len(self.started)}"
        self.started.append(self.launch([*words, *self.where], said=said, environ={**self.environ, **(environ or {})}))
        return self.started[-1]

    def crawl(
        self, environ: Mapping[str, str] | None = None, *, processes: int = 1, more: Sequence[str] = ()
    ) -> ChildCommand:
        several = ["--processes", str(processes)] if processes > 1 else []
        return self.start(*self.crawler.order, *several, *more, environ=environ)

    def run(self, *words: str, environ: Mapping[str, str] | None = None) -> ChildCommand:
        """The same, to its end."""
        command = self.start(*words, environ=environ)
        command.wait(END_S_MAX)
        return command

    def crawled(self, environ: Mapping[str, str] | None = None, *, processes: int = 1) -> ChildCommand:
        command = self.crawl(environ, processes=processes)
        command.wait(END_S_MAX)
        return command

    def asks(self) -> list[Ask]:
        return list(self.asks_of_world.since(self.first))

    def asked_at_ms(self, url: str) -> list[int]:
        """Since the scene began: who explains why a page was asked for twice must know when."""
        return [(ask["at_ns"] - self.began_ns) // 1_000_000 for ask in self.asks() if ask["key"] == url]

    def await_asks(self, n: int) -> None:
        wait_until(lambda: len(self.asks()) >= n, END_S_MAX, f"{n} requests")

    def slow_down(self, ms: int = 100) -> None:
        """Every page takes longer from now on; `set_faults()` of the world ends it."""
        self.world.set_faults(slow_share=1.0, slow_ms=ms)

    def look(self) -> Sighting:
        """The ledger while nobody writes to it."""
        found = sight(self.settings, self.seed_url)
        assert found is not None
        return found

    def status(self) -> dict[str, Any]:
        """The job while somebody works it, as `holdfast status` tells it from outside."""
        command = self.run("status", self.job_name, "--json")
        assert command.code == 0, command.err
        document: dict[str, Any] = json.loads(command.out)
        return document

    def await_request(self, wanted: str) -> None:
        """Until that is asked of the job. Read here: a command that reads it would take longer than many a page."""
        with closing(sqlite3.connect(self.settings.ledger_path, isolation_level=None)) as connection:
            asked = "SELECT 1 FROM job WHERE requested = ?"
            wait_until(lambda: connection.execute(asked, (wanted,)).fetchone(), 30, f"a request to {wanted}")

    @property
    def job_name(self) -> str:
        return self.world.address.replace(":", "-")

    def is_locked(self) -> bool:
        """Whether somebody is in the middle of a write to the ledger."""
        connection = sqlite3.connect(self.settings.ledger_path, timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return True
        finally:
            connection.close()
        return False

    def stop(self, pid: int) -> None:
        """SIGSTOP between two writes to the ledger: stopped inside of one, it keeps everybody from writing."""
        stop(pid)
        while self.stays_locked():
            os.kill(pid, signal.SIGCONT)
            stop(pid)

    def stays_locked(self) -> bool:
        """Other processes finish their write within this time; a stopped one does not."""
        never = threading.Event()
        for _ in range(OTHERS_WRITE_TRIES):
            if not self.is_locked():
                return False
            never.wait(EVERY_S)
        return True

    def exported(self) -> list[dict[str, Any]]:
        """The lines of `holdfast export`, sorted by URL, without what may differ from run to run."""
        path = self.folder / "pages.jsonl"
        command = self.run("export", self.look().job.uid, "-o", str(path), "--format", "jsonl")
        assert command.code == 0, command.err
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        twice = doubled(row["url"] for row in rows)
        assert not twice, f"exported twice: {twice}"
        kept = [{name: row[name] for name in row if name not in NOT_COMPARED} for row in rows]
        return sorted(kept, key=lambda row: str(row["url"]))

    def close(self) -> None:
        with ExitStack() as ended:
            for command in self.started:
                ended.enter_context(command)


@dataclass(frozen=True)
class Calm:
    """The same crawl, undisturbed: what every crash must come to in the end."""

    end: Sighting
    exported: list[dict[str, Any]]

    def assert_equal_to(self, scene: Scene) -> None:
        broken = self.broken_by(scene)
        assert not broken, broken

    def broken_by(self, scene: Scene) -> str:
        """The differential oracle: same (url, sha256, status), same export, books that balance, verify content.

        In words what does not hold; empty is good.
        """
        end = scene.look()
        verify = scene.run("verify", end.job.uid)
        only_calm, only_here = differences(self.end.seen, end.seen)
        too_often = asked_more_than_attempts(scene.asks(), end.seen)
        found = {
            "missing": only_calm,
            "not in the calm run": only_here,
            "the job is": "" if end.job.status == "completed" else end.job.status,
            "the books do not balance": "" if end.balances else end.books,
            "poisoned": end.poisoned,
            "asked for more often than claimed": [(*row, scene.asked_at_ms(row[0])) for row in too_often],
            "verify": "" if verify.code == 0 else f"{verify.code} {verify.out}{verify.err}",
            "the export differs": _differing(self.exported, scene.exported()),
        }
        return "; ".join(f"{what}: {which}" for what, which in found.items() if which)


def _differing(calm: list[dict[str, Any]], here: list[dict[str, Any]]) -> list[Any]:
    """The lines that only one of them has."""
    first, second = ({json.dumps(row, sort_keys=True) for row in rows} for rows in (calm, here))
    return sorted(first ^ second)
