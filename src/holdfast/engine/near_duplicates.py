"""Pages with nearly the same text as an earlier page, each with that earlier one. Sorted on disk; memory stays flat.

A text is known by 64 bits (simhash over runs of three words): texts that share most of their words differ in few of
them. Two texts within `BITS_MAX` bits have at least one of four quarters in common, so only texts that share a quarter
are compared.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter

from holdfast.engine.duplicates import Content, InOrder

NEAR_DUPLICATE = "near_duplicate_of"
BITS_MAX = 3
WORDS_MIN = 24  # shorter texts say too little to be told apart
SHINGLE = 3
SHINGLES_MAX = 20_000
COMPARED_MAX = 200  # with so many earlier texts of the same quarter
BANDS, BAND_BYTES = 4, 2
_LANE = 32  # bits of a counter: one integer counts all bits at once
_WORDS = re.compile(r"\w+")
_SPREAD = tuple(sum(1 << (_LANE * bit) for bit in range(8) if byte >> bit & 1) for byte in range(256))


def simhash(text: str) -> bytes:
    """The 64 bits of a text, big-endian; empty of one with too few words."""
    words = _WORDS.findall(text.casefold())
    if len(words) < WORDS_MIN:
        return b""
    shingles = {" ".join(words[at : at + SHINGLE]) for at in range(min(len(words) - SHINGLE + 1, SHINGLES_MAX))}
    lanes = [0] * 8
    for shingle in shingles:
        for at, byte in enumerate(blake2b(shingle.encode(), digest_size=8).digest()):
            lanes[at] += _SPREAD[byte]
    half, mask = len(shingles) / 2, (1 << _LANE) - 1
    return bytes(sum(1 << bit for bit in range(8) if (lane >> (_LANE * bit)) & mask > half) for lane in lanes)


def near_copies(texts: Iterable[Content], in_order: InOrder) -> Iterator[Content]:
    """By target: those whose text is nearly that of an earlier one, with the URL of the first of these. `texts` are the
    simhash, target and URL of each result; one without a hash is not compared."""
    pairs = _pairs(in_order(_banded(texts), itemgetter(0, 1)))
    for _, found in groupby(in_order(pairs, itemgetter(1)), itemgetter(1)):
        yield min(found, key=itemgetter(0))


def _banded(texts: Iterable[Content]) -> Iterator[Content]:
    """Each text once per quarter of its hash, led by the quarter; the whole hash goes with its URL."""
    for digest, target, url in texts:
        for band in range(BANDS if digest else 0):
            quarter = digest[band * BAND_BYTES : (band + 1) * BAND_BYTES]
            yield bytes([band]) + quarter, target, digest.hex() + url


def _pairs(banded: Iterable[Content]) -> Iterator[Content]:
    """The number of the earlier target as bytes, the later target, the URL of the earlier one."""
    for _, same in groupby(banded, itemgetter(0)):
        firsts: deque[tuple[int, int, str]] = deque(maxlen=COMPARED_MAX)
        for _, target, packed in same:
            digest, url = int(packed[:16], 16), packed[16:]
            near = next((first for first in firsts if (first[0] ^ digest).bit_count() <= BITS_MAX), None)
            if near is None:
                firsts.append((digest, target, url))
            else:
                yield near[1].to_bytes(8, "big"), target, near[2]
