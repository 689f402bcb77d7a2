"""From bytes to text: declared, byte order mark, meta tag, UTF-8; never an error."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recipes.site.charset import CODECS, decode

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
        (
            '<META content="text/html; charset=gb2312">蛙'.encode("gbk"),
            HTML,
            '<META content="text/html; charset=gb2312">蛙',
        ),
        ("<meta charset=utf-16>Möwe".encode(), HTML, "<meta charset=utf-16>Möwe"),
    ],
)
def test_the_first_declaration_that_can_be_used_decides(body: bytes, content_type: str, text: str) -> None:
    assert decode(body, content_type) == text


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
    assert all(codecs.lookup(name) for name in CODECS.values())


@given(st.binary(max_size=60), st.sampled_from(sorted(CODECS)))
def test_any_bytes_become_text_that_can_be_stored(body: bytes, name: str) -> None:
    decode(body, f"{HTML}; charset={name}").encode()
