"""T13: parsers given what nobody would write. Each gives its answer or refuses, soon, and without filling the memory.

A trial is a batch of inputs for one parser, and its seed makes all of them. They are not guided by coverage: Atheris,
which would do that, has wheels for some of the systems only that this runs on.
"""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from crash.suites.mutating import mutated
from crash.suites.parsers import PARSERS, Parser, Wrong
from crash.suites.portable import snapshot_parsers
from crash.suites.suite import Suite, Trial
from holdfast.errors import HoldfastError

CPU_S_MAX = 1.0  # for one input
MEMORY_MB_MAX = 200.0  # more than this process had when the batch began
SHOWN_BYTES = 200


class TooSlow(BaseException):
    """Not an Exception: no parser may take it for a wrong input."""


def played(parser: Parser, place: Path, seed: int) -> Trial:
    """One batch. What broke it is kept in the trial's folder."""
    source, before_mb = Random(seed), _most_mb(forgetting=True)
    fault = f"{parser.inputs} inputs for the parser of {parser.name}"
    for _ in range(parser.inputs):
        data = mutated(parser.seeds, parser.words, source)
        broken = broken_by(parser, data)
        grown_mb = _most_mb() - before_mb
        if not broken and grown_mb > MEMORY_MB_MAX:
            broken = f"{grown_mb:.0f} MB more than before"
        if broken:
            (place / "input").write_bytes(data)
            return Trial(seed, fault, delivered=True, broken=f"{broken}: {shown(data)} ({place / 'input'})")
    return Trial(seed, fault, delivered=True)


def broken_by(parser: Parser, data: bytes) -> str:
    """What this input does that none may; empty where it is read or refused in time."""
    began = time.process_time()
    try:
        with _in_time():
            parser.ask(data)
    except HoldfastError:
        pass
    except TooSlow:
        return f"no end after {CPU_S_MAX:g} s"
    except Wrong as wrong:
        return f"wrong: {wrong}"
    except Exception as error:  # noqa: BLE001 - whatever escapes from a parser is what is looked for
        return f"{type(error).__name__} escaped, {error}"
    took = time.process_time() - began
    return f"an answer after {took:.1f} s" if took > CPU_S_MAX else ""


@contextmanager
def _in_time() -> Iterator[None]:
    """By the time that this process worked, not by the clock: the computer may be busy."""

    def give_up(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S_MAX)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def shown(data: bytes) -> str:
    """The input, as short as it can be told."""
    return repr(data) if len(data) <= SHOWN_BYTES else f"{data[:SHOWN_BYTES]!r}… of {len(data)} bytes"


def _most_mb(*, forgetting: bool = False) -> float:
    """The most that this process ever had; where Linux lets us, since it was last forgotten."""
    if forgetting:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


@contextmanager
def _stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    with snapshot_parsers(folder) as of_snapshots:
        parsers = (*PARSERS, *of_snapshots)

        def play_one(place: Path, seed: int) -> Trial:
            return played(parsers[seed % len(parsers)], place, seed)

        yield play_one


FUZZING = Suite(
    name="T13",
    title="parsers given batches of bent, cut, joined and blown-up inputs",
    scope="15 parsers in turn, 30 to 5,000 inputs a batch, each at most 100 kB, 1 s of CPU, 200 MB",
    stage=_stage,
    small=16,
    full=6_000,
)
