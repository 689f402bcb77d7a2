"""Images as a list of a real data set has them: photograph-like JPEGs of 200 to 800 KB, and what is wrong with some.

Made once from a seed and kept below build/: smooth colours of their own, under grain cut out of one large sheet of it.
"""

from __future__ import annotations

import csv
import io
import json
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from PIL import Image, ImageChops

SHEET = (2_600, 2_000)
SIDES = ((1_280, 960), (1_600, 1_200), (1_200, 1_600), (1_920, 1_280))
QUALITY = (72, 86)
GRAIN = (0.18, 0.32)  # share of noise in a picture
COLOURS = (9, 7)  # cells that a picture's colours are spread from
# How many of 100 are not one more good image.
BAD = {"truncated": 2, "html": 2, "tiny": 1, "missing": 1, "copy": 3, "near": 3}
DONE = "set.json"


@dataclass(frozen=True, slots=True)
class ImageSet:
    """`kinds` says what each numbered file is: good, or a word of `BAD`."""

    folder: Path
    kinds: tuple[str, ...]

    @property
    def good(self) -> int:
        return self.kinds.count("good")

    def names(self) -> list[str]:
        return [f"{number:05d}.jpg" for number in range(len(self.kinds))]

    def sizes(self) -> list[int]:
        return sorted(
            (self.folder / name).stat().st_size
            for name, kind in zip(self.names(), self.kinds, strict=True)
            if kind == "good"
        )

    def write_list(self, path: Path, base: str) -> None:
        """A CSV of URL and caption, as img2dataset takes it."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("url", "caption"))
            writer.writerows((f"{base}/{name}", f"picture {name}") for name in self.names())


def made(root: Path, images: int, seed: int) -> ImageSet:
    """The set of that size; made if it is not there whole. A set half made is made again."""
    folder = root / f"images-{images}-{seed}"
    kinds = _kinds(images, seed)
    if not (folder / DONE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        tasks = [(folder, number, kinds, seed) for number in range(images)]
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(_write, tasks, chunksize=20))
        (folder / DONE).write_text(json.dumps(dict.fromkeys(kinds)))
    return ImageSet(folder, kinds)


def _kinds(images: int, seed: int) -> tuple[str, ...]:
    """The first is good: copies are made of an earlier one."""
    draw = Random(seed)
    spread = [kind for kind, share in BAD.items() for _ in range(images * share // 100)]
    kinds = spread + ["good"] * (images - len(spread))
    draw.shuffle(kinds)
    first = kinds.index("good")
    kinds[0], kinds[first] = kinds[first], kinds[0]
    return tuple(kinds)


def _write(task: tuple[Path, int, tuple[str, ...], int]) -> None:
    folder, number, kinds, seed = task
    body = _body(number, kinds, seed)
    if body is not None:
        (folder / f"{number:05d}.jpg").write_bytes(body)


def _body(number: int, kinds: tuple[str, ...], seed: int) -> bytes | None:
    draw = Random(f"{seed} {number} kind")
    kind = kinds[number]
    if kind == "missing":
        return None
    if kind == "html":
        return b"<!doctype html><title>Not here</title>" + b"<p>This picture has been removed.</p>" * 60
    if kind in ("copy", "near"):
        other = draw.choice([at for at in range(number) if kinds[at] == "good"])
        if kind == "copy":
            return _photograph(other, seed)[1]
        picture = _photograph(other, seed)[0]
        return _jpeg(picture.resize([side * 4 // 5 for side in picture.size], Image.Resampling.LANCZOS), 80)
    picture, body = _photograph(number, seed)
    if kind == "tiny":
        return _jpeg(picture.resize((120, 90)), 80)
    return body[: int(len(body) * draw.uniform(0.2, 0.9))] if kind == "truncated" else body


def _photograph(number: int, seed: int) -> tuple[Image.Image, bytes]:
    draw = Random(f"{seed} {number}")
    size = draw.choice(SIDES)
    cells = Image.frombytes("RGB", COLOURS, draw.randbytes(3 * COLOURS[0] * COLOURS[1]))
    left, top = draw.randrange(SHEET[0] - size[0] + 1), draw.randrange(SHEET[1] - size[1] + 1)
    grain = _sheet(seed).crop((left, top, left + size[0], top + size[1]))
    picture = Image.blend(cells.resize(size, Image.Resampling.BICUBIC), grain, draw.uniform(*GRAIN))
    return picture, _jpeg(picture, draw.randint(*QUALITY))


@cache
def _sheet(seed: int) -> Image.Image:
    """Fine grain on coarser grain: so much of it as a photograph has."""
    draw = Random(f"{seed} sheet")
    width, height = SHEET
    fine, coarse = (
        Image.frombytes("L", (width // step, height // step), draw.randbytes(width // step * (height // step)))
        for step in (1, 4)
    )
    grain = ImageChops.add(fine, coarse.resize(SHEET, Image.Resampling.BICUBIC), 2)
    return grain.convert("RGB")


def _jpeg(picture: Image.Image, quality: int) -> bytes:
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality)
    return out.getvalue()
