"""Before-images are kept for as long as a job is: a version with one more column of a target reads those without it."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.ledger.verbs.revert import _images
from holdfast.ledger.verbs.undo import IMAGE

ROW = {"state": 0, "disposition": None, "code": None, "rule": None, "because": "now", "gen": 2, "attempts": 0,
       "deaths": 0, "not_before": None, "done_chunk": None, "done_no": None}  # fmt: skip
THEN = {**ROW, "state": 6, "code": "timeout", "because": "then", "gen": 1, "done_chunk": 4, "done_no": 3}


class Undo:
    """Answers what the table of before-images has."""

    def __init__(self, *images: dict[str, Any]) -> None:
        self._rows = [(8, msgspec.json.encode(image), 4, 5) for image in images]

    def rows(self, sql: str, ids: list[Any]) -> list[tuple[Any, ...]]:
        return self._rows


def image_of(**without: Any) -> dict[str, Any]:
    tx: Any = Undo({name: value for name, value in THEN.items() if name not in without})
    found = _images(tx, {"4": 3}, [8], {8: tuple(ROW[name] for name in IMAGE)})
    return dict(zip(IMAGE, found[8], strict=True))


def test_a_column_that_an_image_lacks_is_as_the_row_has_it() -> None:
    assert set(ROW) == set(IMAGE)
    assert image_of() == THEN
    assert image_of(because=True) == {**THEN, "because": "now"}


def test_the_columns_that_are_read_by_number_stand_where_they_are_read() -> None:
    """State first, then what counts are split by, the generation sixth, the settling commit last."""
    assert (IMAGE[:3], IMAGE[5], IMAGE[-2:]) == (("state", "disposition", "code"), "gen", ("done_chunk", "done_no"))
