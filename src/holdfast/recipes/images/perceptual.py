"""How alike two pictures are: a 64-bit hash to find candidates by, and a small picture to decide with.

The hash alone cannot decide. It knows brightness in large shapes only: the same scene in other colours, or with another
object in it, is some bits away or none. So a pair within `DISTANCE_MAX` bits is compared by its small pictures: 16 × 16
brightnesses and 8 × 8 colours. Both are made of one decoded image, by Pillow and plain arithmetic (see decision 0070).
"""

from __future__ import annotations

import math
from operator import mul
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 16
COLOUR_SIDE = 8
LUMA_BYTES = SIDE * SIDE
SIGNATURE_BYTES = LUMA_BYTES + 2 * COLOUR_SIDE * COLOUR_SIDE
HASH_BITS = 64
_FREQUENCIES = 8
NOISE = 16.0  # four deviations of what rounding the 256 cells does to a frequency

DISTANCE_MAX = 7  # bits of 64; the index answers up to here by looking at 68 buckets
LUMA_MEAN_MAX = 4.0  # of 255, over all cells
LUMA_CELL_MAX = 28  # of 255, in the cell that differs most: another object is a large change in one place
COLOUR_CELL_MAX = 12


class Fingerprint(msgspec.Struct, frozen=True):
    """What is kept of a picture to know it again: 8 bytes of hash, 384 of signature."""

    phash: int
    signature: bytes

    def __post_init__(self) -> None:
        if not 0 <= self.phash < 1 << HASH_BITS or len(self.signature) != SIGNATURE_BYTES:
            raise ValueError("no fingerprint: 64 bits and 384 bytes make one")

    @property
    def hex(self) -> str:
        return f"{self.phash:016x}"


class Likeness(msgspec.Struct, frozen=True):
    """How two fingerprints compare. `score` is 1.0 for equal ones; lower means less alike."""

    distance: int
    luma_mean: float
    luma_cell: int
    colour_cell: int

    @property
    def score(self) -> float:
        return round(1.0 - self.distance / HASH_BITS, 4)

    @property
    def is_duplicate(self) -> bool:
        return (
            self.distance <= DISTANCE_MAX
            and self.luma_mean <= LUMA_MEAN_MAX
            and self.luma_cell <= LUMA_CELL_MAX
            and self.colour_cell <= COLOUR_CELL_MAX
        )


def fingerprint(image: Image) -> Fingerprint:
    """Of a decoded RGB or L image that stands upright. Equal pixels give equal fingerprints."""
    from PIL.Image import Resampling

    plain = image if image.mode == "RGB" else image.convert("RGB")
    cells = plain.resize((SIDE, SIDE), Resampling.BOX).convert("YCbCr")
    luma, blue, red = cells.split()
    colours = [band.resize((COLOUR_SIDE, COLOUR_SIDE), Resampling.BOX).tobytes() for band in (blue, red)]
    brightness = luma.tobytes()
    return Fingerprint(_phash(brightness), brightness + b"".join(colours))


def likeness(one: Fingerprint, other: Fingerprint) -> Likeness:
    differences = [abs(a - b) for a, b in zip(one.signature, other.signature, strict=True)]
    luma, colour = differences[:LUMA_BYTES], differences[LUMA_BYTES:]
    return Likeness(
        distance=(one.phash ^ other.phash).bit_count(),
        luma_mean=sum(luma) / LUMA_BYTES,
        luma_cell=max(luma),
        colour_cell=max(colour),
    )


def _phash(luma: bytes) -> int:
    """One bit per frequency of the cosine transform: clearly above the median or not. The mean brightness is left out.

    In a flat picture most frequencies are nothing but coding noise around the median: without the margin, two copies of
    a dark wallpaper were 24 bits apart.
    """
    rows = [luma[at : at + SIDE] for at in range(0, LUMA_BYTES, SIDE)]
    across = [[_dot(wave, row) for wave in _WAVES] for row in rows]
    columns = list(zip(*across, strict=True))
    frequencies = [_dot(wave, column) for wave in _WAVES for column in columns][1:]
    frequencies.append(_dot(_NINTH, columns[0]))  # in place of the mean, so that there are 64
    middle = sorted(frequencies)[HASH_BITS // 2] + NOISE
    bits = 0
    for frequency in frequencies:
        bits = bits << 1 | (frequency > middle)
    return bits


def _dot(wave: tuple[float, ...], values: bytes | tuple[float, ...]) -> float:
    return float(sum(map(mul, wave, values)))


def _wave(frequency: int) -> tuple[float, ...]:
    return tuple(math.cos(math.pi * frequency * (2 * at + 1) / (2 * SIDE)) for at in range(SIDE))


_WAVES = tuple(_wave(frequency) for frequency in range(_FREQUENCIES))
_NINTH = _wave(_FREQUENCIES)
