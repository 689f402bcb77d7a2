"""A report as Markdown and HTML: one file, nothing from elsewhere, nothing alive in what was crawled (SIT-08)."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from holdfast.errors import BadParams
from holdfast.recipes.site.analysis.sections import SECTIONS
from holdfast.recipes.site.report.document import report_document
from holdfast.views.reports import ReportRequest, as_html, as_markdown, report_of, report_reader, written
from holdfast.views.reports.evidence import page_link, shown_passage
from recipes.companies import Company, company
from recipes.test_site_analysis import corpus

EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


def report(made: Company, **metadata: Any) -> dict[str, Any]:
    whole = corpus(made)
    document = report_document(whole, [make(whole) for make in SECTIONS.values()])
    head = {"job": "J-1", "name": "acme", "run": "R-1", "partial": False, "because": None, **metadata}
    return {
        **document,
        "analysis": {"version": 1, **document["analysis"]},
        "metadata": {**document["metadata"], **head},
    }


def evil_company() -> Company:
    escaped = EVIL.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    page = (
        f"<html><head><title>{escaped}</title><meta name=description content='{escaped}'></head><body>"
        f"<p>Ines Calloway, Chief Executive {escaped} of Acme Ltd. We build {escaped} for you.</p></body></html>"
    )
    return Company(company(1).pool, {"https://acme.test/": page.encode(), "https://acme.test/about": page.encode()})


@pytest.mark.parametrize("make", [lambda: company(1), lambda: company(2), evil_company])
def test_the_html_report_brings_no_script_and_nothing_from_elsewhere(make: Any) -> None:
    text = as_html(report(make()))
    tree = LexborHTMLParser(text)
    assert [node.tag for node in tree.css("script, img, iframe, object, embed, link, base, form, video, audio")] == []
    handlers = [name for node in tree.css("*") for name in node.attributes if name.startswith("on") or name == "style"]
    assert handlers == []
    hrefs = [node.attributes.get("href") or "" for node in tree.css("a")]
    assert hrefs
    assert all(href.startswith(("#", "https://")) for href in hrefs)
    assert not re.search(r"url\(|@import", text)


def test_the_policy_of_the_file_allows_its_own_style_only() -> None:
    tree = LexborHTMLParser(as_html(report(company(1))))
    style = re.search(r"<style>(.*?)</style>", as_html(report(company(1))), re.DOTALL)
    assert style is not None
    policy = tree.css_first('meta[http-equiv="Content-Security-Policy"]').attributes["content"] or ""
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")


def test_every_mark_of_a_statement_leads_to_its_passage() -> None:
    tree = LexborHTMLParser(as_html(report(company(1))))
    places = {node.attributes.get("id") for node in tree.css("[id]")}
    marks = [node.attributes.get("href") or "" for node in tree.css("sup a")]
    assert len(marks) > 40
    hrefs = [node.attributes.get("href") or "" for node in tree.css("a")]
    assert [href for href in hrefs if href.startswith("#") and href.removeprefix("#") not in places] == []


def test_crawled_words_are_no_markdown() -> None:
    text = as_markdown(report(evil_company()))
    assert "<script>" not in text
    assert "\\<script\\>" in text


def test_a_partial_report_says_so_in_every_form() -> None:
    partial = report(company(1), partial=True, because="the job is timeout in its phase analyzing")
    for form in ("md", "html"):
        assert "partial report" in written(partial, form).decode().lower()
        assert "phase analyzing" in written(partial, form).decode()
    assert b'"partial": true' in written(partial, "json")


def test_the_same_report_is_written_the_same() -> None:
    for form in ("md", "html", "json"):
        assert written(report(company(1)), form) == written(report(company(1)), form)


@pytest.mark.parametrize(
    ("passage", "at", "fragment"),
    [
        ("short, and sweet-er", 3, "#:~:text=short%2C%20and%20sweet%2Der"),
        ("Ines Calloway\nChief Executive", 3, "#:~:text=Ines%20Calloway,Chief%20Executive"),
        ("in the markup", -1, ""),
        ("w " * 60 + "end", 3, "#:~:text=w%20w%20w%20w,w%20w%20w%20end"),
    ],
)
def test_a_link_leads_to_the_words_on_the_page(passage: str, at: int, fragment: str) -> None:
    assert page_link("https://a.test/x#top", passage, at) == f"https://a.test/x{fragment or '#top'}"


def test_only_pages_of_the_web_are_linked() -> None:
    assert page_link("javascript:alert(1)", "x", 1) == ""


def test_long_passages_are_cut_where_they_are_shown() -> None:
    assert len(shown_passage("word " * 200)) <= 260


def test_a_missing_package_is_a_wrong_call_and_named_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same sentence and exit code as where the report is asked for with the crawl."""
    monkeypatch.setattr("holdfast.views.reports.versions.missing_packages", lambda: ["cleanco"])
    nothing: Any = None
    with (
        pytest.raises(BadParams, match="not installed: cleanco") as refused,
        report_reader(nothing, nothing, nothing, nothing),
    ):
        pass
    assert refused.value.hint == "pip install 'holdfast[report]'"


def test_who_asks_for_a_report_of_another_kind_is_told_which_have_one() -> None:
    job: Any = SimpleNamespace(name="pets", recipe="images", params={})
    with pytest.raises(BadParams) as refused:
        report_of(ReportRequest(None, None, job, None, None))  # type: ignore[arg-type]
    assert refused.value.message.endswith(
        "reports are made of jobs of `holdfast crawl`, `holdfast cases`, `holdfast docs`"
    )
