"""An order by a seed that no version of Python changes."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


def shuffled(words: Iterable[str], seed: int) -> list[str]:
    """By the hash of each word with the seed: a word more or less leaves the order of the others as it is."""
    return sorted(words, key=lambda word: blake2b(f"{seed}\0{word}".encode(), digest_size=16).digest())
