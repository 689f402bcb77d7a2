"""Whether bytes are an image that a job wants: found out by decoding them, never by name or content type.

Everything here may run in a process of its own (`validation_process`), for what it reads is written by strangers.
"""

from __future__ import annotations

import io
import warnings
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from holdfast.model.artifact import BODY_BYTES_MAX
from holdfast.recipes.images.perceptual import fingerprint, on_ground

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

# The extension under which a format is kept, by Pillow's name of the format.
EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "GIF": "gif", "BMP": "bmp", "WEBP": "webp", "TIFF": "tiff", "AVIF": "avif"}
MPO = "MPO"  # a JPEG with smaller pictures behind it, as phones and cameras write them: the first one is the picture
DECODED_SIDE_MIN = 192  # a JPEG is decoded no larger than is needed for hash (12 pixels a cell) and thumbnail
THUMBNAIL_QUALITY = 80
OPAQUE = 255
SQUARE_PX = 8
SQUARES = ("#cccccc", "#999999")

# What can be wrong with an image. `crashed`: its decoder killed the process, or used up its time, alone.
ValidationError = Literal[
    "too_few_bytes",
    "too_many_bytes",
    "not_an_image",
    "too_small",
    "too_many_pixels",
    "truncated",
    "undecodable",
    "animated",
    "crashed",
]


class Rules(msgspec.Struct, frozen=True):
    """What an images job keeps. Sides are those of the picture as it is shown, after EXIF rotation."""

    bytes_min: int = 1_000
    bytes_max: int = BODY_BYTES_MAX
    width_min: int = 200
    height_min: int = 200
    pixels_max: int = 100_000_000
    animated: bool = False  # True: animations are judged by their first frame, and kept
    thumbnail_px: int = 0  # longer side; 0 makes none


class Validation(msgspec.Struct, frozen=True):
    """What was found. `errors` is empty for a valid image; `phash` and `signature` are given for valid images only.

    `trailing_bytes` follow the end of a JPEG or PNG: such a file may be something else, too (an archive, a script).
    """

    size_bytes: int
    errors: tuple[ValidationError, ...] = ()
    message: str = ""
    format: str = ""
    width: int = 0
    height: int = 0
    frames: int = 0
    trailing_bytes: int = 0
    phash: int | None = None
    signature: bytes = b""
    thumbnail: bytes = b""

    @property
    def is_valid(self) -> bool:
        return not self.errors

    @property
    def extension(self) -> str:
        return EXTENSIONS.get(self.format, "")


def load_decoders() -> None:
    """Before the time of a file begins. Where there is no Pillow, the first file says so."""
    with suppress(ImportError):
        _formats()


def validate(body: bytes, rules: Rules) -> Validation:
    """Judge one file. Never raises for what is in it, but may use much memory and time: see `ValidationProcess`."""
    if len(body) < rules.bytes_min:
        return Validation(len(body), ("too_few_bytes",), f"{len(body)} bytes, fewer than {rules.bytes_min}")
    if len(body) > rules.bytes_max:
        return Validation(len(body), ("too_many_bytes",), f"{len(body)} bytes, more than {rules.bytes_max}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pillow, about metadata that it does not like
        return _opened(body, rules)


def _opened(body: bytes, rules: Rules) -> Validation:
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # `pixels_max` is ours, and is looked at before anything is decoded
    try:
        image = Image.open(io.BytesIO(body), formats=_formats())
    except UnidentifiedImageError:
        return Validation(len(body), ("not_an_image",), "no image of a known format")
    except Exception as error:  # noqa: BLE001  decoders raise anything on what strangers write
        return Validation(len(body), ("undecodable",), _sentence(error))
    with image:
        return _judged(body, image, rules)


@cache
def _formats() -> tuple[str, ...]:
    """Those that the installed Pillow knows: AVIF has come with 11.3."""
    from PIL import Image

    Image.init()
    return tuple(name for name in EXTENSIONS if name in Image.OPEN)


def _judged(body: bytes, image: ImageFile, rules: Rules) -> Validation:
    width, height = image.size
    file_format = _format(image)
    if width * height > rules.pixels_max:
        why = f"{width} × {height} pixels, more than {rules.pixels_max} in all"
        return Validation(len(body), ("too_many_pixels",), why, file_format, width, height)
    try:
        frames = 1 if image.format == MPO else getattr(image, "n_frames", 1)
        width, height = _shown_size(image)
        errors = _errors(width, height, frames, rules)
        upright = _decoded(image, rules)
    except Exception as error:  # noqa: BLE001  as above
        kind: ValidationError = "truncated" if "truncated" in str(error).lower() else "undecodable"
        return Validation(len(body), (kind,), _sentence(error), file_format, width, height)
    found = Validation(
        len(body), errors, ", ".join(errors), file_format, width, height, frames, _trailing(body, file_format)
    )
    if errors:
        return found
    marks = fingerprint(upright)
    thumbnail = _thumbnail(upright, rules.thumbnail_px)
    return replace(found, phash=marks.phash, signature=marks.signature, thumbnail=thumbnail)


def _errors(width: int, height: int, frames: int, rules: Rules) -> tuple[ValidationError, ...]:
    errors: list[ValidationError] = []
    if width < rules.width_min or height < rules.height_min:
        errors.append("too_small")
    if frames > 1 and not rules.animated:
        errors.append("animated")
    return tuple(errors)


def _format(image: ImageFile) -> str:
    """To everybody but Pillow an MPO is a JPEG."""
    return "JPEG" if image.format == MPO else str(image.format)


def _shown_size(image: Image) -> tuple[int, int]:
    width, height = image.size
    sideways = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
    return (height, width) if sideways else (width, height)


def _decoded(image: ImageFile, rules: Rules) -> Image:
    """The picture as it is shown: in RGB, or in RGBA where something shines through. What is cut off raises here.

    A JPEG is scaled while it is decoded, which takes a quarter of the time and sees the same damage.
    """
    from PIL import ImageOps

    side = max(DECODED_SIDE_MIN, rules.thumbnail_px)
    image.draft("RGB", (side, side))
    image.load()
    image.thumbnail((2 * side, 2 * side), reducing_gap=2.0) if image.mode not in ("P", "1") else None
    ImageOps.exif_transpose(image, in_place=True)
    return _in_colours(image)


def _in_colours(image: Image) -> Image:
    if image.mode.startswith("I") or image.mode == "F":
        image = _eight_bits(image)
    if not image.has_transparency_data:
        return image if image.mode == "RGB" else image.convert("RGB")
    layer = image.convert("RGBA")
    is_opaque = layer.getchannel("A").getextrema() == (OPAQUE, OPAQUE)
    return on_ground(layer, "white") if is_opaque else layer


def _eight_bits(image: Image) -> Image:
    """16 and 32 bits a pixel, stretched over what is used of them: Pillow would cut them off at 255."""
    low, high = image.getextrema()
    assert isinstance(low, (int, float))
    assert isinstance(high, (int, float))
    scale = 255.0 / (high - low) if high > low else 0.0
    return image.convert("F").point(lambda value: value * scale - low * scale).convert("L")


def _thumbnail(upright: Image, side: int) -> bytes:
    if not side:
        return b""
    from PIL.Image import Resampling

    small = upright.copy()
    small.thumbnail((side, side), Resampling.HAMMING)  # as sharp as bicubic for two thirds of its time
    small = _on_squares(small) if small.mode == "RGBA" else small
    out = io.BytesIO()
    small.save(out, "JPEG", quality=THUMBNAIL_QUALITY)
    return out.getvalue()


def _on_squares(small: Image) -> Image:
    """On grey squares, as viewers show what is transparent: white and black parts are both seen on them."""
    from PIL import Image as pillow
    from PIL import ImageDraw

    ground = pillow.new("RGBA", small.size, SQUARES[0])
    pen = ImageDraw.Draw(ground)
    for left in range(0, small.width, SQUARE_PX):
        for top in range(left % (2 * SQUARE_PX), small.height, 2 * SQUARE_PX):
            pen.rectangle((left, top, left + SQUARE_PX - 1, top + SQUARE_PX - 1), fill=SQUARES[1])
    ground.alpha_composite(small)
    return ground.convert("RGB")


def _trailing(body: bytes, file_format: str) -> int:
    if file_format == "PNG":
        end = body.rfind(b"IEND")
        return max(0, len(body) - end - 8) if end > 0 else 0
    if file_format == "JPEG":
        end = body.rfind(b"\xff\xd9")
        return len(body) - end - 2 if end > 0 else 0
    return 0


def _sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]
