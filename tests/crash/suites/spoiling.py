"""Ways in which bytes go bad: each takes the content of a file and gives it back spoiled. Pure; chance is handed in."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Spoil = Callable[[bytes, Random], bytes]
DATABASE_PAGE_BYTES = 4096


def flip(content: bytes, source: Random) -> bytes:
    """One bit, where something is written."""
    at = source.choice([n for n, byte in enumerate(content) if byte])
    return content[:at] + bytes([content[at] ^ 1 << source.randrange(8)]) + content[at + 1 :]


def cut(content: bytes, source: Random) -> bytes:
    return content[: source.randrange(len(content))]


def lose(content: bytes, source: Random) -> bytes:
    """All of it: nothing is left but the name."""
    return b""


def blank(content: bytes, source: Random) -> bytes:
    """Zeros, as a disk gives back what it never wrote."""
    at = source.choice([n for n, byte in enumerate(content) if byte])
    return content[:at] + bytes(len(content[at : at + 512])) + content[at + 512 :]


def garble(content: bytes, source: Random) -> bytes:
    """Anything else than what was there."""
    at = source.choice([n for n, byte in enumerate(content) if byte])
    spoiled = bytes((byte + source.randint(1, 255)) % 256 for byte in content[at : at + 64])
    return content[:at] + spoiled + content[at + 64 :]


def swap_pages(content: bytes, source: Random) -> bytes:
    """Two pages of a database in each other's place."""
    pages = [content[n : n + DATABASE_PAGE_BYTES] for n in range(0, len(content), DATABASE_PAGE_BYTES)]
    first, second = source.sample(range(1, len(pages)), 2)
    pages[first], pages[second] = pages[second], pages[first]
    return b"".join(pages)


IN_A_FILE: tuple[Spoil, ...] = (flip, flip, cut, blank, garble)
