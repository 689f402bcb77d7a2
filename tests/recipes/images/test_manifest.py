"""The manifest: every URL with its fate, and names that are the same whenever they are given (IMG-02, IMG-08)."""

from __future__ import annotations

import json

from holdfast.recipes.images.duplicates import Judgement
from holdfast.recipes.images.engines.answer import Candidate
from holdfast.recipes.images.manifest import folder_of, named, row_of
from holdfast.recipes.images.plan import Plan, judging_order
from holdfast.recipes.images.validation import Validation

FOUND = Validation(5_000, (), "", "PNG", 640, 480, 1, 0, 0xFF, b"")


def row(rank, judgement, found=None):
    question = next(Plan().questions("red panda"))
    candidate = Candidate(f"https://a.test/{rank}.jpg", rank, "https://a.test/page", title="A panda")
    return row_of(question, candidate, judging_order(question, rank), judgement, sha256="ab" * 32, found=found)


def test_kept_images_are_numbered_and_duplicates_name_the_file_they_are_like():
    copy = Judgement("duplicate", (), "https://a.test/2.jpg", "perceptual", 2, 0.97)
    rows = [
        row(0, Judgement("image"), FOUND),
        row(1, Judgement("rejected", ("too_small",)), FOUND),
        row(2, Judgement("image"), FOUND),
        row(3, copy, FOUND),
        row(4, Judgement("surplus")),
    ]
    files = [one.filename for one in named(rows)]

    assert files == ["red panda/0001.png", "", "red panda/0002.png", "red panda/0002.png", ""]
    assert list(named(rows)) == list(named(rows))


def test_a_row_has_where_it_came_from_and_what_was_measured():
    document = json.loads(json.dumps(row(3, Judgement("image"), FOUND).document()))

    assert document["engine"] == "google"
    assert document["variation"] == "{keyword}"
    assert document["query"] == "red panda"
    assert (document["offset"], document["search_rank"]) == (0, 3)
    assert (document["width"], document["height"], document["format"], document["file_size"]) == (640, 480, "PNG", 5000)
    assert document["phash"] == "00000000000000ff"
    assert row(4, Judgement("surplus")).document()["file_size"] is None


def test_folders_are_names_that_every_file_system_takes():
    assert folder_of("red panda") == "red panda"
    assert folder_of("../etc/passwd\0") == "_etc_passwd_"
    assert folder_of("..") == folder_of("") == "_"
    for letter in ("x", "é", "猫", "🐈"):  # 1 to 4 bytes, and a name has 255 at most
        name = folder_of(letter * 200)
        assert (set(name), len(name.encode())) == ({letter}, 80 - 80 % len(letter.encode()))
