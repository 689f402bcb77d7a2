"""Secrets in headers are named, never stored."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from cli.commands import holdfast, make_job
from fetch.hostile import Behaviour, HostileSite, answer, in_a_thread
from holdfast.config.headers import read_header, read_headers_to, read_proxy, with_secrets
from holdfast.config.secrets import refuse_clear_header
from holdfast.errors import BadParams
from holdfast.model.job import Options

PAGES: dict[str, Behaviour] = dict.fromkeys(("/page", "/there"), answer(b"<p>frog</p>", "Content-Type: text/html"))


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
    headers = (("Authorization", "env:TOKEN"), ("X-Key", f"file:{tmp_path / 'key'}"), ("Accept-Language", "en"))
    job = make_job(options=Options(headers=headers))
    filled = with_secrets(job, {"TOKEN": "fern"}).options
    assert filled.private_headers == (("Authorization", "fern"), ("X-Key", "moss"))
    assert filled.headers == (("Accept-Language", "en"),)
    assert job.options.headers == headers


def test_typed_headers_go_to_the_seeds_alone_but_harmless_ones_and_where_told() -> None:
    """SEC-08: whatever its name, a header that was typed goes to no host that a page names."""
    headers = (("X-Plain", "a:b"), ("DNT", "1"), ("X-Key", "env:KEY"))
    filled = with_secrets(make_job(options=Options(headers=headers)), {"KEY": "moss"}).options
    assert (filled.headers, filled.private_headers) == ((("DNT", "1"),), (("X-Plain", "a:b"), ("X-Key", "moss")))
    anywhere = Options(headers=headers, headers_to=("any",))
    filled = with_secrets(make_job(options=anywhere), {"KEY": "moss"}).options
    assert (filled.headers, filled.private_headers) == ((("X-Plain", "a:b"), ("DNT", "1")), (("X-Key", "moss"),))


@pytest.mark.parametrize(
    "line",
    [
        "PRIVATE-TOKEN: moss",
        "X-Auth-Token: moss",
        "Api-Key: moss",
        "X-ApiKey: moss",
        "X-Session-Id: moss",
        "X-Secret: moss",
        "X-Frog: Bearer moss-and-fern",
        "X-Frog: Basic ZnJvZzptb3Nz",
        "X-Frog: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmcm9nIn0.c2ln",
        "X-Frog: glpat-abcdefghijklmnop",
    ],
)
def test_a_secret_in_the_clear_is_refused_by_its_name_or_its_looks(line: str) -> None:
    """SEC-08, on the command line and in a job file."""
    with pytest.raises(ArgumentTypeError, match="stored in the clear"):
        read_header(line)
    with pytest.raises(ValueError, match="stored in the clear"):
        refuse_clear_header(line)
    assert read_header(f"{line.partition(':')[0]}: env:NAME")


@pytest.mark.parametrize(
    "line",
    [
        "Accept: text/html,application/xhtml+xml;q=0.9",
        "X-Author: a frog",
        "X-Keyword: pond",
        "X-Project: frogs-of-the-northern-marshes-2024",
        "Referer: https://marsh.test/frogs/2024/index.html",
        "X-Frog: 12345678901234567890",
        "From: frog@marsh.test",
    ],
)
def test_what_is_no_secret_may_be_typed(line: str) -> None:
    assert ": ".join(read_header(line)) == line


@pytest.mark.parametrize(
    "line",
    [
        "Referer: https://marsh.test/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "X-Client-Version: v20240131build9f86d081884c",
        'If-None-Match: "5d41402abc4b2a76b9719d911017c592"',
        "X-Request-Id: 0b5fbd9c-6b0d-4a5e-8f5c-0f9f3f2d7c11",
        "X-Frog: kJ8sLq02mZx7Vb1Ndd93fhTT",
    ],
)
def test_what_only_may_be_a_secret_may_be_typed_and_goes_to_the_seeds_alone(line: str) -> None:
    """SEC-08: whatever `--headers-to any` says."""
    refuse_clear_header(line)
    header = read_header(line)
    filled = with_secrets(make_job(options=Options(headers=(header,), headers_to=("any",))), {}).options
    assert (filled.headers, filled.private_headers) == ((), (header,))


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("api.marsh.test", "https://api.marsh.test"),
        ("http://api.marsh.test:81/x", "http://api.marsh.test:81"),
        ("any", "any"),
    ],
)
def test_headers_go_to_a_host_that_was_named(text: str, origin: str) -> None:
    assert read_headers_to(text) == origin


def test_what_is_no_host_gets_no_headers() -> None:
    with pytest.raises(ArgumentTypeError):
        read_headers_to("ftp://x")


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


def test_a_typed_header_reaches_the_seed_and_no_host_that_a_page_names(tmp_path: Path) -> None:
    """SEC-08, through the command: links and redirects lead elsewhere, the header stays; told so, it goes along."""
    with in_a_thread(pond := HostileSite(more=PAGES)), in_a_thread(lake := HostileSite(more=PAGES)):
        links = f"<a href=http://{lake.address}/page>x</a><a href=/away>y</a>".encode()
        pond._behaviours["/"] = answer(links, "Content-Type: text/html")
        pond._behaviours["/away"] = answer(b"", f"Location: http://{lake.address}/there", status="302 Found")
        words = ["crawl", pond.url("/"), "--scope", "any", "--allow", pond.address, "--allow", lake.address]
        words += ["--delay", "0", "--header", "X-Team: frogs", "--header", "DNT: 1"]
        assert holdfast(*words, "--name", "one", cwd=tmp_path).code == 0
        asked = len(lake.heads)
        assert all(b"X-Team: frogs" in head for head in pond.heads)
        assert not any(b"X-Team" in head for head in lake.heads)
        assert all(b"DNT: 1" in head for head in lake.heads)
        assert asked >= 2
        done = holdfast(*words, "--name", "two", "--headers-to", f"http://{lake.address}", cwd=tmp_path)
        assert (done.code, all(b"X-Team" in head for head in lake.heads[asked:])) == (0, True), done.err
        assert len(lake.heads) > asked


def test_secrets_reach_the_list_of_documents_and_no_origin_that_it_leads_to(tmp_path: Path) -> None:
    """SEC-08: filled in for robots.txt and the list; one that cannot be read is said before anything is sent."""
    (tmp_path / "key").write_text("moss\n")
    rows = answer(b"url,id\nhttps://pond.test/a.pdf,A\n", "Content-Type: text/csv")
    with (
        in_a_thread(pond := HostileSite()),
        in_a_thread(lake := HostileSite(more={"/list.csv": rows})),
    ):
        pond._behaviours["/list.csv"] = answer(b"", f"Location: {lake.url('/list.csv')}", status="302 Found")
        words = ["docs", pond.url("/list.csv"), "--allow", pond.address, "--allow", lake.address, "--start-paused"]
        words += ["--header", "Authorization: env:WORD", "--header", f"X-Key: file:{tmp_path / 'key'}"]
        words += ["--header", "DNT: 1", "--delay", "0"]
        unread = holdfast(*words, "--proxy", "env:WAY", cwd=tmp_path, WORD="fern")
        assert (unread.code, pond.heads) == (2, []), unread.err
        assert "--proxy: the environment has no WAY" in unread.err
        done = holdfast(*words, cwd=tmp_path, WORD="fern")
        assert done.code == 0, done.err
    assert len(pond.heads) == len(lake.heads) == 2  # robots.txt and the list
    assert all(b"Authorization: fern\r\n" in head and b"X-Key: moss\r\n" in head for head in pond.heads)
    assert not any(name in head for head in lake.heads for name in (b"Authorization", b"X-Key"))
    assert all(b"DNT: 1" in head for head in pond.heads + lake.heads)
