"""The pool of one keyword: its images by number, and what is the matter with each of them.

The shares are those of the real web as earlier teams met it. Every label is made with the image, so that the oracle
knows what a perfect run makes of it without looking at a picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal

import msgspec

from holdfast.demo.faults import chance
from holdfast.demo.tidepool import Dice

Kind = Literal[
    "plain", "missing", "forbidden", "page", "tiny", "huge", "undecodable", "animated", "wrong_extension",
    "equal_bytes", "near_duplicate", "look_alike", "throttled", "redirect", "never_ends",
]  # fmt: skip
# Per thousand. "look_alike" is ours: a picture that a careless comparison takes for a copy of another one.
SHARES: dict[Kind, int] = {
    "missing": 80, "forbidden": 30, "page": 30, "tiny": 40, "huge": 20, "undecodable": 20, "animated": 15,
    "wrong_extension": 15, "equal_bytes": 50, "near_duplicate": 60, "look_alike": 40, "throttled": 20,
    "redirect": 20, "never_ends": 10,
}  # fmt: skip
# What becomes of it: disposition, and the reasons of which one is right. Where none is given, the picture decides:
# it is kept, or a duplicate.
FATES: dict[Kind, tuple[str, tuple[str, ...]]] = {
    "missing": ("failed", ("http_404",)),
    "forbidden": ("failed", ("http_403",)),
    "page": ("rejected", ("not_an_image",)),
    "tiny": ("rejected", ("too_few_bytes",)),
    "huge": ("rejected", ("too_many_bytes",)),
    "undecodable": ("rejected", ("undecodable", "truncated", "not_an_image")),
    "animated": ("rejected", ("animated",)),
    "never_ends": ("failed", ("network_timeout",)),
}
FORMATS = ("JPEG",) * 12 + ("PNG",) * 3 + ("WEBP",) * 2 + ("GIF", "BMP", "TIFF")
EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tiff"}
HOSTS = 8


class PoolImage(msgspec.Struct, frozen=True):
    """One image of a pool. `of` is the number of the one that it is a copy of, or only looks like."""

    keyword: str
    number: int
    kind: Kind
    format: str
    host: int
    of: int | None = None
    how: str = ""

    @property
    def family(self) -> int:
        """Entries of one family are duplicates of each other; of two look-alikes each is its own."""
        return self.of if self.of is not None and self.kind != "look_alike" else self.number

    @property
    def extension(self) -> str:
        written = "JPEG" if self.kind == "wrong_extension" else self.format
        return EXTENSIONS[written]


def make_pool(seed: int, keyword: str, size: int) -> tuple[PoolImage, ...]:
    """Each kind has exactly its share, rounded; which numbers have it depends on seed and keyword."""
    order = sorted(range(size), key=lambda number: chance(seed, "kind", keyword, number))
    kinds: dict[int, Kind] = dict.fromkeys(order, "plain")
    numbers = iter(order)
    for kind, share in SHARES.items():
        for number in islice(numbers, round(size * share / 1000)):
            kinds[number] = kind
    originals = iter([number for number in order if kinds[number] == "plain"])
    return tuple(_entry(seed, keyword, number, kinds[number], originals) for number in range(size))


def _entry(seed: int, keyword: str, number: int, kind: Kind, originals: Iterator[int]) -> PoolImage:
    from holdfast.demo.engines.pictures import COPIES, LOOK_ALIKES

    dice = Dice(seed, "entry", keyword, number)
    host, named = dice.number(0, HOSTS - 1), dice.one(FORMATS)
    of, how = None, ""
    if kind in ("equal_bytes", "near_duplicate", "look_alike"):
        of = next(originals)
        how = str(dice.one(LOOK_ALIKES)) if kind == "look_alike" else ""
        if kind == "near_duplicate":
            how = str(dice.one(COPIES))
            named = "JPEG" if how == "recompressed" else named
    if kind == "wrong_extension":
        named = "PNG"
    if kind == "animated":
        named = "GIF"
    return PoolImage(keyword, number, kind, named, host, of, how)
