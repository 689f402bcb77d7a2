"""How alike two pictures are: a 64-bit hash to find candidates by, and a small picture to decide with.

The hash alone cannot decide. It knows brightness in large shapes only: the same scene in other colours, or with another
object in it, is some bits away or none. So a pair within `DISTANCE_MAX` bits is compared by its small pictures: 16 × 16
brightnesses and 8 × 8 colours. Both are made of one decoded image, by Pillow and plain arithmetic (see decision 0070).

A picture with transparent parts has no looks of its own. It has two small pictures, on white and on black, and both
must be alike: on one ground alone, nobody sees what has the colour of that ground.
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
GROUNDS = ("white", "black")  # on which a picture with transparent parts is looked at
HASH_BITS = 64
_FREQUENCIES = 8
NOISE = 16.0  # four deviations of what rounding the 256 cells does to a frequency

DISTANCE_MAX = 7  # bits of 64; the index answers up to here by looking at 68 buckets
LUMA_MEAN_MAX = 4.0  # of 255, over all cells
LUMA_CELL_MAX = 28  # of 255, in the cell that differs most: another object is a large change in one place
COLOUR_CELL_MAX = 12


class Fingerprint(msgspec.Struct, frozen=True):
    """What is kept of a picture to know it again: 8 bytes of hash, 384 of signature for each ground that it needs."""

    phash: int
    signature: bytes

    def __post_init__(self) -> None:
        sizes = (SIGNATURE_BYTES, len(GROUNDS) * SIGNATURE_BYTES)
        if not 0 <= self.phash < 1 << HASH_BITS or len(self.signature) not in sizes:
            raise ValueError("no fingerprint: 64 bits and 384 bytes, or twice as many, make one")

    @property
    def hex(self) -> str:
        return f"{self.phash:016x}"

    @property
    def on_grounds(self) -> tuple[bytes, bytes]:
        """The small pictures on white and on black. An opaque picture is the same on both."""
        return self.signature[:SIGNATURE_BYTES], self.signature[-SIGNATURE_BYTES:]


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
    """Of a decoded RGB, L or RGBA image that stands upright. Equal pixels give equal fingerprints."""
    if image.mode == "RGBA":
        seen = [_signature(on_ground(image, ground)) for ground in GROUNDS]
        brightness = bytes(sum(pair) // len(pair) for pair in zip(*(one[:LUMA_BYTES] for one in seen), strict=True))
        return Fingerprint(_phash(brightness), b"".join(seen))
    signature = _signature(image if image.mode == "RGB" else image.convert("RGB"))
    return Fingerprint(_phash(signature[:LUMA_BYTES]), signature)


def on_ground(image: Image, colour: str) -> Image:
    """An RGBA picture as it looks on that colour."""
    from PIL import Image as pillow

    ground = pillow.new("RGBA", image.size, colour)
    ground.alpha_composite(image)
    return ground.convert("RGB")


def likeness(one: Fingerprint, other: Fingerprint) -> Likeness:
    """On the ground where they differ most."""
    pairs = list(dict.fromkeys(zip(one.on_grounds, other.on_grounds, strict=True)))
    differences = [[abs(a - b) for a, b in zip(*pair, strict=True)] for pair in pairs]
    luma, colour = [each[:LUMA_BYTES] for each in differences], [each[LUMA_BYTES:] for each in differences]
    return Likeness(
        distance=(one.phash ^ other.phash).bit_count(),
        luma_mean=max(map(sum, luma)) / LUMA_BYTES,
        luma_cell=max(map(max, luma)),
        colour_cell=max(map(max, colour)),
    )


def _signature(plain: Image) -> bytes:
    from PIL.Image import Resampling

    cells = plain.resize((SIDE, SIDE), Resampling.BOX).convert("YCbCr")
    luma, blue, red = cells.split()
    colours = [band.resize((COLOUR_SIDE, COLOUR_SIDE), Resampling.BOX).tobytes() for band in (blue, red)]
    return luma.tobytes() + b"".join(colours)


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
