"""Inputs that nobody would write, made from good ones: bent, cut, joined, blown up. Pure; chance is handed in.

Parsers that hold against noise fall for size at one place: thousands of digits where two are usual, a run of spaces
behind a `=`. So what is repeated is often one character, and often very many times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

INPUT_BYTES_MAX = 100_000
CHANGES_MAX = 4
TIMES = (2, 3, 10, 100, 1_000, 5_000, 20_000, 60_000)
SLICE_BYTES_MAX = 40
EVERYWHERE = (
    b"\0", b"\n", b"\r\n", b" ", b"\t", b"\x0b", b"\x1f", b"\x7f", b"\xa0", b"\xff", b"\xc3\xa9", b"\xe2\x80\xa8",
    b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf0\x9f\x90\xb8", b"\xd9\xa3", b"'", b'"', b"\\", b"/", b"..", b"%", b"%00",
    b"%zz", b"&", b"<", b">", b"*", b"[", b"]", b"{", b"}", b"(", b")", b":", b";", b",", b"=", b"-", b"+", b"0", b"-1",
    b"1e999", b"nan", b"9223372036854775808", b"null",
)  # fmt: skip
_RUN = re.compile(rb"[\w:/.?%+-]+")

Change = Callable[[bytes, Random], bytes]


def mutated(seeds: Sequence[bytes], words: Sequence[bytes], source: Random) -> bytes:
    """One of the seeds after a few changes, within the size that a trial allows."""
    made = source.choice(seeds)
    for _ in range(source.randint(1, CHANGES_MAX)):
        kind = source.randrange(len(CHANGES) + 2)
        if kind < len(CHANGES):
            made = CHANGES[kind](made, source)
        elif kind == len(CHANGES):
            made = _put(made, source.choice((*words, *EVERYWHERE)), source)
        else:
            made = _joined(made, source.choice(seeds), source)
    return made[:INPUT_BYTES_MAX]


def bend(content: bytes, source: Random) -> bytes:
    """One byte becomes another."""
    at = source.randrange(len(content) + 1)
    return content[:at] + bytes([source.randrange(256)]) + content[at + 1 :]


def drop(content: bytes, source: Random) -> bytes:
    at, end = _slice(content, source)
    return content[:at] + content[end:]


def hollow(content: bytes, source: Random) -> bytes:
    """What stands between two marks is gone, as in `""`, `<loc></loc>` and `a=;`."""
    runs = list(_RUN.finditer(content))
    if not runs:
        return content
    run = source.choice(runs)
    return content[: run.start()] + content[run.end() :]


def cut(content: bytes, source: Random) -> bytes:
    return content[: source.randrange(len(content) + 1)]


def move(content: bytes, source: Random) -> bytes:
    at, end = _slice(content, source)
    return _put(content[:at] + content[end:], content[at:end], source)


def repeat(content: bytes, source: Random) -> bytes:
    """A slice many times over, where it stands."""
    at, end = _slice(content, source)
    return content[:at] + content[at:end] * source.choice(TIMES[:5]) + content[end:]


def stretch(content: bytes, source: Random) -> bytes:
    """One character many times over: the one that stands there, or any other."""
    at = source.randrange(len(content) + 1)
    piece = source.choice((content[at : at + 1], content[at : at + 1], source.choice(EVERYWHERE)))
    return content[:at] + piece * source.choice(TIMES) + content[at:]


CHANGES: tuple[Change, ...] = (bend, drop, hollow, cut, move, repeat, stretch, stretch)


def _slice(content: bytes, source: Random) -> tuple[int, int]:
    at = source.randrange(len(content) + 1)
    return at, at + source.randint(1, SLICE_BYTES_MAX)


def _put(content: bytes, piece: bytes, source: Random) -> bytes:
    at = source.randrange(len(content) + 1)
    return content[:at] + piece + content[at:]


def _joined(content: bytes, other: bytes, source: Random) -> bytes:
    return content[: source.randrange(len(content) + 1)] + other[source.randrange(len(other) + 1) :]
