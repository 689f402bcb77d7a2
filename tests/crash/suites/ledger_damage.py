"""T12, the ledger file: bytes of ledger.db or of its -wal go bad. No command may crash or hang.

SQLite has no checksums of its own in ledger.db, and takes a bad frame of the -wal for its end. So not every damage can
be told. What is told, what changed nothing, and what was silent stands in the words of each trial, to be counted.
Keys are salted, so every ledger is laid out anew: a broken trial is repeated from its folder, not from its seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from crash.suites.kept import COMMANDS, EXPORT, copied, make_finished, make_unfinished, said
from crash.suites.spoiling import Spoil, blank, cut, flip, garble, lose, swap_pages
from crash.suites.suite import Suite, Trial
from holdfast.cli.exits import UNEXPECTED

Told = dict[tuple[str, ...], tuple[int, str]]


@dataclass(frozen=True)
class Kept:
    """A data folder as it should be, and what every command that reads says of it."""

    data: Path
    calm: Told

    @classmethod
    def of(cls, data: Path, folder: Path) -> Kept:
        calm = told(copied(data, folder / f"calm-{data.name}"))
        assert {code for code, _ in calm.values()} == {0}, calm
        return cls(data, calm)


def _pages(said_of: Told) -> set[str]:
    return {line for line in said_of[EXPORT][1].splitlines() if line.startswith("{")}


def told(data: Path) -> Told:
    return {words: said(data, words) for words in COMMANDS}


def spoiled(kept: Kept, place: Path, name: str, way: Spoil, source: Random) -> tuple[str, str]:
    """What came of it in one word, and what may not be."""
    data = copied(kept.data, place / "data")
    file = data / name
    file.write_bytes(way(file.read_bytes(), source))
    now = told(data)
    crashed = [words for code, words in now.values() if code == UNEXPECTED]
    if crashed:
        return "crashed", crashed[0]
    if any(code for code, _ in now.values()):
        return "told", ""
    if now == kept.calm:
        return "nothing changed", ""
    strange = _pages(now) - _pages(kept.calm)
    if name.endswith("-wal"):  # an earlier state is what a crash may leave; pages that never were are not
        return "an earlier state", f"the -wal gave {sorted(strange)}" if strange else ""
    return "silent", ""


FINISHED = (flip, flip, flip, blank, garble, cut, swap_pages)
UNFINISHED = (flip, cut, garble, lose)


@contextmanager
def _stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    finished = Kept.of(make_finished(folder), folder)
    unfinished = Kept.of(make_unfinished(folder), folder)

    def play_one(place: Path, seed: int) -> Trial:
        source = Random(seed)
        kept, name, ways = (
            (unfinished, "ledger.db-wal", UNFINISHED) if seed % 4 == 3 else (finished, "ledger.db", FINISHED)
        )
        way = source.choice(ways)
        came, broken = spoiled(kept, place, name, way, source)
        return Trial(seed, f"{way.__name__} of {name}: {came}", delivered=True, broken=broken)

    yield play_one


LEDGER_DAMAGE = Suite(
    name="T12-ledger",
    title="bytes of the ledger file or its -wal flipped, cut, blanked, garbled, swapped: no crash",
    scope="a finished and an unfinished crawl of 60 pages, SQLite; silent damage is counted, not excluded",
    stage=_stage,
    small=16,
    full=20_000,
)
