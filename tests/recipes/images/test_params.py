"""What is said of an images job before it is made."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from holdfast.errors import BadParams
from holdfast.recipe import Context
from holdfast.recipes.images.params import checked, listed
from holdfast.recipes.images.recipe import rows_of


def test_an_image_set_without_pillow_is_refused_before_anything_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked({"keywords": ["cat"]})["keywords"] == ["cat"]
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(BadParams, match="needs Pillow") as caught:
        checked({"keywords": ["cat"]})
    assert caught.value.hint == "pip install 'holdfast[images]'"


def test_a_row_belongs_to_its_keyword_however_it_is_spaced_and_an_unusable_keyword_is_a_bad_row(tmp_path: Path) -> None:
    """IMG-11: one row never ends the list."""
    path = tmp_path / "list.csv"
    words = ("red panda", "  red\u00a0 panda", "cat\u202egnp", "x" * 201, "cat")
    path.write_text("keyword,url\n" + "".join(f"{word},https://a.test/{n}.jpg\n" for n, word in enumerate(words)))
    named, keywords = listed(path)
    params = checked({"keywords": keywords, "list": named})
    assert params["keywords"] == ["red panda", "cat"]
    context = Context(params=params, salt=b"s" * 16, chunking="key", chunks={"red panda": 0, "cat": 1})
    rows = [(found.name, found.chunk_index, found.disposition) for found in rows_of(context)]
    assert rows[:2] == [("row 3", 0, "rejected"), ("row 4", 0, "rejected")]
    assert rows[2:] == [("rows 0 red panda", 0, ""), ("rows 0 cat", 1, "")]
