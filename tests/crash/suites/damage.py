"""T12: bytes that were written well and are read back wrong: flipped, cut, swapped, gone.

Checkpoints and segments carry checksums: whatever is done to them is told, or their content is what it was.
"""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random

import msgspec

from crash.suites.kept import EXPORT, STATUS, VERIFY, copied, make_finished, said
from crash.suites.spoiling import IN_A_FILE, Spoil
from crash.suites.suite import Suite, Trial
from holdfast.cli.exits import CHECK_FAILED, OK
from holdfast.model.derived import Derived

BODIES = (
    "SELECT s.name, b.off, b.len, b.size, b.sha256, l.origin || t.path FROM body b JOIN segment s ON s.id = b.segment "
    "JOIN target t ON t.id = b.target JOIN lane l ON l.id = t.lane"
)
END_BYTES = 4  # of a WARC record
GZIP = 31


def spoil_checkpoint(data: Path, source: Random) -> tuple[str, str]:
    """One row of the chain; afterwards the newest whole one is shown, and verify names the chain."""
    with closing(sqlite3.connect(data / "ledger.db", isolation_level=None)) as ledger:
        rows = ledger.execute("SELECT number, doc, checksum FROM checkpoint ORDER BY number").fetchall()
        numbers = [row[0] for row in rows]
        way = source.choice(("document", "checksum", "swap", "delete"))
        chosen = source.sample(rows[:-1] if way == "delete" else rows, 2 if way == "swap" else 1)
        _spoil_rows(ledger, way, chosen, source)
    whole = set(numbers) - (set() if way == "delete" else {row[0] for row in chosen})
    fault = f"{way} of checkpoint {', '.join(str(row[0]) for row in chosen)} of {len(rows)}"
    return fault, _not_told_of_chain(data) or _not_fallen_back(data, max(whole))


def _spoil_rows(
    ledger: sqlite3.Connection, way: str, chosen: Sequence[tuple[int, bytes, bytes]], source: Random
) -> None:
    number, document, checksum = chosen[0]
    if way == "delete":
        ledger.execute("DELETE FROM checkpoint WHERE number = ?", (number,))
    elif way == "swap":
        for row, other in (chosen, chosen[::-1]):
            ledger.execute("UPDATE checkpoint SET doc = ?, checksum = ? WHERE number = ?", (*row[1:], other[0]))
    elif way == "document":
        spoiled = source.choice(IN_A_FILE)(document, source)
        ledger.execute("UPDATE checkpoint SET doc = ? WHERE number = ?", (spoiled, number))
    else:
        spoiled = source.choice(IN_A_FILE)(checksum, source)
        ledger.execute("UPDATE checkpoint SET checksum = ? WHERE number = ?", (spoiled, number))


def _not_told_of_chain(data: Path) -> str:
    code, words = said(data, VERIFY)
    return "" if code == CHECK_FAILED and "F3.chain" in words else f"verify: {code} {words}"


def _not_fallen_back(data: Path, newest: int) -> str:
    code, words = said(data, STATUS)
    shown = json.loads(words)["checkpoint"]["number"] if code == OK else words
    return "" if shown == newest else f"the newest whole checkpoint is {newest}, status says {shown}"


def spoil_segment(data: Path, source: Random) -> tuple[str, str]:
    """One file of bodies, or two in each other's place; verify --deep names each page that cannot be read."""
    files = sorted((data / "segments").rglob("*.warc.gz"))
    way: Spoil | str = source.choice((*IN_A_FILE, "swap", "delete", "members"))
    first, second = source.sample(files, 2)
    before, exported = first.read_bytes(), said(data, EXPORT)
    if way == "delete":
        first.unlink()
    elif way == "members":
        swap_members(data, source)
    elif way == "swap":
        first.write_bytes(second.read_bytes())
        second.write_bytes(before)
    else:
        assert callable(way)
        first.write_bytes(way(before, source))
    fault = f"{way if isinstance(way, str) else way.__name__} of a segment"
    return fault, not_told_of_pages(data) or _export_differs(data, *exported)


def _export_differs(data: Path, code: int, words: str) -> str:
    """It may differ only in the text of pages that cannot be read, which is null, and their number is told."""
    lost = set(unreadable(data))
    wanted = [json.loads(line) for line in words.splitlines() if line.startswith("{")]
    nothing = json.loads(msgspec.json.encode(Derived()))
    wanted = [{**page, **nothing} if page["url"] in lost else page for page in wanted]
    now, told = said(data, EXPORT)
    lines = [line for line in told.splitlines() if line.startswith("{")]
    rest = [line for line in told.splitlines() if not line.startswith("{")]
    if (now, [json.loads(line) for line in lines]) != (code, wanted):
        return f"the export differs: {now} {rest}"
    if lost:
        told_of = f"text is null for {len(lost)} page"
    else:  # else it tells of pages without a word, if there are any
        empty = sum(page["flags"] == ["empty"] for page in wanted)
        told_of = (
            f"not all pages could be derived whole; their field `flags` says which: empty ({empty})" if empty else ""
        )
    return "" if len(rest) == bool(told_of) and "".join(rest).startswith(told_of) else f"of {len(lost)} it told {rest}"


def swap_members(data: Path, source: Random) -> None:
    """Two pages of equal stored length in each other's place: every gzip member is whole, and two are wrong."""
    with closing(sqlite3.connect(data / "ledger.db")) as ledger:
        places = [(data / "segments" / row[0], row[1], row[2]) for row in ledger.execute(BODIES).fetchall()]
    first = source.choice([place for place in places if [other[2] for other in places].count(place[2]) > 1])
    second = source.choice([place for place in places if place[2] == first[2] and place != first])
    contents = [_put(place, b"") for place in (first, second)]
    _put(first, contents[1])
    _put(second, contents[0])


def _put(place: tuple[Path, int, int], content: bytes) -> bytes:
    """What lies there; and write something else in its place, where it is given."""
    file, offset, length = place
    before = file.read_bytes()
    if content:
        file.write_bytes(before[:offset] + content + before[offset + length :])
    return before[offset : offset + length]


def not_told_of_pages(data: Path) -> str:
    """The pages that verify names are exactly those that another reader cannot read either."""
    code, words = said(data, VERIFY)
    named = set(re.findall(r"T-\w+ (\S+): ", words))
    lost = set(unreadable(data))
    if named != lost:
        return f"unreadable are {sorted(lost)}, verify names {sorted(named)}: {words}"
    return "" if code == (CHECK_FAILED if lost else OK) else f"verify: {code} {words}"


def unreadable(data: Path) -> Iterator[str]:
    """URLs of bodies that do not have their sha256 any more, by a reader that shares no code with the program's."""
    with closing(sqlite3.connect(data / "ledger.db")) as ledger:
        for segment, offset, length, size, digest, url in ledger.execute(BODIES).fetchall():
            file = data / "segments" / segment
            stored = file.read_bytes()[offset : offset + length] if file.exists() else b""
            try:
                record = zlib.decompress(stored, GZIP)
            except zlib.error:
                yield url
                continue
            if sha256(record[-size - END_BYTES : -END_BYTES]).digest() != digest:
                yield url


KINDS = (spoil_checkpoint, spoil_segment)


@contextmanager
def _stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    finished = make_finished(folder)

    def play_one(place: Path, seed: int) -> Trial:
        fault, broken = KINDS[seed % len(KINDS)](copied(finished, place / "data"), Random(seed))
        return Trial(seed, fault, delivered=True, broken=broken)

    yield play_one


DAMAGE = Suite(
    name="T12",
    title="bytes of checkpoints and WARC segments flipped, cut, blanked, garbled, swapped, deleted",
    scope="a finished crawl of 60 pages in four runs, SQLite, bodies in many small segments",
    stage=_stage,
    small=50,
    full=20_000,
)
