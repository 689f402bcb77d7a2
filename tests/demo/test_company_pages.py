"""What the company's pages hold: all that worlds 4 names, planted where the oracle says, other for another seed."""

from __future__ import annotations

import gzip
import re
import subprocess
from pathlib import Path

import pytest

from holdfast.demo.company.world import Company, write_company
from holdfast.demo.serving import WorldServer
from holdfast.demo.world import body_at
from holdfast.recipes.site.text import visible_text
from servers import need_tool

BASE = "http://world.test"
HTML = "text/html; charset=utf-8"
KINDS = {
    "person", "org", "location", "product", "date", "money", "email", "phone", "address", "social_handle", "tech_stack",
}  # fmt: skip


@pytest.fixture(scope="module")
def company() -> Company:
    return write_company(7)


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_every_company_has_140_pages_in_five_levels(seed: int) -> None:
    company = write_company(seed)
    assert len([page for page in company.library.values() if page.is_html and page.status == 200]) == 140
    assert {row["depth"] for row in company.oracle(BASE)["pages"]} == {0, 1, 2, 3, 4, 5}


def test_one_seed_gives_the_same_bytes(company: Company) -> None:
    again = write_company(7)
    assert {url: page.body for url, page in again.library.items()} == {
        url: page.body for url, page in company.library.items()
    }


def test_another_company_has_other_people_products_and_words(company: Company) -> None:
    """A rule that was tuned on one company is tried on another: names and sentences are not shared."""
    other = write_company(8)
    ours, theirs = (
        {row["value"] for row in each.oracle(BASE)["entities"] if row["kind"] != "date"} for each in (company, other)
    )
    assert not ours & theirs
    sentences = [
        set(re.findall(r"[A-Z][^.!?]{30,}[.!?]", visible_text(each.library["/about-us/"].body, HTML) or ""))
        for each in (company, other)
    ]
    assert sentences[0]
    assert not sentences[0] & sentences[1]


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_each_planted_entity_stands_on_its_page(seed: int) -> None:
    """Where no reader sees it (a generator tag, a script, a link) its sign stands in the HTML."""
    company = write_company(seed)
    rows = company.oracle(BASE)["entities"]
    assert {row["kind"] for row in rows} == KINDS
    for row in rows:
        page = company.page(*row["url"].removeprefix(BASE).partition("?")[::2])
        assert page is not None
        text = " ".join((visible_text(page.body, HTML) or "").split())
        hidden = row.get("sign") or row.get("link") or ""
        assert row["passage"] in text or row["passage"].encode() in page.body or hidden.encode() in page.body, row


def test_phones_are_spelled_in_three_ways_and_one_mail_is_obfuscated(company: Company) -> None:
    rows = company.oracle(BASE)["entities"]
    phones = [row for row in rows if row["kind"] == "phone"]
    assert len({row["value"] for row in phones}) == 2
    assert len({re.sub(r"\d", "9", row["passage"].partition(" ")[2]) for row in phones}) >= 3
    assert [row["value"] for row in rows if row.get("obfuscated")] == [f"press@{company.facts.domain}"]


def test_the_sitemap_is_an_index_with_a_packed_part(company: Company) -> None:
    index = body_at(company.library["/sitemap.xml"], BASE)
    assert index.count(b"<lastmod>") == 2
    packed = gzip.decompress(body_at(company.library["/sitemap-archive.xml.gz"], BASE))
    whole = packed + body_at(company.library["/sitemap-pages.xml"], BASE)
    assert b"http://world.test/campaign/spring" in whole
    linked = {link for page in company.library.values() for link in page.links}
    assert "/campaign/spring" not in linked


def test_robots_txt_forbids_a_folder_and_asks_for_a_second(company: Company) -> None:
    text = body_at(company.library["/robots.txt"], BASE).decode()
    assert "Disallow: /private/\nCrawl-delay: 1\n" in text


@pytest.mark.parametrize("path", ["/files/annual-report.pdf", "/files/datasheet.pdf"])
def test_a_pdf_opens(path: str, company: Company, tmp_path: Path) -> None:
    file = tmp_path / "it.pdf"
    file.write_bytes(company.library[path].body)
    done = subprocess.run(
        [need_tool("pdftotext"), str(file), "-"], capture_output=True, text=True, timeout=30, check=True
    )
    assert company.facts.products[0].name in done.stdout
    assert not done.stderr


def test_pages_have_what_machines_read(company: Company) -> None:
    home = company.library["/"].body
    for mark in (b"application/ld+json", b'property="og:site_name"', b'hreflang="de"', b'name="generator"'):
        assert mark in home
    assert b'content="noindex"' in company.library["/team/alumni"].body
    assert b'content="nofollow"' in company.library["/notes"].body
    wrong = company.library[f"/products/{company.facts.products[3].slug}"].body
    assert f'rel="canonical" href="/products/{company.facts.products[4].slug}"'.encode() in wrong


def test_a_later_edition_has_one_post_more(company: Company) -> None:
    before, after = ({row["url"] for row in each.oracle(BASE)["pages"]} for each in (company, company.advanced(1)))
    assert before < after
    # One of them is the post, the other the page of the list that it pushes the oldest to.
    assert len(after - before) == 2


def test_a_browser_sees_what_the_oracle_says_and_a_reader_of_html_does_not(company: Company, tmp_path: Path) -> None:
    with WorldServer("company", log_path=tmp_path / "log", seed=7, delay_ms=0) as world:
        drawn = world.oracle()["drawn"][f"{world.url}/status"]
        words = (need_tool("chromium"), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/c")
        done = subprocess.run(
            [*words, "--virtual-time-budget=2000", "--dump-dom", f"{world.url}/status"],
            capture_output=True, text=True, timeout=90, check=True,
        )  # fmt: skip
    html = company.library["/status"].body.decode()
    assert drawn["text"] not in (visible_text(html.encode(), HTML) or "")
    assert f"<h1>{drawn['text']}</h1>".replace("&", "&amp;") in done.stdout
    assert '<a href="/status/history">' in done.stdout
    assert '<a href="/status/history">' not in html
