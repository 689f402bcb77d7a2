"""From bytes to text as browsers do it: byte order mark, header, meta tag, what the bytes are; never an error."""

from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recipes.site import charset
from holdfast.recipes.site.charset import USER_DEFINED, declared, decode
from holdfast.recipes.site.charset_labels import CODECS

HTML = "text/html"


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Möwe".encode(), HTML, "Möwe"),
        ("Möwe".encode("latin-1"), f"{HTML}; charset=ISO-8859-1", "Möwe"),
        ("Möwe".encode("latin-1"), f"{HTML};charset='latin1'", "Möwe"),
        ("“frog”".encode("cp1252"), f'{HTML}; charset="us-ascii"', "“frog”"),
        ("лягушка".encode("koi8-r"), f"{HTML}; charset=koi8-r", "лягушка"),
        (codecs.BOM_UTF8 + "蛙".encode(), HTML, "蛙"),
        (codecs.BOM_UTF16_LE + "蛙".encode("utf-16le"), HTML, "蛙"),
        (codecs.BOM_UTF16_BE + "蛙".encode("utf-16be"), HTML, "蛙"),
        (codecs.BOM_UTF8 + "蛙".encode(), f"{HTML}; charset=utf-8", "蛙"),
        ("<meta charset=shift_jis>蛙".encode("shift_jis"), HTML, "<meta charset=shift_jis>蛙"),
        (codecs.BOM_UTF8 + "蛙".encode(), f"{HTML}; charset=koi8-r", "蛙"),
        (codecs.BOM_UTF16_LE + "蛙".encode("utf-16le"), f"{HTML}; charset=utf-8", "蛙"),
        ("蛙".encode("utf-16le"), f"{HTML}; charset=utf-16", "蛙"),
        ("蛙".encode("utf-16be"), f"{HTML}; charset=utf-16be", "蛙"),
        ("①蛙".encode("cp932"), f"{HTML}; charset=shift_jis", "①蛙"),
        (b"frog \x80\xff", f"{HTML}; charset=x-user-defined", "frog \uf780\uf7ff"),
        ("<meta charset=utf-16>Möwe".encode(), HTML, "<meta charset=utf-16>Möwe"),
    ],
)
def test_the_first_declaration_that_can_be_used_decides(body: bytes, content_type: str, text: str) -> None:
    assert decode(body, content_type) == text


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (b'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=gb2312">', "gb18030"),
        (
            b"<html><head><meta name=a content=b><meta\nhttp-equiv='content-type' content='text/html;charset=big5'>",
            "big5hkscs",
        ),
        (b'<?xml version="1.0" encoding="iso-8859-2"?><html>', "iso-8859-2"),
        ("<?xml version='1.0'?><p>".encode("utf-16le"), "utf-16le"),
        ("<?xml version='1.0'?><p>".encode("utf-16be"), "utf-16be"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=no-such-thing><meta charset=koi8-r>", "koi8-r"),
        (b'<p title="<meta charset=koi8-r>">', None),
        (b"<!-- <meta charset=koi8-r> -->", None),
        (b"<!-- <meta charset=koi8-r>", None),
        (b'<meta name=description content="charset=koi8-r">', None),
        (b"<metadata charset=koi8-r>", None),
        (b"", None),
    ],
)
def test_tags_are_read_as_a_browser_reads_them(head: bytes, codec: str | None) -> None:
    assert declared(head, HTML) == codec


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Möwe “frog”".encode("cp1252"), "Möwe “frog”"),
        ("Möwen und Frösche".encode() + b"\xff cut", "Möwen und Frösche\ufffd cut"),
        (b"plain", "plain"),
    ],
)
def test_where_nothing_is_declared_the_bytes_decide(body: bytes, text: str) -> None:
    assert decode(body, "") == text


@pytest.mark.parametrize(
    "piece", [b"<meta ", b"<meta a=", b"<meta a='", b'<!--"', b"<a '", b"</", b"charset=", b"<meta " + b"a=b " * 9]
)
def test_reading_the_tags_takes_linear_time(piece: bytes) -> None:
    """H11: bounded parse. The head is 1 KB; a pattern that tries again and again would not end."""
    declared(piece * 1000, HTML)


@pytest.mark.parametrize("piece", [" ", "charset=", "charset= ", "charset='", "; charset"])
def test_reading_the_header_takes_linear_time(piece: str) -> None:
    """H11: spaces before a name that is none were tried in every two parts, and a line may have five times as many."""
    began = time.process_time()
    declared(b"", f"{HTML}; charset={piece * (20_000 // len(piece))}!")
    assert time.process_time() - began < 1


def test_a_header_wins_over_a_meta_tag() -> None:
    assert decode("<meta charset=koi8-r>Möwe".encode(), f"{HTML}; charset=utf-8").endswith("Möwe")


def test_a_meta_tag_counts_only_at_the_beginning() -> None:
    assert decode(b" " * 1024 + "<meta charset=koi8-r>Möwe".encode(), HTML).endswith("Möwe")


@pytest.mark.parametrize("name", ["idna", "punycode", "unicode_escape", "zip", "hex", "no-such-thing", "utf-7"])
def test_a_site_cannot_choose_other_codecs(name: str) -> None:
    assert decode("Möwe".encode(), f"{HTML}; charset={name}") == "Möwe"


def test_a_wrong_charset_gives_replacement_characters_and_no_error() -> None:
    """worlds §6: wrong charset and invalid UTF-8 succeed."""
    assert decode("Möwe".encode("latin-1"), f"{HTML}; charset=utf-8") == "M\ufffdwe"


def test_every_codec_of_the_table_exists() -> None:
    assert all(codecs.lookup(name) for name in CODECS.values() if name != USER_DEFINED)


@given(st.binary(max_size=60), st.sampled_from(sorted(CODECS)))
def test_any_bytes_become_text_that_can_be_stored(body: bytes, name: str) -> None:
    decode(body, f"{HTML}; charset={name}").encode()


FRAGMENTS = (
    b"<meta charset=koi8-r>", b'<meta charset="utf-8">', b"<html>", b'<p title="', b'">', b"<p it's>", b"'", b'"', b"=",
    b"<!-- ", b" -->", b"<meta name=a content=b>", b"<meta http-equiv=content-type content='text/html;charset=big5'>",
    b'<meta content="', b"charset=koi8-r", b">", b"<", b"<script>",
)  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=7).map(b"".join), min_size=1, max_size=5))
def test_what_pages_before_it_began_with_changes_nothing_about_a_page(bodies: list[bytes]) -> None:
    fresh = []
    for body in bodies:
        charset._STARTS.clear()
        fresh.append(declared(body, HTML))
    charset._STARTS.clear()
    assert [declared(body, HTML) for body in bodies + bodies] == fresh + fresh


def test_a_quote_that_is_still_open_is_no_start_to_go_by() -> None:
    """The second page closes the quote behind its meta tag, so the tag is an attribute's text."""
    charset._STARTS.clear()
    start = b'<p title="<meta charset=koi8-r>'
    assert declared(start, HTML) == "koi8-r"
    assert declared(start + b'">', HTML) is None
