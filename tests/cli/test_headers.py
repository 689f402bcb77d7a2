"""Secrets in headers are named, never stored."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from cli.commands import make_job
from holdfast.cli.headers import read_header, with_secrets
from holdfast.errors import BadParams
from holdfast.model.job import Options


def test_a_header_is_read_by_its_colon() -> None:
    assert read_header("Accept-Language:  en, fr;q=0.5 ") == ("Accept-Language", "en, fr;q=0.5")
    assert read_header("Authorization: env:TOKEN") == ("Authorization", "env:TOKEN")


@pytest.mark.parametrize(
    "text", ["frog", ": x", "a b: c", "A: x\nB: y", "A: x\r", "Authorization: Bearer abc", "cookie: a=b", "Host: x"]
)
def test_a_header_that_cannot_be_kept_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        read_header(text)


def test_secrets_are_filled_in_for_the_fetcher_only(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("moss\n")
    headers = (("Authorization", "env:TOKEN"), ("X-Key", f"file:{tmp_path / 'key'}"), ("X-Plain", "a:b"))
    job = make_job(options=Options(headers=headers))
    filled = with_secrets(job, {"TOKEN": "fern"}).options.headers
    assert [value for _, value in filled] == ["fern", "moss", "a:b"]
    assert job.options.headers == headers


@pytest.mark.parametrize("value", ["env:MISSING", "file:missing-file"])
def test_a_secret_that_is_not_there_is_said(value: str) -> None:
    with pytest.raises(BadParams, match="X-Key"):
        with_secrets(make_job(options=Options(headers=(("X-Key", value),))), {})
