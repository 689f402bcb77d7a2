"""Reads the modal of a court file: header lines and docket entries. Parses only; `completeness` judges what came out.

The modal has two tables with the same header. The first explains the columns and is never data; the second, under the
caption "Information about the court file", is.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

MODAL_CHARS_MAX = 5_000_000
DOCKET = "information about the court file"
HEADS = ("id", "date filed", "office", "recorded entry summary")
BLOCKS = (
    "address, article, aside, blockquote, br, caption, dd, div, dl, dt, footer, form, h1, h2, h3, h4, h5, h6, header, "
    "hr, li, main, nav, ol, p, pre, section, table, td, th, tr, ul"
)
TEMPLATE_ROW = ("#", "yyyy-mm-dd")  # how a row begins that explains the columns
_TITLE = re.compile(r"recorded entry information\s*:\s*(\S+)", re.IGNORECASE)
_FIELDS = {
    "type": "case_type",
    "nature of proceeding": "nature_of_proceeding",
    "office": "office",
    "language": "language",
    "type of action": "action_type",
    "filing date": "filing_date",
}


class DocketEntry(msgspec.Struct, frozen=True):
    """`doc_id` is the ID column as it stands there; entries keep the order of the page, newest first."""

    doc_id: int
    entry_date: str
    entry_office: str
    summary: str


class CaseDetail(msgspec.Struct, frozen=True):
    """What a modal says. Empty texts are lines that were not there; nothing is made up for them."""

    case_number: str = ""
    case_type: str = ""
    nature_of_proceeding: str = ""
    office: str = ""
    language: str = ""
    action_type: str = ""
    filing_date: str = ""
    entries: tuple[DocketEntry, ...] = ()
    unreadable_rows: int = 0  # rows of the docket that are not entries
    other_lines: dict[str, str] = msgspec.field(default_factory=dict)


def read_detail(html: str) -> CaseDetail:
    """The detail in a modal's HTML, whatever stands around it. A page that is not a modal gives an empty detail."""
    tree = LexborHTMLParser(html[:MODAL_CHARS_MAX])
    _part_blocks(tree)
    lines = _header_lines(tree)
    fields = {_FIELDS[name]: text for name, text in lines.items() if name in _FIELDS}
    found = _TITLE.search(_text(tree.root))
    rows = _docket_rows(tree)
    entries = [entry for row in rows if (entry := _entry(row)) is not None]
    return CaseDetail(
        case_number=found[1] if found else "",
        entries=tuple(entries),
        unreadable_rows=len(rows) - len(entries),
        other_lines={name: text for name, text in lines.items() if name not in _FIELDS},
        **fields,
    )


def record_of(detail: CaseDetail, *, style_of_cause: str, court: str, url: str, scraped_at: str) -> dict[str, Any]:
    """The record of a complete detail. The site has one name and one date for a case: `title` and `date` repeat
    them.
    """
    number = detail.case_number
    return {
        "case_id": number,
        "case_number": number,
        "title": style_of_cause,
        "court": court,
        "date": detail.filing_date,
        "case_type": detail.case_type,
        "action_type": detail.action_type,
        "nature_of_proceeding": detail.nature_of_proceeding,
        "filing_date": detail.filing_date,
        "office": detail.office,
        "style_of_cause": style_of_cause,
        "language": detail.language,
        "url": url,
        "scraped_at": scraped_at,
        "docket_entries": [
            {
                "id": f"{number}/{entry.doc_id}",
                "case_id": number,
                "doc_id": entry.doc_id,
                "entry_date": entry.entry_date,
                "entry_office": entry.entry_office,
                "summary": entry.summary,
            }
            for entry in detail.entries
        ],
    }


def _header_lines(tree: LexborHTMLParser) -> dict[str, str]:
    """`<strong>Label :</strong> value`, by label in small letters; the first of two with one label."""
    lines: dict[str, str] = {}
    for strong in tree.css("strong"):
        if _is_label(strong):
            lines.setdefault(_text(strong).rstrip(": ").lower(), _behind(strong))
    return lines


def _is_label(node: LexborNode) -> bool:
    return node.tag == "strong" and _text(node).endswith(":")


def _behind(strong: LexborNode) -> str:
    """What stands behind a label, up to the next one: several may share a paragraph, and values may be bold, too."""
    values, node = [], strong.next
    while node is not None and not _is_label(node):
        values.append(_text(node))
        node = node.next
    return " ".join(filter(None, values))


def _docket_rows(tree: LexborHTMLParser) -> list[list[str]]:
    """The cells of the table that holds the data: by its caption, else the last with the right header."""
    tables = [table for table in tree.css("table") if _heads(table)[: len(HEADS)] == list(HEADS)]
    named = [table for table in tables if any(DOCKET in _text(caption).lower() for caption in table.css("caption"))]
    chosen = named[-1:] or (tables[-1:] if len(tables) > 1 else [])
    rows = [[_text(cell) for cell in row.css("td")] for table in chosen for row in table.css("tr")]
    return [row for row in rows if row and not _explains(row)]


def _heads(table: LexborNode) -> list[str]:
    return [_text(head).lower() for head in table.css("th")]


def _explains(row: list[str]) -> bool:
    return tuple(cell.lower() for cell in row[:2]) == TEMPLATE_ROW


def _entry(row: list[str]) -> DocketEntry | None:
    if len(row) < len(HEADS) or not re.fullmatch(r"[0-9]{1,9}", row[0], re.ASCII):
        return None
    return DocketEntry(int(row[0]), row[1], row[2], row[3])


def _part_blocks(tree: LexborHTMLParser) -> None:
    """A browser shows each block on lines of its own, also where no white space stands between two of them."""
    for block in tree.css(BLOCKS):
        block.insert_before(" ")
        block.insert_after(" ")


def _text(node: LexborNode | None) -> str:
    return " ".join((node.text(deep=True) if node is not None else "").replace("\u00a0", " ").split())
