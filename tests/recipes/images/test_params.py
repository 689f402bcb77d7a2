"""What is said of an images job before it is made."""

from __future__ import annotations

import sys

import pytest

from holdfast.errors import BadParams
from holdfast.recipes.images.params import checked


def test_an_image_set_without_pillow_is_refused_before_anything_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked({"keywords": ["cat"]})["keywords"] == ["cat"]
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(BadParams, match="needs Pillow") as caught:
        checked({"keywords": ["cat"]})
    assert caught.value.hint == "pip install pillow"
