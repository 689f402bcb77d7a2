"""Reference walkers of the court's search, without Holdfast: one by plain HTTP over many numbers, one with a
browser.
"""

from __future__ import annotations

import html
import http.client
import json
import re
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

PAGE = "/en/court-files-and-decisions/court-files"
TRIES = 6
LABELS = {
    "Type": "case_type",
    "Nature of Proceeding": "nature_of_proceeding",
    "Office": "office",
    "Language": "language",
    "Type of Action": "action_type",
    "Filing Date": "filing_date",
}


def record_in(modal: str, row: dict[str, str], url: str) -> dict[str, Any] | None:
    """The record of a modal; None where it is another case's, or not all there."""
    number = row["court_number"]
    title = re.search(r"Recorded Entry Information :\s+(\S+)<", modal)
    header = re.findall(r"<strong>([^<]+) :</strong> &nbsp;([^<]*)<", modal)
    fields = {LABELS[name]: html.unescape(text) for name, text in header}
    data = modal.partition("Information about the court file")[2]
    cells = [re.findall(r"<td>(.*?)</td>", line) for line in re.findall(r"<tr>(<td>.*?)</tr>", data)]
    if title is None or title[1] != number or not fields["filing_date"] or not fields["office"] or not cells:
        return None
    entries = [
        {
            "id": f"{number}/{cell[0]}",
            "case_id": number,
            "doc_id": int(cell[0]),
            "entry_date": cell[1],
            "entry_office": html.unescape(cell[2]),
            "summary": html.unescape(cell[3]),
        }
        for cell in cells
    ]
    style = row["style_of_cause"]
    known = {
        "case_id": number,
        "case_number": number,
        "title": style,
        "style_of_cause": style,
        "court": "Federal Court",
    }
    return {**known, **fields, "date": fields["filing_date"], "url": url, "docket_entries": entries}


class Walker:
    """Plain HTTP on one connection."""

    def __init__(self, base: str) -> None:
        self.base, self.cookie, self.draw = base, "", 0
        self.connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=20)

    def ask(self, path: str) -> tuple[int, str]:
        self.connection.request("GET", path, headers={"Cookie": self.cookie} if self.cookie else {})
        response = self.connection.getresponse()
        if cookie := response.headers.get("set-cookie"):
            self.cookie = cookie.partition(";")[0]
        return response.status, response.read().decode()

    def row(self, number: str) -> dict[str, str] | None:
        """The row of a number; a miss counts when it was seen twice in a row."""
        misses = 0
        for _ in range(TRIES):
            if not self.cookie:
                self.ask(PAGE)
            self.draw += 1
            status, body = self.ask(f"/api/court-files?court=t&number={number}&draw={self.draw}")
            if status == 401:
                self.cookie = ""
            if status != 200:
                continue
            answer = json.loads(body)
            rows = [row for row in answer["data"] if row["court_number"] == number]
            if rows:
                return dict(rows[0])
            misses += answer["number"] == number and not answer["data"]
            if misses == 2:
                return None
        raise AssertionError(f"no settled answer about {number}")

    def record(self, number: str) -> dict[str, Any] | None:
        row = self.row(number)
        if row is None:
            return None
        for _ in range(TRIES):
            status, modal = self.ask(f"/api/court-files/{number}/entries")
            record = record_in(modal, row, self.base + PAGE) if status == 200 else None
            if record:
                return record
        raise AssertionError(f"no whole record of {number}")


def walk(base: str, numbers: Iterable[int]) -> dict[str, dict[str, Any] | None]:
    """Case id -> record, or None where there is provably none."""
    walker = Walker(base)
    try:
        return {f"IMM-{number}-49": walker.record(f"IMM-{number}-49") for number in numbers}
    finally:
        walker.connection.close()


def walk_in_browser(page: Any, base: str, numbers: Iterable[int]) -> dict[str, dict[str, Any] | None]:
    """The same with a browser page of Playwright: tab, input, button, table, modal."""
    page.goto(base + PAGE)
    page.click('a[href="#tab02"]')
    return {f"IMM-{number}-49": _seen(page, base, f"IMM-{number}-49") for number in numbers}


def _seen(page: Any, base: str, number: str) -> dict[str, Any] | None:
    misses = 0
    for _ in range(TRIES):
        page.fill("#selectCourtNumber", number)
        page.click("#tab02Submit", force=True)
        row = _settled_row(page, number)
        if row is None:
            misses += 1
            if misses == 2:
                return None
            continue
        page.evaluate("document.querySelector('#ModalForm .modal-content').textContent = ''")
        page.evaluate("document.getElementById('re').click()")
        page.wait_for_function("document.querySelector('#ModalForm .modal-title') !== null", timeout=10_000)
        record = record_in(page.inner_html("#ModalForm .modal-content"), row, base + PAGE)
        page.evaluate("document.getElementById('ModalForm').classList.remove('show')")
        if record:
            return record
    raise AssertionError(f"no settled answer about {number}")


def _settled_row(page: Any, number: str, *, seconds: float = 2.5) -> dict[str, str] | None:
    """The row of the number, or None when for all that time the table did not show it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        cells = page.eval_on_selector_all("#datatable tbody tr:first-child td", "all => all.map(td => td.textContent)")
        if cells and cells[0] == number:
            return {"court_number": cells[0], "style_of_cause": cells[1], "nature_of_proceeding": cells[2]}
        page.wait_for_timeout(50)
    return None
