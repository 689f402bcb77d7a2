"""`crawl --sitemap` and start URLs that are lists, as a user types them (SIT-02, ux 3.2)."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cli.commands import Done, holdfast, ledger_in
from fetch.hostile import HostileSite, answer, in_a_thread
from holdfast.audit.verify import verify

HTML, XML, TEXT = "Content-Type: text/html", "Content-Type: application/xml", "Content-Type: text/plain"
PACKED = "Content-Type: application/x-gzip"
HOST = "http://marsh.test"


def urlset(*paths: str) -> bytes:
    rows = "".join(f"<url><loc>{HOST}{path}</loc><lastmod>2999-01-01</lastmod></url>" for path in paths)
    return f"<urlset>{rows}</urlset>".encode()


def index(*paths: str) -> bytes:
    rows = "".join(f"<sitemap><loc>{HOST}{path}</loc></sitemap>" for path in paths)
    return f"<sitemapindex>{rows}</sitemapindex>".encode()


def page(*paths: str) -> bytes:
    return answer("".join(f"<a href={path}>x</a>" for path in paths).encode(), HTML)


PAGES: dict[str, Any] = {
    "/": page("/linked"),
    "/linked": page(),
    "/hidden": page("/below"),
    "/packed": page(),
    "/below": page(),
    "/named.xml": answer(index("/part.xml", "/part.xml.gz", "/named.xml"), XML),
    "/part.xml": answer(urlset("/hidden", "/linked"), XML),
    "/part.xml.gz": answer(gzip.compress(urlset("/packed")), PACKED),
}
ROBOTS = {
    "/robots.txt": answer(f"Sitemap: {HOST}/named.xml\nSitemap: http://elsewhere.test/sitemap.xml".encode(), TEXT)
}


@contextmanager
def serving(pages: dict[str, Any]) -> Iterator[HostileSite]:
    site = HostileSite(more=pages)
    with in_a_thread(site):
        yield site


def crawl(site: HostileSite, folder: Path, url: str, *words: str) -> Done:
    fixed = ("--resolve", f"marsh.test={site.address}", "--delay", "0", "--name", "frogs")
    return holdfast("crawl", url, *fixed, *words, cwd=folder)


def told(folder: Path) -> dict[str, tuple[str, str, int]]:
    """Path -> status or disposition, type, depth; the books are checked too."""
    with ledger_in(folder) as ledger:
        job = ledger.job("frogs")
        assert verify(ledger.query, job.id) == []
        rows = ledger.targets(job.id)
        return {
            row.url.removeprefix(HOST): (row.disposition or row.code or row.status, row.type, row.depth) for row in rows
        }


def pages_of(folder: Path) -> set[str]:
    with ledger_in(folder) as ledger:
        return {row.url.removeprefix(HOST) for row in ledger.pages(ledger.job("frogs").id)}


def test_auto_begins_with_the_start_url_and_with_what_robots_txt_names(tmp_path: Path) -> None:
    """SIT-02: sitemap by robots.txt, index, gz; pages only listed there are crawled, and from there on by links."""
    with serving(PAGES | ROBOTS) as site:
        done = crawl(site, tmp_path, f"{HOST}/", "--sitemap", "auto")
    assert done.code == 0, done.err
    assert pages_of(tmp_path) == {"/", "/linked", "/hidden", "/packed", "/below"}
    found = told(tmp_path)
    assert found["/named.xml"] == ("sitemap", "sitemap", 0)
    assert found["/part.xml.gz"] == ("sitemap", "sitemap", 0)
    assert found["/hidden"] == ("page", "page", 1)
    assert "http://elsewhere.test/sitemap.xml" not in found
    asked = Counter(head.split()[1].decode() for head in site.heads)
    assert {path: times for path, times in asked.items() if times > 1} in ({}, {"/robots.txt": 2})


def test_only_fetches_what_sitemaps_list_and_follows_no_link(tmp_path: Path) -> None:
    with serving(PAGES | ROBOTS) as site:
        assert crawl(site, tmp_path, f"{HOST}/", "--sitemap", "only").code == 0
    assert pages_of(tmp_path) == {"/linked", "/hidden", "/packed"}


def test_where_robots_txt_names_none_the_usual_place_is_tried_and_its_absence_is_no_failure(tmp_path: Path) -> None:
    with serving(PAGES) as site:
        done = crawl(site, tmp_path, f"{HOST}/", "--sitemap", "auto")
    assert done.code == 0, done.err
    assert told(tmp_path)["/sitemap.xml"] == ("no_record", "probe", 0)
    assert pages_of(tmp_path) == {"/", "/linked"}


def test_only_without_any_sitemap_is_a_job_that_failed(tmp_path: Path) -> None:
    with serving(PAGES) as site:
        done = crawl(site, tmp_path, f"{HOST}/", "--sitemap", "only")
    assert told(tmp_path)["/sitemap.xml"] == ("http_404", "sitemap", 0)
    assert done.code in (3, 8), done.err
    assert "http_404 1" in done.err


def test_off_asks_for_no_sitemap(tmp_path: Path) -> None:
    with serving(PAGES | ROBOTS) as site:
        assert crawl(site, tmp_path, f"{HOST}/").code == 0
        assert crawl(site, tmp_path, f"{HOST}/", "--new", "--sitemap", "off").code == 0
    assert not any(b"xml" in head.split()[1] for head in site.heads)


def test_a_start_url_that_is_a_sitemap_is_read_as_one(tmp_path: Path) -> None:
    pages = PAGES | {"/sitemap.txt": answer(f"{HOST}/hidden\n{HOST}/packed\n".encode(), TEXT)}
    with serving(pages) as site:
        assert crawl(site, tmp_path, f"{HOST}/sitemap.txt").code == 0
    assert pages_of(tmp_path) == {"/hidden", "/packed", "/below"}


def test_a_start_url_that_is_an_llms_txt_is_a_list_of_links(tmp_path: Path) -> None:
    pages = PAGES | {
        "/llms.txt": answer(b"# The Marsh\n- [Hidden](/hidden): a page\n- [Full](/llms-full.txt)\n", TEXT),
        "/llms-full.txt": answer(b"# All of it\n[not](/a-link)\n", TEXT),
    }
    with serving(pages) as site:
        assert crawl(site, tmp_path, f"{HOST}/llms.txt").code == 0
    assert pages_of(tmp_path) == {"/llms.txt", "/llms-full.txt", "/hidden", "/below"}


def test_sitemaps_are_judged_by_the_scope_and_deep_indexes_are_not_followed(tmp_path: Path) -> None:
    """H11: an index may name indexes, and no further; patterns leave pages out, not the lists of them."""
    pages = PAGES | {
        "/robots.txt": answer(f"Sitemap: {HOST}/one.xml".encode(), TEXT),
        "/one.xml": answer(index("/two.xml"), XML),
        "/two.xml": answer(index("/three.xml"), XML),
        "/three.xml": answer(index("/part.xml"), XML),
        "/part.xml": answer(urlset("/hidden", "/packed"), XML),
    }
    with serving(pages) as site:
        done = crawl(site, tmp_path, f"{HOST}/", "--sitemap", "only", "--exclude", "/packed", "--include", "/*d*")
    found = told(tmp_path)
    assert done.code == 3, done.err
    assert found["/three.xml"][0] == "answer_unreadable"
    assert "/part.xml" not in found


def test_what_is_left_out_of_a_list_is_counted_and_told_fro_15(tmp_path: Path) -> None:
    """FRO-15: by the list's row, in the summary and in `status`, and by `explain`."""
    whole = urlset("/hidden", "/linked", "/below").replace(
        b"</urlset>", b"<url><loc>http://a.test/</loc></url></urlset>"
    )
    cut = gzip.compress(whole.replace(b"/below", b""))[:-9]
    pages = PAGES | {
        "/robots.txt": answer(f"Sitemap: http://elsewhere.test/s.xml\nSitemap: {HOST}/cut.xml.gz".encode(), TEXT),
        "/cut.xml.gz": answer(cut, PACKED),
    }
    with serving(pages) as site:
        done = crawl(site, tmp_path, f"{HOST}/", "--sitemap", "only", "--max-attempts", "2")
        why = holdfast("explain", "frogs", f"{HOST}/cut.xml.gz", "--json", cwd=tmp_path).json()
    found = told(tmp_path)
    assert found["/cut.xml.gz"] == ("in_part", "sitemap", 0)
    assert found["/robots.txt"][0] == "in_part"
    assert {"/hidden", "/linked"} <= set(found)
    assert "not read to its end: its gzip ends too early" in why["because"]
    assert [each["code"] for each in why["attempts"]] == ["body_incomplete", None]
    note = next(line for line in done.err.splitlines() if "taken in part: 2 lists of URLs" in line)
    assert "names 1 sitemap of this site; left out: 1 of other sites" in note
    assert "disposition:in_part" in holdfast("status", "frogs", cwd=tmp_path).out


def test_a_feed_that_robots_txt_names_is_read_as_a_sitemap_fro_15(tmp_path: Path) -> None:
    items = "".join(f"<item><link>{HOST}{path}</link></item>" for path in ("/hidden", "/packed"))
    pages = PAGES | {
        "/robots.txt": answer(f"Sitemap: {HOST}/feed.rss".encode(), TEXT),
        "/feed.rss": answer(f"<rss><channel><link>{HOST}/</link>{items}</channel></rss>".encode(), XML),
    }
    with serving(pages) as site:
        done = crawl(site, tmp_path, f"{HOST}/", "--sitemap", "only")
    assert done.code == 0, done.err
    assert pages_of(tmp_path) == {"/hidden", "/packed"}
    assert "in part" not in done.err


def test_a_sitemap_of_fifty_thousand_pages_is_one_commit_and_survives_a_resume(tmp_path: Path) -> None:
    many = answer(urlset(*(f"/p{n}" for n in range(50_000))), XML)
    with serving({"/sitemap.xml": many, "/robots.txt": answer(b"", TEXT)}) as site:
        done = crawl(site, tmp_path, f"{HOST}/sitemap.xml", "--max-pages", "3", "--max-attempts", "1")
        assert done.code == 13, done.err
        assert sum(head.split()[1] == b"/sitemap.xml" for head in site.heads) == 1
    with ledger_in(tmp_path) as ledger:
        job = ledger.job("frogs")
        assert ledger.books(job.id)[1].discovered == 50_001
        assert verify(ledger.query, job.id) == []


def test_another_sitemap_mode_is_another_scope(tmp_path: Path) -> None:
    with serving(PAGES) as site:
        crawl(site, tmp_path, f"{HOST}/", "--sitemap", "auto", "--start-paused")
        done = crawl(site, tmp_path, f"{HOST}/", "--sitemap", "only")
    assert (done.code, "sitemap: auto, now only" in done.err) == (6, True)
