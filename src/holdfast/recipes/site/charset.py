"""From bytes to text as browsers do it: declared charset, byte order mark, meta tag, else UTF-8. It never fails.

Only names of this table are used. Python's own look-up remembers every unknown name for ever, and knows codecs
(idna, punycode, unicode_escape) that a site must not be able to choose.
"""

from __future__ import annotations

import codecs
import re

META_BYTES = 1024

# A label as sites write it -> Python's codec. Latin-1 and ASCII mean Windows-1252 on the web.
_SAME = (
    "utf-8 utf-16le utf-16be ibm866 koi8-r koi8-u gb18030 gbk big5 euc-jp iso-2022-jp shift_jis euc-kr "
    "iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-10 iso-8859-13 "
    "iso-8859-14 iso-8859-15 iso-8859-16 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 "
    "windows-1255 windows-1256 windows-1257 windows-1258"
)
CODECS: dict[str, str] = {name: name for name in _SAME.split()} | {
    "utf8": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
    "utf-16": "utf-16le",
    "ascii": "windows-1252",
    "us-ascii": "windows-1252",
    "latin1": "windows-1252",
    "latin-1": "windows-1252",
    "iso-8859-1": "windows-1252",
    "iso8859-1": "windows-1252",
    "iso_8859-1": "windows-1252",
    "cp1252": "windows-1252",
    "cp1251": "windows-1251",
    "iso-8859-9": "windows-1254",
    "latin2": "iso-8859-2",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "windows-874": "cp874",
    "macintosh": "mac-roman",
    "gb2312": "gbk",
    "x-gbk": "gbk",
    "big5-hkscs": "big5hkscs",
    "sjis": "shift_jis",
    "shift-jis": "shift_jis",
    "windows-31j": "cp932",
    "x-sjis": "cp932",
    "ks_c_5601-1987": "euc-kr",
}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_DECLARED = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_META = re.compile(rb"<meta\b[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


def decode(body: bytes, content_type: str) -> str:
    """The text of an HTML body; what cannot be decoded becomes a replacement character."""
    return body.decode(_codec(body, content_type), "replace").removeprefix("\ufeff")


def _codec(body: bytes, content_type: str) -> str:
    declared = _DECLARED.search(content_type)
    if declared and (known := CODECS.get(declared[1].lower())):
        return known
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    meta = _META.search(body[:META_BYTES])
    name = CODECS.get(meta[1].decode("latin-1").lower(), "utf-8") if meta else "utf-8"
    # A meta tag that could be read at all is not in UTF-16, whatever it says.
    return "utf-8" if name.startswith("utf-16") else name
