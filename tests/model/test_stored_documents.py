"""Small documents that the ledger keeps beside its rows: one that was damaged is said to be so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.errors import Corrupt
from holdfast.model.bookmark import read_bookmark
from holdfast.model.edit import read_walk
from holdfast.recipes.site.validators import asking_again

DAMAGED = {
    "bytes": b'{"where":[["st\xd1tus",true,[]]],"commits":{"\xd1":1}}',
    "deep": b'{"more":' + b"[" * 5_000,
    "cut": b'{"rows":',
}


@pytest.mark.parametrize("read", [read_bookmark, read_walk])
@pytest.mark.parametrize("name", DAMAGED)
def test_a_document_that_cannot_be_read_is_damage_and_not_a_crash(read: Callable[[bytes], object], name: str) -> None:
    with pytest.raises(Corrupt, match="cannot be read"):
        read(DAMAGED[name])


@pytest.mark.parametrize("name", DAMAGED)
def test_a_page_whose_record_cannot_be_read_is_asked_for_as_if_it_were_new(name: str) -> None:
    assert asking_again(DAMAGED[name]) == ()
