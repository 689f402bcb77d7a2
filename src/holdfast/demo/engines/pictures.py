"""Pictures from a seed: scenes that differ as photographs do, copies of them, and scenes that only look like copies.

A scene is soft light over the whole picture, some ten shapes of different sizes and a grain. Nothing here is random at
run time, and the same Pillow writes the same bytes.
"""

from __future__ import annotations

import io
from typing import Literal

from PIL import Image, ImageDraw, ImageFilter

from holdfast.demo.tidepool import Dice

Copy = Literal["resized", "recompressed", "row_cropped"]
LookAlike = Literal["other_colours", "other_object", "object_moved", "mirrored"]
COPIES: tuple[Copy, ...] = ("resized", "recompressed", "row_cropped")
LOOK_ALIKES: tuple[LookAlike, ...] = ("other_colours", "other_object", "object_moved", "mirrored")

LIGHT_CELLS = 4
SHAPES = (7, 13)
SIDE = (300, 640)


def scene(seed: int, *about: object, object_seed: object = 0, object_at: object = 0) -> Image.Image:
    """The scene of that name. `object_seed` chooses its main object, `object_at` where that stands."""
    dice = Dice(seed, "scene", *about)
    size = (dice.number(*SIDE), dice.number(*SIDE))
    light = Image.new("RGB", (LIGHT_CELLS, LIGHT_CELLS))
    light.putdata([_colour(dice) for _ in range(LIGHT_CELLS * LIGHT_CELLS)])
    picture = light.resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(picture)
    for _ in range(dice.number(*SHAPES)):
        _shape(pen, dice, size, scale=dice.number(6, 30))
    _main_object(pen, seed, size, about, object_seed, object_at)
    picture = picture.filter(ImageFilter.GaussianBlur(1))
    return _grained(picture, dice)


def look_alike(how: LookAlike, seed: int, *about: object) -> Image.Image:
    """A picture that people tell apart from `scene(seed, *about)`, although most of it is the same."""
    match how:
        case "other_object":
            return scene(seed, *about, object_seed="other")
        case "object_moved":
            return scene(seed, *about, object_at="elsewhere")
        case "mirrored":
            return scene(seed, *about).transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        case "other_colours":
            luma, blue, red = scene(seed, *about).convert("YCbCr").split()
            turned = (luma, red.point(_inverted), blue)
            return Image.merge("YCbCr", turned).convert("RGB")


def copy_of(how: Copy, picture: Image.Image, dice: Dice) -> tuple[Image.Image, int]:
    """A near-duplicate, and the quality at which it is to be written."""
    width, height = picture.size
    match how:
        case "resized":
            share = dice.number(72, 140) / 100
            return picture.resize((round(width * share), round(height * share)), Image.Resampling.LANCZOS), 88
        case "recompressed":
            return picture, dice.number(30, 70)
        case "row_cropped":
            return picture.crop((0, 1, width, height)), 90


def encoded(picture: Image.Image, name: str, quality: int = 90) -> bytes:
    """The file, by the name that Pillow has for its format."""
    out = io.BytesIO()
    if name in ("JPEG", "WEBP"):
        picture.save(out, name, quality=quality)
    elif name == "GIF":
        picture.quantize(256, method=Image.Quantize.FASTOCTREE).save(out, "GIF")
    elif name == "TIFF":
        picture.save(out, "TIFF", compression="tiff_lzw")
    else:
        picture.save(out, name)
    return out.getvalue()


def animation(picture: Image.Image, seed: int, *about: object) -> bytes:
    """A GIF of three frames."""
    frames = [picture, scene(seed, *about, "second").resize(picture.size), picture.rotate(180)]
    small = [frame.quantize(64, method=Image.Quantize.FASTOCTREE) for frame in frames]
    out = io.BytesIO()
    small[0].save(out, "GIF", save_all=True, append_images=small[1:], duration=100, loop=0)
    return out.getvalue()


def _main_object(
    pen: ImageDraw.ImageDraw, seed: int, size: tuple[int, int], about: tuple[object, ...], which: object, where: object
) -> None:
    place, looks = Dice(seed, "place", *about, where), Dice(seed, "object", *about, which)
    third = (size[0] // 3, size[1] // 3)
    # Of the nine fields of the picture; `where` moves it to another column for certain.
    column, row = Dice(seed, "column", *about).number(0, 2), place.number(0, 2)
    column = (column + (1 if where else 0)) % 3
    left, top = column * third[0], row * third[1]
    box = (left + third[0] // 8, top + third[1] // 8, left + third[0] * 7 // 8, top + third[1] * 7 // 8)
    # Light on one picture, darker on the other: the two objects are never the same by chance.
    low, high = (60, 110) if which else (190, 255)
    shade = (looks.number(low, high), looks.number(low, high), looks.number(low, high))
    pen.ellipse(box, fill=shade, outline=(20, 20, 20), width=3)
    pen.line((box[0], box[1], box[2], box[3]), fill=_colour(looks), width=max(3, third[0] // 12))


def _shape(pen: ImageDraw.ImageDraw, dice: Dice, size: tuple[int, int], scale: int) -> None:
    width, height = size[0] * scale // 100, size[1] * dice.number(6, 30) // 100
    left, top = dice.number(-width // 2, size[0] - width // 2), dice.number(-height // 2, size[1] - height // 2)
    box = (left, top, left + width, top + height)
    match dice.number(1, 4):
        case 1:
            pen.ellipse(box, fill=_colour(dice))
        case 2:
            pen.rectangle(box, fill=_colour(dice))
        case 3:
            pen.polygon([(left, top + height), (left + width // 2, top), (left + width, top + height)], _colour(dice))
        case _:
            pen.line(box, fill=_colour(dice), width=dice.number(3, 14))


def _grained(picture: Image.Image, dice: Dice) -> Image.Image:
    """A fine texture, so that files have the size and the coding noise of photographs."""
    tile = Image.new("L", (64, 64))
    tile.putdata([dice.number(0, 255) for _ in range(32 * 32)] * 4)
    grain = Image.new("L", picture.size)
    for left in range(0, picture.size[0], 64):
        for top in range(0, picture.size[1], 64):
            grain.paste(tile, (left, top))
    return Image.blend(picture, Image.merge("RGB", (grain, grain, grain)), 0.04)


def _colour(dice: Dice) -> tuple[int, int, int]:
    return dice.number(0, 255), dice.number(0, 255), dice.number(0, 255)


def _inverted(value: int) -> int:
    return 255 - value
