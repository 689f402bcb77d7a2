"""What lies in a data folder when a crawl is over or was killed: made once, copied for each trial, and read back by the
program's own commands. It damages nothing and judges nothing."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from itertools import count
from pathlib import Path

from crash.suites.pond import PAGES, Pond
from holdfast.blobs.segments import Segments
from holdfast.cli.main import main
from holdfast.engine.session import Session

COMMAND_S_MAX = 10.0
SEGMENT_BYTES_MAX = 2_000  # so that there are many segments
RUNS_END_AT = (12, 24, 36)  # asks: each run writes checkpoints of its own
VERIFY = ("verify", "pond", "--deep")
EXPORT = ("export", "pond", "-o", "-", "--format", "jsonl")
STATUS = ("status", "pond", "--json")
COMMANDS = (VERIFY, EXPORT, STATUS, ("targets", "pond", "--jsonl"))


def said(data: Path, words: tuple[str, ...]) -> tuple[int, str]:
    """Exit code and words of a command that only reads, run in this process: hundreds are needed."""
    raw = io.BytesIO()
    text = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    with _not_longer(COMMAND_S_MAX), redirect_stdout(text), redirect_stderr(text):
        code = main([*words, "--data", str(data)])
    return code, raw.getvalue().decode(errors="replace")


@contextmanager
def _not_longer(seconds: float) -> Iterator[None]:
    """A command without an end becomes one that crashed. Not by SIGALRM: that is the test runner's own."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"no end after {seconds:g} s")

    before = signal.signal(signal.SIGUSR1, give_up)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGUSR1, before)


def make_finished(folder: Path) -> Path:
    """A crawl in several runs, with checkpoints, and bodies in many small segments."""
    made = folder / "finished"
    pond = _pond(folder / "making-finished")
    _run_in_parts(pond)
    assert pond.run(seconds_max=60).counts.succeeded == PAGES
    pond.close()
    _copy(pond.folder, made)
    return made


def make_unfinished(folder: Path) -> Path:
    """The same crawl in its middle, as a killed process leaves it: the last commits are in the -wal only."""
    made = folder / "unfinished"
    pond = _pond(folder / "making-unfinished")
    _run_in_parts(pond)
    _copy(pond.folder, made)
    pond.close()
    return made


def _pond(folder: Path) -> Pond:
    folder.mkdir()
    numbers = count(1)

    def blobs() -> Segments:
        return Segments(folder / "segments", "J-pond", f"w{next(numbers)}", segment_bytes_max=SEGMENT_BYTES_MAX)

    return Pond(folder, blobs=blobs)


def _run_in_parts(pond: Pond) -> None:
    for asks in RUNS_END_AT:
        session = pond.session()
        pond.leaps = {asks: _draining(session)}
        session.run()


def _draining(session: Session) -> Callable[[], None]:
    return lambda: session.interrupt("drain")


def _copy(source: Path, target: Path) -> None:
    """By another process and under another name: this one may not open what was a live ledger of its own."""
    subprocess.run(["cp", "-r", str(source), str(target)], check=True)


def copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target
