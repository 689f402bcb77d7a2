"""Which lost bodies a snapshot must have all the same, and which it may go without."""

from __future__ import annotations

from typing import Any, cast

from holdfast.control.losses import Losses
from holdfast.model.outcome import UNCHANGED
from holdfast.ports import Shelf

SIZES = {"whole": 100, "short": 50}


class Sizes:
    """A shelf that knows how long its files are."""

    def size(self, name: str) -> int:
        return SIZES.get(name, 0)


def losses(*bodies: tuple[str, int, int, int]) -> Losses:
    """Of bodies (file, target, generation, end)."""
    found = Losses(cast("Shelf", Sizes()))
    for file, target, generation, end in bodies:
        assert found.has(file, {"target": target, "gen": generation, "off": end - 10, "len": 10}) == (
            end > SIZES.get(file, 0)
        )
    return found


def target(generation: int, disposition: str | None = "page") -> dict[str, Any]:
    return {"id": 1, "gen": generation, "disposition": disposition}


def test_a_body_is_lost_where_its_file_ends_before_it_or_is_not_there() -> None:
    found = losses(("whole", 1, 1, 100), ("short", 2, 1, 50), ("short", 3, 1, 51), ("none", 4, 1, 10))
    assert len(found) == 2
    without_shelf = Losses(None)
    assert not without_shelf.has("none", {"target": 1, "gen": 1, "off": 0, "len": 10})
    assert len(without_shelf) == 0


def test_what_was_fetched_again_since_is_not_needed_and_what_counts_is() -> None:
    found = losses(("none", 1, 1, 10), ("whole", 1, 2, 20))
    assert list(found.needed([], [target(2)])) == []
    assert list(found.needed([], [target(1)])) == [("none", 10)]


def test_an_unchanged_page_needs_its_last_body_and_none_before_it() -> None:
    unchanged = target(3, UNCHANGED)
    assert list(losses(("none", 1, 1, 10), ("short", 1, 2, 60)).needed([], [unchanged])) == [("short", 60)]
    assert list(losses(("none", 1, 1, 10), ("whole", 1, 2, 60)).needed([], [unchanged])) == []
