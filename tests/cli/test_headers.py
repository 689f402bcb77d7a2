"""Secrets in headers are named, never stored."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from cli.commands import make_job
from holdfast.config.headers import read_header, read_proxy, with_secrets
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
    filled = with_secrets(job, {"TOKEN": "fern"}).options
    assert filled.private_headers == (("Authorization", "fern"), ("X-Key", "moss"))
    assert filled.headers == (("X-Plain", "a:b"),)
    assert job.options.headers == headers


@pytest.mark.parametrize("value", ["env:MISSING", "file:missing-file"])
def test_a_secret_that_is_not_there_is_said(value: str) -> None:
    with pytest.raises(BadParams, match="X-Key"):
        with_secrets(make_job(options=Options(headers=(("X-Key", value),))), {})


@pytest.mark.parametrize("secret", ["moss\r\nX-Frog: 1", "moss\0", "möss"])
def test_a_secret_that_would_become_two_headers_is_refused_and_not_shown_h6(secret: str) -> None:
    with pytest.raises(BadParams, match="header X-Key: its value") as refusal:
        with_secrets(make_job(options=Options(headers=(("X-Key", "env:KEY"),))), {"KEY": secret})
    assert "ss" not in str(refusal.value).replace("pass", "")


@pytest.mark.parametrize(
    "text", ["http://proxy.example:3128", "https://10.0.0.1:443/", "socks5://[::1]:1080", "env:PROXY", "file:proxy"]
)
def test_a_proxy_is_a_url_or_where_to_find_one(text: str) -> None:
    assert read_proxy(text) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("proxy.example:3128", "written http://"),
        ("http://proxy.example", "written http://"),
        ("ftp://proxy.example:21", "written http://"),
        ("socks5h://proxy.example:1080", "written http://"),
        ("http://proxy.example:99999", "written http://"),
        ("http://proxy.example:3128/path", "written http://"),
        ("http://a b:3128", "written http://"),
        ("http://frog:moss@proxy.example:3128", "in the clear"),
    ],
)
def test_a_proxy_that_cannot_be_kept_is_refused(text: str, said: str) -> None:
    with pytest.raises(ArgumentTypeError, match=said) as refusal:
        read_proxy(text)
    assert "moss" not in str(refusal.value)


def test_a_proxys_password_is_filled_in_for_the_fetcher_only() -> None:
    job = make_job(options=Options(proxy="env:PROXY"))
    filled = with_secrets(job, {"PROXY": "http://frog:moss@proxy.example:3128"})
    assert filled.options.proxy == "http://frog:moss@proxy.example:3128"
    assert job.options.proxy == "env:PROXY"
    with pytest.raises(BadParams, match="written http://") as refusal:
        with_secrets(job, {"PROXY": "frog:moss@proxy"})
    assert "moss" not in str(refusal.value)
