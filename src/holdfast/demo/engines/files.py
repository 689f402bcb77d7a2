"""The bytes behind every entry of a pool, made when they are first asked for and kept in a bounded cache."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from holdfast.demo.engines import pictures
from holdfast.demo.engines.pool import PoolImage
from holdfast.demo.tidepool import Dice

CACHE_BYTES_MAX = 64 * 1024 * 1024
HUGE_BYTES = 50_600_000  # more than an answer may have by default
BLOCK_PAGE = b"<!doctype html><title>Hotlinking</title><p>This picture is shown on its own page only.</p>\n" * 20


class PictureFiles:
    """Thread-safe: the world makes pictures beside its event loop."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._kept: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def body(self, entry: PoolImage, pool: tuple[PoolImage, ...]) -> bytes:
        """What a request for the entry is answered with, if it is answered at all."""
        if entry.kind == "equal_bytes" and entry.of is not None:
            return self.body(pool[entry.of], pool)
        key = (entry.keyword, entry.number)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = self._made(entry, pool)
        if len(made) > CACHE_BYTES_MAX // 4:  # else one file would take the place of all others
            return made
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._bytes += len(made)
            while self._bytes > CACHE_BYTES_MAX and len(self._kept) > 1:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return made

    def _made(self, entry: PoolImage, pool: tuple[PoolImage, ...]) -> bytes:
        dice = Dice(self._seed, "file", entry.keyword, entry.number)
        about = (entry.keyword, entry.number if entry.of is None else entry.of)
        match entry.kind:
            case "page":
                return BLOCK_PAGE
            case "tiny":
                return pictures.encoded(pictures.scene(self._seed, *about).resize((12, 12)), "JPEG", 30)
            case "look_alike":
                how = next(way for way in pictures.LOOK_ALIKES if way == entry.how)
                return pictures.encoded(pictures.look_alike(how, self._seed, *about), entry.format)
            case "near_duplicate":
                return self._copy(entry, about, dice)
            case "animated":
                return pictures.animation(pictures.scene(self._seed, *about), self._seed, *about)
            case _:
                whole = pictures.encoded(pictures.scene(self._seed, *about), entry.format)
                return _damaged(entry, whole, dice)

    def _copy(self, entry: PoolImage, about: tuple[object, ...], dice: Dice) -> bytes:
        how = next(way for way in pictures.COPIES if way == entry.how)
        copied, quality = pictures.copy_of(how, pictures.scene(self._seed, *about), dice)
        return pictures.encoded(copied, entry.format, quality)


def _damaged(entry: PoolImage, whole: bytes, dice: Dice) -> bytes:
    match entry.kind:
        case "undecodable" if dice.number(0, 1):
            return whole[: len(whole) // 2]  # cut off, and sent as if it were whole
        case "undecodable":
            return whole[:8] + bytes(dice.number(0, 255) for _ in range(4_000))
        case "huge":
            return whole + bytes(max(0, HUGE_BYTES - len(whole)))
        case _:
            return whole
