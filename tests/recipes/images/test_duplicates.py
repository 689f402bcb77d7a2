"""Which images are kept: near-duplicates found, look-alikes kept apart, in an order that no crash changes (IMG-06)."""

from __future__ import annotations

import io
import random
import time
from hashlib import sha256
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from holdfast.demo.engines.files import PictureFiles
from holdfast.demo.engines.pool import make_pool
from holdfast.recipes.images.duplicates import HashIndex, Judge, KeptImage
from holdfast.recipes.images.perceptual import DISTANCE_MAX, SIGNATURE_BYTES, Fingerprint, likeness
from holdfast.recipes.images.validation import Rules, Validation, validate

BITS = st.integers(0, 2**64 - 1)


@pytest.fixture(scope="module")
def pictures():
    """(entry, file, what was found) of the valid images of a pool, each family among them."""
    pool = make_pool(19, "lighthouse", 300)
    wanted = [entry for entry in pool if entry.of is not None]
    originals = [pool[entry.of] for entry in wanted if entry.of is not None]
    files = PictureFiles(19)
    bodies = [(entry, files.body(entry, pool)) for entry in (*wanted, *originals)]
    return [(entry, body, validate(body, Rules())) for entry, body in bodies]


def test_near_duplicates_are_found_and_look_alikes_are_not(pictures):
    right = missed = wrong = look_alikes = 0
    for (one, _, first), (other, _, second) in combinations(pictures, 2):
        found = likeness(Fingerprint(first.phash, first.signature), Fingerprint(second.phash, second.signature))
        same = one.family == other.family
        right += same and found.is_duplicate
        missed += same and not found.is_duplicate
        wrong += not same and found.is_duplicate
        look_alikes += one.kind == "look_alike" and one.of == other.number

    assert right + missed >= 30
    assert look_alikes >= 10
    assert right / (right + wrong) >= 0.98
    assert right / (right + missed) >= 0.98


def test_a_picture_in_other_colours_is_not_a_copy_although_its_hash_is_near(pictures):
    by_number = {entry.number: found for entry, _, found in pictures}
    pairs = [
        likeness(Fingerprint(found.phash, found.signature), Fingerprint(other.phash, other.signature))
        for entry, _, found in pictures
        if entry.how == "other_colours" and (other := by_number[entry.of])
    ]

    assert any(pair.distance <= DISTANCE_MAX for pair in pairs)
    assert not any(pair.is_duplicate for pair in pairs)


def shape(kind, colour="white", side=300):
    """A PNG of one shape, and nothing around it."""
    picture = Image.new("RGBA", (300, 300), (0, 0, 0, 0))
    pen = ImageDraw.Draw(picture)
    if kind == "circle":
        pen.ellipse((60, 60, 240, 240), fill=colour)
    elif kind == "cross":
        pen.rectangle((130, 30, 170, 270), fill=colour)
        pen.rectangle((30, 130, 270, 170), fill=colour)
    elif kind == "stripes":
        for top in range(30, 270, 60):
            pen.rectangle((30, top, 270, top + 30), fill=colour)
    return marks(picture.resize((side, side), Image.Resampling.LANCZOS))


def marks(picture, **rules):
    out = io.BytesIO()
    picture.save(out, "PNG")
    found = validate(out.getvalue(), Rules(bytes_min=0, **rules))
    assert found.is_valid, found
    return Fingerprint(found.phash, found.signature)


@pytest.mark.parametrize("colour", ["white", "black", "#808080", "#c00000"])
def test_shapes_on_transparent_ground_are_told_apart_whatever_their_colour(colour):
    shapes = [shape(kind, colour) for kind in ("circle", "cross", "stripes", "none")]

    assert not any(likeness(one, other).is_duplicate for one, other in combinations(shapes, 2))
    assert likeness(shapes[0], shape("circle", colour, side=420)).is_duplicate


def test_what_is_opaque_is_hashed_as_ever_with_an_alpha_channel_or_without():
    opaque = Image.linear_gradient("L").resize((300, 240)).convert("RGB")
    ImageDraw.Draw(opaque).ellipse((40, 60, 140, 160), fill="#2060c0")

    assert marks(opaque).hex == "7087847072878071"
    assert sha256(marks(opaque).signature).hexdigest()[:16] == "5b3eff9d1d77ddf5"
    assert marks(opaque.convert("RGBA")) == marks(opaque)


@settings(max_examples=50, deadline=None)
@given(st.lists(BITS, max_size=40), BITS, st.integers(0, 7), st.data())
def test_the_index_finds_exactly_what_a_look_at_every_entry_finds(hashes, asked, farthest, data):
    near = [asked ^ sum(1 << bit for bit in data.draw(st.sets(st.integers(0, 63), max_size=9))) for _ in range(5)]
    index = HashIndex(farthest)
    for number, phash in enumerate([*hashes, *near]):
        index.add(phash, number * 3)

    every = [(number * 3, (phash ^ asked).bit_count()) for number, phash in enumerate([*hashes, *near])]
    assert index.near(asked) == [(number, distance) for number, distance in every if distance <= farthest]
    assert len(index) == len(every)


@pytest.mark.parametrize("bits", [(0, 16, 32, 48), (3, 19, 20, 35, 36, 50, 51), (15, 31, 47, 62, 63)])
def test_a_hash_that_differs_in_every_band_is_found(bits):
    index = HashIndex()
    index.add(0xDEADBEEF_0BADCAFE, 5)

    assert index.near(0xDEADBEEF_0BADCAFE ^ sum(1 << bit for bit in bits)) == [(5, len(bits))]


def test_the_index_refuses_a_distance_that_it_cannot_answer():
    with pytest.raises(ValueError, match="0 to 7"):
        HashIndex(8)


def test_an_index_of_100_000_answers_in_a_millisecond():
    dice = random.Random(7)
    index = HashIndex()
    for number in range(100_000):
        index.add(dice.getrandbits(64), number)
    asks = [dice.getrandbits(64) for _ in range(200)]
    began = time.thread_time()
    for asked in asks:
        index.near(asked)

    assert (time.thread_time() - began) / len(asks) < 0.001


def found(phash=1, fill=100):
    return Validation(5_000, (), "", "JPEG", 300, 300, 1, 0, phash, bytes([fill]) * SIGNATURE_BYTES)


def test_equal_bytes_come_before_likeness_and_the_first_kept_is_named():
    judge = Judge(wanted=10)

    assert judge.judge(1, "a", "aa", found(phash=0b111)).disposition == "image"
    assert judge.judge(2, "b", "bb", found(phash=0xFF << 40)).disposition == "image"
    copy = judge.judge(3, "c", "aa", found(phash=0b111))
    assert (copy.disposition, copy.duplicate_of, copy.detection_method) == ("duplicate", "a", "content")
    alike = judge.judge(4, "d", "dd", found(phash=0b011))
    assert (alike.duplicate_of, alike.detection_method, alike.distance) == ("a", "perceptual", 1)
    assert alike.similarity_score == pytest.approx(1 - 1 / 64, abs=1e-4)


def test_exact_judging_leaves_likeness_alone():
    judge = Judge(wanted=10, dedupe="exact")

    assert [judge.judge(n, name, name, found()).disposition for n, name in enumerate("ab")] == ["image", "image"]
    assert judge.judge(5, "c", "a", found()).disposition == "duplicate"


def test_a_full_keyword_makes_every_later_candidate_surplus():
    judge = Judge(wanted=1)
    broken = Validation(10, ("too_few_bytes",))

    assert judge.judge(0, "x", "xx", broken).reasons == ("too_few_bytes",)
    assert not judge.is_full
    assert judge.judge(1, "a", "aa", found()).disposition == "image"
    assert judge.is_full
    assert judge.judge(2, "b", "bb", found(phash=0xFFFF << 40)).disposition == "surplus"
    assert judge.judge(3, "x", "xx", broken).disposition == "surplus"


def test_a_candidate_out_of_its_turn_is_an_error_and_not_another_kept_set():
    judge = Judge(wanted=5)
    judge.judge(7, "a", "aa", found())

    for late in (6, 7):
        with pytest.raises(ValueError, match="out of order"):
            judge.judge(late, "b", "bb", found())
    with pytest.raises(ValueError, match="twice"):
        judge.remember(KeptImage(9, "a", "aa", 1, bytes(SIGNATURE_BYTES)))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 60), max_size=12), st.integers(1, 60))
def test_a_judge_that_dies_anywhere_keeps_the_same_images(pictures, deaths, wanted):
    candidates = list(
        enumerate((f"u{n}", sha256(body).hexdigest(), what) for n, (_, body, what) in enumerate(pictures))
    )

    def run(deaths):
        judge, kept, verdicts = Judge(wanted), {}, {}
        for order, (name, digest, what) in candidates:
            if order in deaths:
                judge = Judge(wanted)  # a new process, with what the ledger holds, in whatever order it gives it
                for row in sorted(kept.values(), key=lambda row: row.sha256):
                    judge.remember(row)
            verdicts[name] = judge.judge(order, name, digest, what)
            if verdicts[name].disposition == "image":
                kept[name] = KeptImage(order, name, digest, what.phash, what.signature)
        return verdicts

    assert run(set(deaths)) == run(set())
