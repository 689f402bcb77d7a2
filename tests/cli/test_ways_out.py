"""`crawl --cookies --proxy --header --user-agent` as a user types them (ux 3.2, SEC-06)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import holdfast, ledger_in
from fetch.hostile import HostileSite, answer, in_a_thread
from fetch.proxies import Proxy

HTML = "Content-Type: text/html"
MORE = {
    "/": answer(b"<a href=/shore>shore</a>", HTML, "Set-Cookie: tadpole=1"),
    "/shore": answer(b"<p>reeds</p>", HTML),
}


@pytest.fixture
def site() -> Iterator[HostileSite]:
    site = HostileSite(more=MORE)
    with in_a_thread(site):
        yield site


def crawl(site: HostileSite, folder: Path, *words: str, code: int = 0, **env: str) -> str:
    fixed = ("--allow", site.address, "--delay", "0", "--name", "frogs")
    done = holdfast("crawl", site.url("/"), *fixed, *words, cwd=folder, **env)
    assert done.code == code, done.err
    return done.err


def heads(site: HostileSite) -> dict[str, str]:
    """Path -> the whole head of its one request, of pages only."""
    found = {head.split()[1].decode(): head.decode() for head in site.heads}
    return {path: head for path, head in found.items() if path in MORE}


def test_a_site_crawl_keeps_no_cookies_unless_it_is_asked_to(site: HostileSite, tmp_path: Path) -> None:
    crawl(site, tmp_path)
    assert "Cookie:" not in heads(site)["/shore"]
    crawl(site, tmp_path, "--new", "--cookies")
    assert "\r\nCookie: tadpole=1\r\n" in heads(site)["/shore"]
    with ledger_in(tmp_path) as ledger:
        assert ledger.job("frogs").options.cookies


def test_a_crawl_goes_through_the_proxy_and_its_password_is_not_stored(site: HostileSite, tmp_path: Path) -> None:
    proxy = Proxy("http", to=site.address, password="moss")
    with in_a_thread(proxy):
        crawl(site, tmp_path, "--proxy", "env:MARSH_PROXY", MARSH_PROXY=proxy.url, http_proxy="http://127.0.0.1:9")
    assert {f"GET {site.url('/')}", f"GET {site.url('/shore')}"} <= set(proxy.asked)
    assert set(heads(site)) == {"/", "/shore"}
    stored = b"".join(path.read_bytes() for path in (tmp_path / "holdfast-data").rglob("*") if path.is_file())
    assert b"moss" not in stored


def test_a_proxy_that_is_named_and_not_there_is_refused_before_a_job_is_made(site: HostileSite, tmp_path: Path) -> None:
    said = crawl(site, tmp_path, "--proxy", "env:MARSH_PROXY", code=2)
    assert "--proxy: the environment has no MARSH_PROXY" in said
    said = crawl(site, tmp_path, "--proxy", "http://frog:moss@proxy.example:3128", code=2)
    assert "stored in the clear" in said
    assert "moss" not in said
    with ledger_in(tmp_path) as ledger:
        assert ledger.jobs() == []


def test_a_secret_header_reaches_the_site_it_was_given_for_and_the_agent_is_ours_to_choose(
    site: HostileSite, tmp_path: Path
) -> None:
    plain = ("--header", "Accept-Language: fr", "--user-agent", "marsh/1")
    crawl(site, tmp_path, "--header", "Authorization: env:TOKEN", *plain, TOKEN="fern")
    for head in heads(site).values():
        assert "\r\nAuthorization: fern\r\n" in head
        assert "\r\nAccept-Language: fr\r\n" in head
        assert "\r\nUser-Agent: marsh/1\r\n" in head
    assert "line break" in crawl(site, tmp_path, "--new", "--header", "X-Key: env:K", code=2, K="a\r\nb")
