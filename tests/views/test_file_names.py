"""File names of pages: stable, safe on any file system, never two pages of one name."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.views.exports.file_names import NAME_BYTES_MAX, RESERVED, file_name, folded, is_ours

HOME = "frogs.example"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://frogs.example/", "index.md"),
        ("https://frogs.example/guide/", "guide/index.md"),
        ("https://frogs.example/guide/intro", "guide/intro.md"),
        ("https://frogs.example/guide/intro.html", "guide/intro.md"),
        ("https://frogs.example/api/ArrayList.html", "api/ArrayList.md"),
        ("https://frogs.example/v1.2/notes.txt", "v1.2/notes.txt.md"),
        ("https://frogs.example/guide/README.md", "guide/README.md"),
        ("https://frogs.example/%E6%97%A5%E6%9C%AC", "日本.md"),
        ("https://toads.example:8080/x", "toads.example_8080/x.md"),
    ],
)
def test_a_plain_url_has_a_plain_name(url: str, name: str) -> None:
    assert file_name(url, HOME) == name


@pytest.mark.parametrize(
    ("url", "begins"),
    [
        ("https://frogs.example/list?page=2", "list-page-2-"),
        ("https://frogs.example/..%2f..%2fetc%2fpasswd", "_.-..-etc-passwd-"),
        ("https://frogs.example/a//b", "a/b-"),
        ("https://frogs.example/con.html", "_con-"),
        ("https://frogs.example/AUX/x", "_AUX/x-"),
        ("https://frogs.example/.git/config", "_git/config-"),
        ("https://frogs.example/a%00b", "a-b-"),
        ("https://frogs.example/a%E2%80%AEtxt.exe", "a-txt.exe-"),
        ("https://frogs.example/readme.md/part", "readme.md_/part-"),
        ("https://frogs.example/a-0123456789.html", "a-0123456789-"),
        ("https://frogs.example/" + "frog" * 200, "frogfrog"),
        ("https://frogs.example/" + "pond/" * 60, "pond/pond/"),
    ],
)
def test_what_a_name_cannot_say_is_in_its_hash(url: str, begins: str) -> None:
    name = file_name(url, HOME)
    assert name.startswith(begins)
    assert len(name.removesuffix(".md").rpartition("-")[2]) == 10


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_url_has_a_safe_name(path: str, query: str) -> None:
    name = file_name(f"https://frogs.example/{path}?{query}", HOME)
    assert is_ours(name)
    assert len(name.encode()) <= NAME_BYTES_MAX + 20
    for part in name.split("/"):
        assert part not in ("", ".", "..")
        assert not part.startswith(".")
        assert not part.endswith((".", " "))
        assert not RESERVED.match(part)
        assert all(sign in "._-" or unicodedata.category(sign)[0] in "LNM" for sign in part)


@given(st.lists(st.text(alphabet="aAbB%/.?é", max_size=12), min_size=2, max_size=2, unique=True))
def test_two_urls_share_a_name_only_where_both_are_asked_for_a_hash(paths: list[str]) -> None:
    one, other = (f"https://frogs.example/{path}" for path in paths)
    assert file_name(one, HOME, with_hash=True) != file_name(other, HOME, with_hash=True)
    assert folded(file_name(one, HOME, with_hash=True)) != folded(file_name(other, HOME, with_hash=True))


@pytest.mark.parametrize(
    "name", ["../x.md", "/etc/x.md", "a/../x.md", ".hidden.md", "x.txt", "a\\b.md", "a/.x/b.md", ""]
)
def test_names_that_no_export_gives_are_not_ours(name: str) -> None:
    assert not is_ours(name)
