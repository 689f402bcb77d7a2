"""Whether a body is HTML, where its type says so, says nothing, or says XML (FRO-14)."""

from __future__ import annotations

import pytest

from holdfast.clock import now_ns
from holdfast.recipes.site.sniffing import is_html

XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Frogs</title></head></html>'


def test_what_says_it_is_html_is_read_and_what_says_something_else_is_not() -> None:
    assert is_html("text/html", b"")
    assert is_html("application/xhtml+xml", b"")
    for media in ("text/plain", "application/pdf", "image/png", "application/octet-stream", "application/json"):
        assert not is_html(media, b"<html>")


@pytest.mark.parametrize(
    "body",
    [
        b"\n <!DOCTYPE html><p>",
        b"<!doctype HTML public>",
        b"<HTML>",
        b"<html\n lang=en>",
        b"<head><title>",
        b"<!-- Licensed to frogs --><html>",
        b"<!--x-->",
        b"<body bgcolor=green>",
        b"\t\r\n\x0c <script src=x>",
        b"<title>x",
        b"<h1>x",
        b"<div id=a>",
        b"<p>x",
        b"<a href=x>",
        b"<b>",
        b"<br/>",
        b"<table>",
        b"<style>",
        b"<font color=x>",
        b"<iframe src=x>",
        b"\xef\xbb\xbf<!DOCTYPE html>",
        b"\xef\xbb\xbf\n<html>",
        "\ufeff<html>".encode("utf-16le"),
        "\ufeff<html>".encode("utf-16be"),
        f'<?xml version="1.0"?>{XHTML}'.encode(),
    ],
)
@pytest.mark.parametrize("media", ["", "unknown/unknown", "application/unknown", "*/*"])
def test_a_body_of_no_known_type_is_html_if_it_begins_like_html(body: bytes, media: str) -> None:
    """FRO-14: the table of WHATWG MIME Sniffing; besides, a byte order mark may come first."""
    assert is_html(media, body)
    assert not is_html(media, body, no_sniffing=True)


@pytest.mark.parametrize(
    "body",
    [b"", b"%PDF-1.7", b"\x89PNG\r\n", b"frogs <html>", b"<htmlx>", b"<article>", b"<?xml version='1'?><rss>",
     b"<abbr>", b"<svg>", b"<!DOCTYPE svg>", b"\0<html>", b" " * 1_500 + b"<html>", b"{}"],
)  # fmt: skip
def test_a_body_of_no_known_type_that_begins_otherwise_is_not_html(body: bytes) -> None:
    assert not is_html("", body)


@pytest.mark.parametrize("media", ["application/xml", "text/xml", "application/vnd.frog+xml"])
@pytest.mark.parametrize(
    "before",
    [
        "",
        '<?xml version="1.0" encoding="utf-8"?>\n',
        "\ufeff<?xml version='1.0'?><!-- a -- b > --><?xml-stylesheet href='x'?>",
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n',
        "<!DOCTYPE html [ <!ENTITY frog '>]'> ]>",
    ],
)
def test_xml_whose_root_is_html_of_xhtml_is_a_page(media: str, before: str) -> None:
    """FRO-14: it is shown as a page whatever else the header forbids."""
    assert is_html(media, (before + XHTML).encode())
    assert is_html(media, (before + XHTML).encode(), no_sniffing=True)
    assert is_html(media, (before + XHTML.replace("<html ", "<html lang='fi' ")).encode())
    assert is_html(media, (before.removeprefix("\ufeff") + XHTML).encode("utf-16"))


@pytest.mark.parametrize(
    "body", ["<rss/>", "<html>", "<html xmlns='http://frog.test/'>", "<x><html xmlns='http://www.w3.org/1999/xhtml'></x>",
             "<feed xmlns='http://www.w3.org/2005/Atom'>", "<html title='xmlns=http://www.w3.org/1999/xhtml'>"]
)  # fmt: skip
def test_other_xml_is_not_a_page(body: str) -> None:
    assert not is_html("application/xml", body.encode())


@pytest.mark.parametrize(
    "bait", ["<!--", "<!--x-->", "<?x", "<?x?>", "<!DOCTYPE [", "<html ", "<html x=", "<html xmlns", " ", "'"]
)
@pytest.mark.parametrize("media", ["", "application/xml"])
def test_looking_takes_bounded_time(bait: str, media: str) -> None:
    began = now_ns()
    is_html(media, (bait * 1_000_000).encode())
    assert (now_ns() - began) / 1e9 < 2
