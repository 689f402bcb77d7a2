"""How well duplicates are told from look-alikes, on pictures the thresholds were not chosen by; and how fast.

    python -m bench.duplicates FOLDER      every photograph in the folder, its derived copies and its look-alikes
    python -m bench.duplicates --index     the index of hashes at 1,000,000 entries

Copies must be found, look-alikes and other photographs must not be merged. A picture that is in the folder twice counts
once; one that is there in two sizes should be taken out first, or it counts as a mistake.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import time
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageEnhance

from holdfast.recipes.images.duplicates import HashIndex
from holdfast.recipes.images.perceptual import DISTANCE_MAX, Fingerprint, likeness
from holdfast.recipes.images.validation import Rules, validate

SIDE_MIN, SIDE_MAX = 200, 480  # smaller ones are rejected before anything is compared
RULES = Rules(bytes_min=1, bytes_max=1 << 30, width_min=1, height_min=1)
VISIBLE = 32  # of 255, in the part of 1/32 of both sides that differs most
ENTRIES = 1_000_000
ASKS = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.duplicates", description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--entries", type=int, default=ENTRIES)
    options = parser.parse_args()
    if options.index:
        measure_index(options.entries)
    if options.folder:
        judge_folder(options.folder, options.half)


def judge_folder(folder: Path, half: int | None) -> None:
    """`half` 0 or 1 takes every other photograph: one half to choose thresholds by, the other to judge them by."""
    marks: dict[str, Fingerprint] = {}
    found: Counter[tuple[str, str, bool]] = Counter()
    for number, path in enumerate(sorted(folder.rglob("*.*"))):
        picture = _photograph(path) if half is None or number % 2 == half else None
        if picture is None:
            continue
        mark = _mark(_written(picture, "PNG"))
        if mark in marks.values():
            continue  # the same wallpaper under two names
        marks[path.name] = mark
        for kind, name, body in derived(picture):
            alike = likeness(mark, _mark(body))
            found[kind, name, alike.is_duplicate] += 1
            if (kind == "copy") != alike.is_duplicate and kind != "stronger":
                print(f"  {kind}, {name}: {path.name} {alike}")
    merged = _merged(marks)
    right, missed = _sum(found, "copy", True), _sum(found, "copy", False)
    wrong = _sum(found, "look-alike", True) + merged
    for (kind, name, is_duplicate), count in sorted(found.items()):
        print(f"{kind:11} {name:20} {'merged' if is_duplicate else 'kept apart':10} {count}")
    print(f"{len(marks)} photographs, {len(marks) * (len(marks) - 1) // 2} pairs, {merged} of them merged")
    print(f"precision {right / (right + wrong):.4f}  recall {right / (right + missed):.4f}")


def _merged(marks: dict[str, Fingerprint]) -> int:
    merged = 0
    for (one, first), (other, second) in combinations(marks.items(), 2):
        if (first.phash ^ second.phash).bit_count() > DISTANCE_MAX:
            continue
        alike = likeness(first, second)
        if alike.is_duplicate:
            merged += 1
            print(f"  merged: {one} and {other} {alike}")
    return merged


def derived(picture: Image.Image) -> Iterator[tuple[str, str, bytes]]:
    """(kind, name, file): `copy` must be found, `look-alike` must not; `stronger` edits are only reported."""
    width, height = picture.size
    for share in (0.5, 0.75, 1.5):
        size = (round(width * share), round(height * share))
        if min(size) < SIDE_MIN:
            continue
        yield "copy", f"resized {share}", _written(picture.resize(size, Image.Resampling.LANCZOS), "JPEG", 85)
    for quality in (25, 50, 75):
        yield "copy", f"quality {quality}", _written(picture, "JPEG", quality)
    yield "copy", "one row cropped", _written(picture.crop((0, 1, width, height)), "JPEG", 90)
    yield "copy", "webp", _written(picture, "WEBP", 60)
    yield "stronger", "256 colours", _written(picture.quantize(256), "PNG")
    yield "stronger", "2 % cropped", _written(picture.crop((width // 50, height // 50, width, height)), "JPEG", 90)
    yield "stronger", "5 % brighter", _written(ImageEnhance.Brightness(picture).enhance(1.05), "JPEG", 90)
    yield "stronger", "in grey", _written(picture.convert("L").convert("RGB"), "JPEG", 90)
    red, green, blue = picture.split()
    others = {
        "mirrored": picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        "other object": _with_object(picture),
        "other colours": Image.merge("RGB", (blue, red, green)),
    }
    for name, other in others.items():
        if _differ(picture, other):
            yield "look-alike", name, _written(other, "JPEG", 90)


def _differ(one: Image.Image, other: Image.Image) -> bool:
    """Whether people see a difference: a grey picture in other colours and a disk mirrored are what they were."""
    difference = ImageChops.difference(one, other).resize((32, 32), Image.Resampling.BOX)
    return max(max(band.getextrema()) for band in difference.split()) > VISIBLE


def measure_index(entries: int = ENTRIES) -> None:
    """Hashes at random, and asks half of which are a few bits away from one that is there."""
    dice = random.Random(7)
    before = _rss_mb()
    index = HashIndex(DISTANCE_MAX)
    hashes = [dice.getrandbits(64) for _ in range(entries)]
    began = time.thread_time()
    for number, phash in enumerate(hashes):
        index.add(phash, number)
    filled_s = time.thread_time() - began
    asks = [phash ^ (1 << dice.randrange(64)) for phash in dice.sample(hashes, ASKS // 2)]
    asks += [dice.getrandbits(64) for _ in range(ASKS // 2)]
    del hashes
    times: list[float] = []
    for phash in asks:
        began = time.thread_time()
        list(index.near(phash))
        times.append(time.thread_time() - began)
    times.sort()
    print(f"{entries} entries added in {filled_s:.1f} s; {_rss_mb() - before:.0f} MB, 40 of them the test's own")
    print(f"ask: median {times[ASKS // 2] * 1e3:.3f} ms, p99 {times[ASKS * 99 // 100] * 1e3:.3f} ms")


def _photograph(path: Path) -> Image.Image | None:
    try:
        with Image.open(path) as image:
            image.draft("RGB", (SIDE_MAX, SIDE_MAX))
            image.thumbnail((SIDE_MAX, SIDE_MAX))
            rgba = image.convert("RGBA")
    except OSError:
        return None
    ground = Image.new("RGBA", rgba.size, "white")
    ground.alpha_composite(rgba)
    return ground.convert("RGB") if min(rgba.size) >= SIDE_MIN else None


def _with_object(picture: Image.Image) -> Image.Image:
    """A disk over a ninth of both sides, dark on light ground and light on dark ground."""
    changed = picture.copy()
    width, height = picture.size
    box = (width * 5 // 9, height * 5 // 9, width * 6 // 9, height * 6 // 9)
    ground = picture.crop(box).convert("L").resize((1, 1)).getpixel((0, 0))
    assert isinstance(ground, int)
    ImageDraw.Draw(changed).ellipse(box, fill=(20, 20, 20) if ground > 127 else (235, 235, 235))
    return changed


def _written(picture: Image.Image, name: str, quality: int = 90) -> bytes:
    out = io.BytesIO()
    picture.save(out, name, quality=quality)
    return out.getvalue()


def _mark(body: bytes) -> Fingerprint:
    found = validate(body, RULES)
    assert found.phash is not None, found
    return Fingerprint(found.phash, found.signature)


def _sum(found: Counter[tuple[str, str, bool]], kind: str, is_duplicate: bool) -> int:
    return sum(count for (one, _, other), count in found.items() if one == kind and other == is_duplicate)


def _rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
