"""Lists as they come: any dialect, any spelling of a token or a date; nothing is lost without a reason."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.errors import BadParams
from holdfast.recipes.documents.columns import match_columns, read_columns
from holdfast.recipes.documents.dates import read_date
from holdfast.recipes.documents.kind import KIND
from holdfast.recipes.documents.list_file import ListFile, ListShape, sound
from holdfast.recipes.documents.skipping import check_filter, is_skipped, read_filter
from holdfast.recipes.documents.table import ListRefused
from holdfast.recipes.documents.tokens import normalise, tokens_in

TOKEN = "FSD9042202514032025NORTHREEFHOLDINGS"
OTHER = "G7202502012025TAMARINDBAY"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the list of each example lies: a module's fixture, so that Hypothesis may use it."""
    return tmp_path_factory.mktemp("lists") / "list.csv"


def listed(place: Path, body: bytes, **shape: str) -> ListFile:
    """The list of these bytes, as a job reads it."""
    place.write_bytes(body)
    columns = read_columns(shape.pop("columns")) if "columns" in shape else {}
    return ListFile.open(place, ListShape(columns, **shape))


def cells(table: ListFile) -> list[list[str]]:
    return [list(row.cells.values()) for row in table.rows()]


# --- tables


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_is_read_whatever_its_encoding_and_delimiter(place: Path, encoding: str, delimiter: str) -> None:
    """DOC-04."""
    rows = [["Title", "Judgment Date", "Actions"], ["Café, Ltd; v “Reef” | Co", "2025-03-14", TOKEN], ["", "", ""]]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows(rows)
    table = listed(place, out.getvalue().encode(encoding))
    assert table.header == tuple(rows[0])
    assert cells(table) == [rows[1]]
    assert table.delimiter == delimiter


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf  \r\n", "empty"),
        (b"<!DOCTYPE html><title>Error</title>", "HTML"),
        (b"\r\n <html>busy</html>", "HTML"),
        (b"Title,Actions\r\na\0b,c\r\n", "NUL"),
        (b"\xef\xbb\xbfTitle\xff\xfe\x81", "is not"),
        (b"Title,Actions\x81\x8d", "neither"),
    ],
)
def test_what_is_no_list_is_refused_with_a_reason(place: Path, body: bytes, said: str) -> None:
    with pytest.raises(ListRefused, match=said):
        listed(place, body)


def test_short_rows_are_filled_and_long_ones_keep_every_cell(place: Path) -> None:
    table = listed(place, b"Actions,B,C\r\n1\r\n1,2,3,4,\r\n")
    assert cells(table) == [["1", "", ""], ["1", "2", "3,4"]]
    assert [row.line for row in table.rows()] == [2, 3]


def test_columns_of_one_name_and_of_none_are_told_apart(place: Path) -> None:
    table = listed(place, b"Date,Date,,Date 2,Actions\n1,2,3,4,5\n")
    assert table.header == ("Date", "Date 2", "column 3", "Date 2 2", "Actions")


@given(st.sampled_from([b"", b"Actions\n", b"Title,Actions\r\n"]), st.binary(max_size=400))
@example(b"", b'"')
@example(b"", b'a,Actions\r\n"x')
def test_any_bytes_are_a_table_or_refused(place: Path, header: bytes, body: bytes) -> None:
    try:
        table = listed(place, header + body)
        rows = list(table.rows())
    except ListRefused:
        return
    assert rows
    assert all(tuple(row.cells) == table.header for row in rows)


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=2, max_size=2)))
def test_what_a_csv_writer_wrote_is_read_back(place: Path, rows: list[list[str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["Title", "Actions"], ["the", "first"], *rows])
    kept = [row for row in rows if any(cell.strip() for cell in row)]
    assert cells(listed(place, out.getvalue().encode())) == [["the", "first"], *kept]


# --- tokens and dates


@pytest.mark.parametrize(
    "cell",
    [
        TOKEN,
        f"  {TOKEN.lower()}\u00a0",
        f"\u00a0{TOKEN}&nbsp;",
        f"&#70;{TOKEN[1:]}",
        f"%46{TOKEN[1:]}%20",
        "FSD-9042.2025-14032025-NORTH_REEF_HOLDINGS",
        f'<a href="/x?fname={TOKEN}&amp;y=1">Download 2</a>',
        f'<a class="dl" data-dl="{TOKEN}" href="#"><i class="icon-dl"></i></a>',
        f"&lt;a href=&quot;#&quot; data-dl=&quot;{TOKEN}&quot;&gt;Download&lt;/a&gt;",
        f"<a href='https://files.test/box_files/{TOKEN}.pdf'>PDF</a>",
        f"<button data-dl={TOKEN}></button>",
        f"<b>{TOKEN}</b>",
        f"{TOKEN}, {TOKEN}",
    ],
)
def test_a_token_is_found_in_each_of_its_forms(cell: str) -> None:
    """DOC-07."""
    assert [token.norm for token in tokens_in(cell)] == [TOKEN]


@pytest.mark.parametrize("between", [" | ", ",", "; ", "/", "\\", " ", "\u00a0", "%20", "&nbsp;|&nbsp;"])
def test_a_cell_may_hold_several_tokens(between: str) -> None:
    assert [token.norm for token in tokens_in(f"{TOKEN}{between}{OTHER}")] == [TOKEN, OTHER]


@pytest.mark.parametrize(
    "cell", ["", " ", "\u00a0", "-", "n/a", "&nbsp;", "Download", "<a href='#'>Download</a>", "<br>"]
)
def test_a_cell_without_file_holds_none(cell: str) -> None:
    assert tokens_in(cell) == ()


@given(st.text())
def test_normalising_twice_changes_nothing_and_leaves_plain_letters(text: str) -> None:
    norm = normalise(text)
    assert normalise(norm) == norm
    assert set(norm) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    assert all(token.norm == normalise(token.raw) for token in tokens_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "2025-03-14", "2025-Mar-14", "14/03/2025", "14-Mar-2025", " 14-MAR-2025 ", "14 March 2025", "14th March, 2025",
        "March 14, 2025", "2025/3/14", "2025-03-14T10:30:00Z", "14.03.2025",
    ],
)  # fmt: skip
def test_a_date_is_read_in_each_of_its_forms(text: str) -> None:
    """DOC-08."""
    assert read_date(text) == "2025-03-14"


@pytest.mark.parametrize(
    "text", ["", "undated", "14th Marsh 2025", "31/02/2025", "2025", "0001-01-01", "14/13/2025", "٣/٣/2025"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_date(text) is None


# --- columns and filters


@pytest.mark.parametrize(
    "header",
    [
        ["Neutral Citation", "Cause Number", "Judgment Date", "Title", "Subject", "Court", "Category", "Actions"],
        ["Action", "Case Title", "Court file", "Date", "Category", "Subject", "Court", "Citation"],
        ["Cause No.", "TITLE", "court", "actions", "date", "category", "subject", "neutral_citation"],
        ["Cause", "Title", "Court", "Action", "Date", "Category", "Subject", "Neutral Citation"],
    ],
)
def test_the_columns_of_every_known_header_are_found(header: list[str]) -> None:
    found = match_columns(header)
    wanted = {"token", "title", "cause_number", "judgment_date", "court", "category", "subject", "citation"}
    assert set(found) == wanted
    assert sorted(found.values()) == sorted(header)


def test_asked_for_columns_come_first_and_must_be_there() -> None:
    """DOC-40."""
    header = ["Link", "Number", "Title", "Heading"]
    mapping = read_columns('url=Link, id=number ,title="Heading"')
    assert match_columns(header, mapping) == {"url": "Link", "id": "Number", "title": "Heading"}
    with pytest.raises(BadParams, match="no column 'Lnik'; did you mean 'Link'"):
        match_columns(header, {"url": "Lnik"})


@pytest.mark.parametrize("text", ["", "url", "url=", "=Link", "uri=Link", "url=A,url=B"])
def test_columns_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(BadParams, match="--columns"):
        read_columns(text)


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("", False),
        ("category:*crim*", True),
        ("category:CRIMINAL*", True),
        ("category:Civil,*Grand", True),
        ("-category:*crim*", False),
        ('court:"Grand Court" category:*crim*', True),
        ('court:"Civil Court" category:*crim*', False),
        ("case_title:r*", True),
        ("court:Grand", False),
    ],
)
def test_a_filter_skips_what_meets_all_of_it(text: str, skipped: bool) -> None:
    cells = {"category": "Criminal Grand", "court": "Grand Court", "casetitle": "R v Hollis"}
    conditions = read_filter(text)
    check_filter(conditions, ["Category", "Court", "Case Title"])
    assert is_skipped(cells, conditions) == skipped


@pytest.mark.parametrize("text", ["category", "category:", ":x", 'category:"a', "category:a,,b"])
def test_a_filter_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadParams, match="--skip-where"):
        read_filter(text)


def test_a_filter_by_a_column_that_is_not_there_is_refused(place: Path) -> None:
    with pytest.raises(BadParams, match="no column 'categroy'; did you mean category"):
        listed(place, b"Title,Category,Actions\na,b,c1\n", skip_where="categroy:x")


# --- lists


def test_a_list_of_tokens_gives_each_document_once_and_says_what_it_left_out(place: Path) -> None:
    body = (
        "Title,Category,Date,Actions\r\n"
        f"A,Civil Grand,14/03/2025,{TOKEN} | {OTHER}\r\n"
        f"B,Civil Grand,undated,{TOKEN}\r\n"
        "C,Civil Grand,,\u00a0\r\n"
        "R v D,Summary Crim,2025-01-02,CR12025\r\n"
        "E,Family,2025-01-02,FAM12025\r\n"
    ).encode("utf-8-sig")
    found = listed(place, body, skip_where="category:family")
    named = [(entry.key, entry.line, entry.title, entry.is_criminal) for entry in found.entries()]
    assert named == [
        (TOKEN, 2, "A", False),
        (OTHER, 2, "A", False),
        (TOKEN, 3, "B", False),  # whoever plans takes the first of each key
        ("CR12025", 5, "R v D", True),
    ]
    sounded = sound(found)
    assert sounded.left_out == "id came before: line 3; no document named: line 4; --skip-where: 1 row"
    assert (sounded.documents, sounded.criminal) == (3, 1)
    assert (sounded.rows, sounded.skipped) == (4, 1)


def test_a_date_that_cannot_be_read_is_kept_as_it_was(place: Path) -> None:
    """DOC-08."""
    (entry,) = listed(place, f"Title,Date,Actions\nA,14th Marsh,{TOKEN}\n".encode()).entries()
    assert (entry.judgment_date, entry.judgment_date_raw) == ("", "14th Marsh")


def test_a_list_whose_rows_name_their_files_needs_no_tokens(place: Path) -> None:
    """DOC-40."""
    body = b"Number;Link;Title\n1;/files/a.pdf;A\n2;https://o.test/b.pdf;B\n2;/c.pdf;C\n3;;D\n4;mailto:x@y.z;E\n5;http://[x;F\n"
    found = listed(place, body, columns="url=Link,id=Number", base_url="https://reef.test/list.csv")
    assert [(entry.key, entry.url) for entry in found.entries()] == [
        ("1", "https://reef.test/files/a.pdf"),
        ("2", "https://o.test/b.pdf"),
        ("2", "https://reef.test/c.pdf"),
    ]
    sounded = sound(found)
    assert sounded.documents == 2
    assert sounded.left_out == "id came before: line 4; no link: line 5; a link that is not http(s): lines 6, 7"
    many = listed(place, b"Link\n" + b"ftp://e.example/1.pdf\n" * 7, columns="url=Link")
    assert sound(many).left_out == "a link that is not http(s): 7 rows (lines 2, 3, 4, 5, 6 …)"


def test_a_register_is_known_by_type_and_reference_else_by_name(place: Path) -> None:
    """DOC-10."""
    rows = "Notaries Public,Rosalind Quayle,NP-7741,2024-01-01\nNotaries Public,Silas Teal,,2024-01-01\n"
    found = listed(place, f"Register Type,Name,Reference,Date\n{rows}".encode())
    assert [entry.key for entry in found.entries()] == ["NOTARIESPUBLICNP7741", "NOTARIESPUBLICSILASTEAL"]


@pytest.mark.parametrize("body", [b"Title,Court\nA,B\n", b"Title,Actions\n"])
def test_a_list_that_names_no_documents_is_refused(place: Path, body: bytes) -> None:
    with pytest.raises(ListRefused):
        listed(place, body)


def test_forty_titles_with_one_beginning_are_forty_documents(place: Path) -> None:
    rows = "".join(f"{'x' * 180}{number},FSD{number}2025\n" for number in range(40))
    assert len({entry.key for entry in listed(place, f"Title,Actions\n{rows}".encode()).entries()}) == 40


def test_a_param_that_was_not_set_is_none_where_it_differs() -> None:
    assert KIND.change("skip_where", {"skip_where": ""}, {"skip_where": "nope:x"}) == "skip_where: none, now nope:x"
    assert KIND.change("limit", {"limit": 0}, {}) == "limit: 0, now none"
