"""Which images of a keyword are kept: the fixed order of judging, and an index of hashes that answers by distance.

The rule. Candidates of one keyword are judged one after another, in the order of `plan.judging_order`, and only when
every candidate before them is settled for good. A candidate is compared with the kept ones alone: equal bytes first,
then likeness, and of several kept ones that are alike the first kept is named. So what is kept depends on what the
engines and hosts answered, and on nothing else: no crash, no number of workers and no order of arrival changes it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from holdfast.recipes.images.perceptual import DISTANCE_MAX, Fingerprint, likeness
from holdfast.recipes.images.validation import Validation

BANDS = 4
BAND_BITS = 16
BAND_MASK = (1 << BAND_BITS) - 1

Dedupe = Literal["exact", "perceptual"]
Disposition = Literal["image", "duplicate", "rejected", "surplus"]


class HashIndex:
    """64-bit hashes by Hamming distance, exact up to `distance_max` ≤ 7, without a look at every entry.

    A hash is cut into 4 bands of 16 bits. Two hashes with at most 7 different bits differ in at most one bit in one of
    the bands, so it is enough to look into the 17 buckets around each band: 68 buckets, some 1,000 of 1,000,000
    entries. About 100 bytes an entry, all in memory.
    """

    def __init__(self, distance_max: int = DISTANCE_MAX) -> None:
        if not 0 <= distance_max < 2 * BANDS:
            raise ValueError(f"the index answers distances of 0 to {2 * BANDS - 1}, not {distance_max}")
        self._distance_max = distance_max
        self._hashes = array("Q")
        self._numbers = array("Q")
        self._buckets: tuple[dict[int, array[int]], ...] = tuple({} for _ in range(BANDS))
        self._flips = (0, *(1 << bit for bit in range(BAND_BITS))) if distance_max >= BANDS else (0,)

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, phash: int, number: int) -> None:
        """`number` is the caller's name for it; the same hash may be added under many."""
        place = len(self._hashes)
        self._hashes.append(phash)
        self._numbers.append(number)
        for band, buckets in enumerate(self._buckets):
            bits = phash >> band * BAND_BITS & BAND_MASK
            bucket = buckets.get(bits)
            if bucket is None:
                buckets[bits] = array("I", (place,))
            else:
                bucket.append(place)

    def near(self, phash: int) -> list[tuple[int, int]]:
        """(number, distance) of every entry within `distance_max`, in the order in which they were added."""
        hashes, farthest = self._hashes, self._distance_max
        places: set[int] = set()
        for band, buckets in enumerate(self._buckets):
            bits = phash >> band * BAND_BITS & BAND_MASK
            for flip in self._flips:
                bucket = buckets.get(bits ^ flip)
                if bucket is not None:
                    places.update(place for place in bucket if (hashes[place] ^ phash).bit_count() <= farthest)
        return [(self._numbers[place], (hashes[place] ^ phash).bit_count()) for place in sorted(places)]


class KeptImage(msgspec.Struct, frozen=True):
    """One kept image as the judge remembers it. `order` is its place among the candidates (`plan.judging_order`).

    `name` is the caller's word for it, such as its URL; duplicates name it by that.
    """

    order: int
    name: str
    sha256: str
    phash: int
    signature: bytes


class Judgement(msgspec.Struct, frozen=True):
    """What becomes of a candidate. A duplicate names the kept image, how it was recognised, and how alike they are."""

    disposition: Disposition
    reasons: tuple[str, ...] = ()
    duplicate_of: str = ""
    detection_method: Literal["", "content", "perceptual", "url"] = ""
    distance: int | None = None
    similarity_score: float | None = None


class Judge:
    """Judges the candidates of one keyword in their order. Its whole memory is the kept images.

        judge = Judge(wanted=100)
        for kept in ledger_rows:           # after a restart: what was kept, in any order
            judge.remember(kept)
        verdict = judge.judge(order, name, sha256, validation)

    About 800 bytes an image. A judge must not be shared by keywords, nor asked out of order.
    """

    def __init__(self, wanted: int, dedupe: Dedupe = "perceptual") -> None:
        self._wanted = wanted
        self._dedupe = dedupe
        self._by_hash: dict[str, KeptImage] = {}
        self._by_number: list[KeptImage] = []
        self._elsewhere = 0
        self._index = HashIndex()
        self._last = -1

    @property
    def kept(self) -> int:
        return len(self._by_number) - self._elsewhere

    @property
    def is_full(self) -> bool:
        """As many are kept as were wanted: every later candidate is `surplus` and need not be fetched."""
        return self.kept >= self._wanted

    def remember(self, kept: KeptImage) -> None:
        """Take back what an earlier run kept. It is compared with nothing: it was judged when its turn was."""
        if kept.sha256 in self._by_hash:
            raise ValueError(f"{kept.name} is remembered twice")
        self._by_hash[kept.sha256] = kept
        self._index.add(kept.phash, len(self._by_number))
        self._by_number.append(kept)
        self._last = max(self._last, kept.order)

    def hold(self, elsewhere: Sequence[KeptImage]) -> None:
        """Images that other jobs keep, in the order in which they are named; before anything is remembered or judged.

        They are compared with, before those of this keyword, and not counted.
        """
        for place, held in enumerate(elsewhere):
            self._by_hash.setdefault(held.sha256, held)
            self._index.add(held.phash, place)
            self._by_number.append(replace(held, order=place - len(elsewhere)))
        self._elsewhere = len(elsewhere)

    def judge(self, order: int, name: str, sha256: str, found: Validation) -> Judgement:
        """Keep the candidate, or say why not. ValueError for one that comes after its turn."""
        if order <= self._last:
            raise ValueError(f"{name} is judged out of order: {order} after {self._last}")
        self._last = order
        if self.is_full:
            return Judgement("surplus")
        if not found.is_valid or found.phash is None:
            return Judgement("rejected", found.errors)
        duplicate = self.copy_of(name, sha256, found)
        if duplicate is not None:
            return duplicate
        self.remember(KeptImage(order, name, sha256, found.phash, found.signature))
        return Judgement("image")

    def copy_of(self, name: str, sha256: str, found: Validation) -> Judgement | None:
        """Of which kept image this is a copy, where it is not its turn any more; nothing is remembered."""
        if found.phash is None:
            return None
        candidate = KeptImage(self._last, name, sha256, found.phash, found.signature)
        return self._equal(candidate) or (self._alike(candidate) if self._dedupe == "perceptual" else None)

    def _equal(self, candidate: KeptImage) -> Judgement | None:
        kept = self._by_hash.get(candidate.sha256)
        return None if kept is None else Judgement("duplicate", (), kept.name, "content", 0, 1.0)

    def _alike(self, candidate: KeptImage) -> Judgement | None:
        mark = Fingerprint(candidate.phash, candidate.signature)
        for kept in self._near(candidate.phash):
            alike = likeness(mark, Fingerprint(kept.phash, kept.signature))
            if alike.is_duplicate:
                return Judgement("duplicate", (), kept.name, "perceptual", alike.distance, alike.score)
        return None

    def _near(self, phash: int) -> Iterator[KeptImage]:
        """In the order of judging, which after `remember` need not be the order of the index."""
        kept = [self._by_number[number] for number, _ in self._index.near(phash)]
        yield from sorted(kept, key=lambda one: one.order)
