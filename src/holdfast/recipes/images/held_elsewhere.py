"""Images that other jobs keep, so that a job can leave them out: an index by URL, by bytes and by looks.

The index only finds which of those images a candidate may be a copy of; their records are then read from the ledger
and decide, as those of the job's own images do. So a million of them need some 130 MB, and no signatures in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from hashlib import blake2b, sha256

import msgspec

from holdfast.recipes.images.duplicates import HashIndex

_LOWER = (1 << 32) - 1  # of an entry: its place; above it 32 bits of its key, behind those of the bucket
_UPPER = _LOWER << 32


class ForeignImage(msgspec.Struct, frozen=True):
    """Of an image's record, what is needed to know it again."""

    url: str
    sha256: str
    phash: str
    signature: bytes = b""


class HeldImage(msgspec.Struct, frozen=True):
    """An image that another job keeps: the job's id, the target in this ledger, and what it looks like."""

    job: str
    target: int
    image: ForeignImage

    @property
    def name(self) -> str:
        """As duplicates name it: `holdfast explain` takes both words."""
        return f"{self.job} {self.image.url}"


class KeyIndex:
    """Places by 64-bit keys, of which 48 bits are kept: 8 bytes an entry, and 65,536 buckets."""

    def __init__(self) -> None:
        self._buckets: dict[int, array[int]] = {}

    def add(self, key: int, place: int) -> None:
        self._buckets.setdefault(key >> 48, array("Q")).append((key << 16 & _UPPER) | place)

    def places(self, key: int) -> Iterator[int]:
        """Those of the key, and now and then one of another."""
        part = key << 16 & _UPPER
        return (one & _LOWER for one in self._buckets.get(key >> 48, ()) if one & _UPPER == part)


class HeldIndex:
    """The images of one other job, found by what a candidate shows of itself; `digest` tells one set from another."""

    def __init__(self) -> None:
        self._looks = HashIndex()
        self._keys = KeyIndex()
        self._targets = array("Q")
        self._digest = sha256()

    def __len__(self) -> int:
        return len(self._looks)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def add(self, target: int, image: ForeignImage) -> None:
        """In the order of their targets: the digest depends on it."""
        place = len(self._targets)
        self._targets.append(target)
        self._looks.add(int(image.phash, 16), target)
        self._keys.add(_url_key(image.url), place)
        self._keys.add(_bytes_key(image.sha256), place)
        self._digest.update(f"{image.url}\n{image.sha256} {image.phash}\n".encode())

    def by_url(self, url: str) -> Iterator[int]:
        """Targets that may have this URL: two URLs may share a key."""
        return (self._targets[place] for place in self._keys.places(_url_key(url)))

    def like(self, digest: str, phash: int) -> Iterator[int]:
        """Targets that may have these bytes, or look like it."""
        yield from (self._targets[place] for place in self._keys.places(_bytes_key(digest)))
        yield from (target for target, _ in self._looks.near(phash))


def read_image(record: bytes) -> ForeignImage:
    """Of the record of a kept image; its other fields are not decoded."""
    return msgspec.json.decode(record, type=ForeignImage)


def _url_key(url: str) -> int:
    return int.from_bytes(blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _bytes_key(digest: str) -> int:
    return int(digest[:16], 16)
