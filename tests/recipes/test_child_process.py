"""A process that cannot be started is our computer's matter: no file and no page is blamed for it."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from holdfast.clock import ManualClock
from holdfast.engine.execute import HANDED_BACK
from holdfast.errors import HostWaits
from holdfast.model.derived import FAILED
from holdfast.model.target import Claimed
from holdfast.recipe import Context
from holdfast.recipes.child_process import CannotStart
from holdfast.recipes.images.validation import Rules
from holdfast.recipes.images.validation_process import ValidationProcess
from holdfast.recipes.site.derive import derive
from holdfast.recipes.site.derive_process import DeriveProcess
from holdfast.recipes.site.extract_process import ExtractProcess
from holdfast.recipes.site.made import Maker, PageParams
from holdfast.recipes.site.made_types import EXTRACT

URL = "https://a.test/"
PAGE = (b"<html><body><main><h1>Frogs</h1><p>live <b>here</b>", URL, "text/html")
SHORT = [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN]


@contextmanager
def short_of(number: int) -> Iterator[None]:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", refused)
        yield


@pytest.mark.parametrize("number", [*SHORT, errno.ENOENT])
def test_an_image_that_no_decoder_can_be_started_for_is_given_back(number: int) -> None:
    """ERR-04: it is not rejected, and the next one has a decoder."""
    process = ValidationProcess()
    with short_of(number), pytest.raises(CannotStart, match=os.strerror(number)) as error:
        process.check([b"no image", b"nor this"], Rules())
    assert error.value.code in HANDED_BACK
    assert process.check([b"no image"], Rules())[0].errors != ("crashed",)
    process.close()


def test_a_page_that_no_extractor_can_be_started_for_is_given_back_for_a_while() -> None:
    extractor = ExtractProcess()
    params = msgspec.json.encode(PageParams(7, URL, "text/html")).decode()
    here = Claimed(8, 1, 1, b"", "", "", EXTRACT, 0, None, 0, 1, 0, params=params)

    async def stored(_: int) -> bytes:
        return PAGE[0]

    context = Context(params={}, salt=b"", chunking="none", chunks={}, chunk_count=1, stored=stored)
    with short_of(errno.EMFILE), pytest.raises(HostWaits, match="no process could be started") as error:
        asyncio.run(Maker(ManualClock(), extractor).work(here, context))
    assert error.value.wait_ms
    assert extractor(URL, PAGE[0], "text/html")
    extractor.close()


@pytest.mark.parametrize("number", SHORT)
def test_a_page_is_plain_text_while_no_process_can_be_started(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIT-11: it is never derived without limits, and the next page is derived as ever."""
    whole = derive(*PAGE)
    apart = DeriveProcess()

    def unlimited(*_: object) -> None:
        raise AssertionError("derived without limits")

    monkeypatch.setattr("holdfast.recipes.site.derive_process.derive", unlimited)
    with short_of(number):
        plain = apart(*PAGE)
    assert (plain.flags, "here" in plain.text) == ((FAILED,), True)
    assert apart(*PAGE) == whole
    apart.close()


def test_without_a_python_to_start_a_page_is_derived_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    assert DeriveProcess()(*PAGE) == derive(*PAGE)
