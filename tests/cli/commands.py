"""What the suites of the command line share: the command as a user runs it, and jobs in every status."""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec.structs import replace

from forked import ForkServer
from holdfast import wiring
from holdfast.config import Settings
from holdfast.control import stopping
from holdfast.demo.serving import WorldServer
from holdfast.ledger.books import write_checkpoint
from holdfast.ledger.sql import SqlLedger
from holdfast.ledger.verbs.jobs import end_job, read_job
from holdfast.model.job import Counts, Job, JobSpec, Options
from holdfast.ports import Ledger
from waiting import wait_until

DEADLINE_S = 60
PROGRAM = (sys.executable, "-m", "holdfast")
CONTROL_CODE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def problem(self) -> Any:
        return json.loads(self.err)


def environment(**more: str) -> dict[str, str]:
    """Ours without the settings of whoever runs the tests."""
    names = list(os.environ)  # pytest takes its own out and puts it in, while a test's threads read this
    own = {name: os.environ.get(name, "") for name in names if not name.startswith(("HOLDFAST_", "COV"))}
    return {**own, "HOLDFAST_MIN_FREE_MB": "0", **more}


def holdfast(*words: str, cwd: Path, **env: str) -> Done:
    """One command in a folder of its own, to its end.

    Thousands of them run, so a fork of a process that has imported the program is what runs; `Running` starts anew.
    """
    if any(name.startswith("PYTHON") for name in env):  # Python itself reads those, and only as it starts
        done = subprocess.run(
            [*PROGRAM, *words], cwd=cwd, env=environment(**env), capture_output=True, timeout=DEADLINE_S, check=False
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())
    with TemporaryDirectory(prefix="holdfast-said-") as folder:
        child = fork_server().start(words, said=Path(folder) / "it", environ=environment(**env), cwd=cwd)
        code = child.wait(DEADLINE_S)
        return Done(code, Path(folder, "it.out").read_bytes().decode(), Path(folder, "it.err").read_bytes().decode())


@cache
def fork_server() -> ForkServer:
    """One per test process, kept until its end."""
    opened = ForkServer()
    atexit.register(opened.__exit__, None, None, None)
    return opened


class Running:
    """A command that is still at work; what it says on stderr is read line by line."""

    def __init__(self, *words: str, cwd: Path, **env: str) -> None:
        self.said: list[str] = []
        self._child = subprocess.Popen(
            [*PROGRAM, *words],
            cwd=cwd,
            env=environment(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    def wait_for(self, words: str) -> str:
        assert self._child.stderr is not None
        for line in self._child.stderr:
            self.said.append(line)
            if words in line:
                return line
        raise AssertionError(f"it ended without saying {words!r}: {self.said}")

    @property
    def is_over(self) -> bool:
        return self._child.poll() is not None

    def send(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def end(self) -> Done:
        out, err = self._child.communicate(timeout=DEADLINE_S)
        return Done(self._child.returncode, out, "".join(self.said) + err)

    def stop(self) -> None:
        self._child.kill()
        self._child.communicate()


@contextmanager
def ledger_in(folder: Path) -> Iterator[Ledger]:
    """The ledger that commands run in `folder` use."""
    ledger = wiring.open_ledger(Settings(data=folder / "holdfast-data"))
    try:
        yield ledger
    finally:
        ledger.close()


def until_some_are_done(folder: Path, count: int = 1) -> None:
    """Until the books of the only job have so many pages; a progress line may tell of none yet."""
    with ledger_in(folder) as ledger:
        wait_until(lambda: ledger.books(1)[1].succeeded >= count, 30, f"{count} pages are done")


def crawl_words(world: WorldServer, *more: str) -> list[str]:
    return ["crawl", *world.oracle()["seeds"], "--allow", world.address, "--delay", "0", "--name", "frogs", *more]


def submit(ledger: Ledger, world: WorldServer | None = None, name: str = "frogs") -> Job:
    """A pending job of the name `frogs`."""
    seeds = world.oracle()["seeds"] if world else ["https://marsh.test/"]
    options = Options(delay_ms=0, allow=(world.address,) if world else ())
    recipe = wiring.recipe_of("site")
    params = recipe.check({"seeds": seeds})
    return ledger.submit(
        JobSpec(recipe="site", name=name, identity=f"site#{name}", params=params, options=options, chunking="key")
    )[0]


MOVES = {"completed": "complete", "failed": "fail", "timeout": "time_out"}


def put_into(ledger: Ledger, job: Job, status: str) -> Job:
    """Lead a pending job to a status by the moves that lead there."""
    if status == "pending":
        return job
    if status == "cancelled":
        return stopping.cancel(ledger, job, actor="test")
    job = ledger.move(job.id, "start", actor="test", because="test")
    if status == "paused":
        return stopping.pause(ledger, job, actor="test")
    if status == "timeout":
        options = msgspec.structs.replace(job.options, max_pages=0)
        job = ledger.amend(job, options=options, actor="test", because="test")
    if status in MOVES:
        return end(ledger, job, MOVES[status])
    return job


def end(ledger: Ledger, job: Job, verb: str) -> Job:
    """An end that only a worker may say, said by the row it would write."""
    assert isinstance(ledger, SqlLedger)
    with ledger._store.write() as tx:
        because = "no seed could be fetched"
        stop_reason = "page_limit" if verb == "time_out" else None
        return end_job(tx, read_job(tx, job.id), verb, health=None, because=because, stop_reason=stop_reason)


def write_manual_checkpoint(ledger: Ledger, job: Job) -> int:
    """One that a command can go back to, whatever the job has been through."""
    assert isinstance(ledger, SqlLedger)
    with ledger._store.write() as tx:
        return write_checkpoint(tx, job.id, "manual")


def make_job(**changes: Any) -> Job:
    """The job of ux 3.4."""
    job = Job(
        id=1,
        uid="J-7f3a",
        name="docs-x",
        recipe="site",
        identity="site:https://docs.x.dev/",
        params={"seeds": ["https://docs.x.dev/"]},
        options=Options(),
        chunking="key",
        status="in_progress",
        requested=None,
        paused_by=None,
        because="waiting for a worker",
        stop_reason=None,
        health=None,
        version=3,
        phase="crawling",
        generation=1,
        plan_done=True,
        planned_total=None,
        run=4,
        active_ms=731_200,
        created_at=1_772_373_000_000,
        since=1_772_373_600_000,
        started_at=1_772_373_600_000,
        paused_at=None,
        finished_at=None,
        last_error=None,
        recoveries=1,
        refetched=3,
    )
    return replace(job, **changes)


def make_counts(**changes: Any) -> Counts:
    numbers: dict[str, Any] = {
        "discovered": 2140,
        "succeeded": 1412,
        "failed": 9,
        "skipped": 29,
        "pending": 682,
        "in_progress": 8,
        "failed_by": {"answer_unreadable": 1, "http_403": 3, "network_timeout": 5},
        "skipped_by": {"duplicate": 4, "excluded": 20, "robots": 5},
    }
    return Counts(**{**numbers, **changes})
