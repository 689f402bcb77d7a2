"""The HTML report in Chromium: quiet, alone, on paper as on the screen, and its links lead to words that are there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from fetch.browsing import need_chromium
from holdfast.fetch.browser.executable import find_executable
from holdfast.views.reports import as_html
from recipes.companies import Company, company
from views.test_reports import report

HTML = "text/html; charset=utf-8"
PAPER = {"width": 680, "height": 960}  # A4 within its margins
LINES_OF_TYPES = """() => [...document.querySelectorAll('#pages td:nth-child(2)')].map(cell => {
    const range = document.createRange(); range.selectNodeContents(cell); return range.getClientRects().length })"""


@contextmanager
def chromium_page() -> Iterator[Any]:
    need_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_executable(), args=["--no-sandbox", "--no-proxy-server"]
        )
        try:
            yield browser.new_page()
        finally:
            browser.close()


def test_a_report_is_quiet_and_its_links_lead_to_words_on_their_pages(tmp_path: Path) -> None:
    made, file = company(1), tmp_path / "report.html"
    file.write_text(as_html(report(made)), encoding="utf-8")
    with chromium_page() as page:
        heard: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_load_state("networkidle")
        assert (heard, asked) == ([], [file.as_uri()])
        marks = "marks => marks.map(mark => document.querySelector(mark.hash + ' a.page').getAttribute('href'))"
        links = [link.partition("#:~:text=") for link in page.eval_on_selector_all("sup a", marks)]
        shown = {url: shown_text(page, made, url) for url, _, _ in links}
    fragments = [(url, unquote(part)) for url, _, text in links if text for part in text.split(",")]
    assert len(fragments) > 40
    assert [(url, words) for url, words in fragments if words not in shown[url]] == []


def shown_text(page: Any, made: Company, url: str) -> str:
    """What Chromium shows of a page, on one line."""
    page.unroute_all()
    page.route("**/*", lambda route: route.fulfill(body=made.pages.get(route.request.url, b""), content_type=HTML))
    page.goto(url)
    return " ".join(page.inner_text("body").split())


def test_types_of_pages_are_whole_on_paper(tmp_path: Path) -> None:
    """Beside a long title they were broken as `product/s`."""
    document = report(company(1))
    for each in document["pages"]:
        each["title"] = "Instruments for people who measure " * 3
    file = tmp_path / "report.html"
    file.write_text(as_html(document), encoding="utf-8")
    with chromium_page() as page:
        page.set_viewport_size(PAPER)
        page.emulate_media(media="print")
        page.goto(file.as_uri())
        lines = page.evaluate(LINES_OF_TYPES)
    assert lines
    assert set(lines) == {1}
