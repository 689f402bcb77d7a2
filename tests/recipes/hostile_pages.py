"""Pages that were garbled on their way, or built to hurt who reads them. One number gives the same page for ever.

`python -m recipes.hostile_pages 3 4 5` derives these in a process of their own: one line of JSON each, what it cost.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

Maker = Callable[[Random], bytes]
WORDS = [
    "frog",
    "toad",
    "pond",
    "marsh",
    "reed",
    "heron",
    "newt",
    "<b>lily</b>",
    "<a",
    "href='/x'>link</a>",
    "&amp;",
    "3",
    "<",
    "4",
    "`code`",
    "_under_",
    "*star*",
]


def hostile_page(number: int, seed: int = 0) -> tuple[str, bytes]:
    """(what is wrong with it, its bytes)."""
    kind, maker = MAKERS[number % len(MAKERS)]
    return f"{number} {kind}", maker(Random(f"{seed} {number}"))


def _prose(dice: Random, words: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(words))


def _plain(dice: Random) -> str:
    parts = [f"<h{dice.randint(1, 4)}>{_prose(dice, 4)}</h2><p>{_prose(dice, 60)}</p>" for _ in range(30)]
    rows = "".join(f"<tr><td>{_prose(dice, 2)}<td>{n}</tr>" for n in range(20))
    return f"<html><title>pond</title><body><main>{''.join(parts)}<table>{rows}</table><pre>{_prose(dice, 50)}</pre>"


def _flipped(dice: Random) -> bytes:
    page = bytearray(_plain(dice).encode())
    for _ in range(dice.randint(20, 2_000)):
        page[dice.randrange(len(page))] = dice.randrange(256)
    return bytes(page)


def _cut(dice: Random) -> bytes:
    page = _plain(dice).encode()
    return page[: dice.randrange(len(page))]


def _shuffled(dice: Random) -> bytes:
    page = _plain(dice)
    pieces = [page[at : at + 40] for at in range(0, len(page), 40)]
    dice.shuffle(pieces)
    return "".join(pieces).encode()


def _tags(dice: Random) -> bytes:
    names = [
        "div",
        "p",
        "b",
        "i",
        "a",
        "table",
        "tr",
        "td",
        "th",
        "ul",
        "li",
        "ol",
        "pre",
        "code",
        "svg",
        "math",
        "select",
        "option",
        "template",
        "form",
        "button",
        "h1",
        "font",
        "blockquote",
        "dl",
        "dt",
        "dd",
        "noscript",
        "iframe",
        "frameset",
        "caption",
        "col",
        "body",
        "html",
        "title",
        "textarea",
    ]
    closing = ("", "/", "", "")
    tags = (f"<{dice.choice(closing)}{dice.choice(names)}>frog" for _ in range(dice.randint(1_000, 60_000)))
    return "".join(tags).encode()


def _nested(dice: Random) -> bytes:
    tag = dice.choice(
        (
            "<div>",
            "<ul><li>",
            "<blockquote>",
            "<table><tr><td>",
            "<b>",
            "<font color=x>",
            "<a href=x>",
            "<span class=nav>",
            "<dl><dd>",
            "<svg>",
            "<math>",
            "<section>",
            "<ol><li>",
            "<p><b>",
        )
    )
    depth = dice.choice((150, 1_000, 3_000, 20_000, 100_000))
    return (f"{tag} frog " * depth).encode()


def _nested_lines(dice: Random) -> bytes:
    """Every level of a list or a quotation adds to every line in it."""
    tag = dice.choice(("<ul><li>", "<blockquote>", "<ol><li>"))
    lines = "<p>frog</p>" * dice.choice((1_000, 20_000, 100_000))
    return (tag * dice.choice((50, 155, 400)) + lines).encode()


def _wide(dice: Random) -> bytes:
    part = dice.choice(
        (
            "<br>",
            "<p>",
            "<hr>",
            "<li>x",
            "<a href=/x>x</a>",
            "<img src=x>",
            "<td>x",
            "<b>x</b> ",
            "<h1>x",
            "<code>x</code>",
            "<div class=nav>x</div>",
            "<i>x",
            "<input type=checkbox>",
        )
    )
    return (part * dice.choice((10_000, 100_000, 1_000_000)))[:6_000_000].encode()


def _spans(dice: Random) -> bytes:
    row = f"<tr><td rowspan={dice.choice((2, 65_534, 10**9))} colspan={dice.choice((2, 1_000, 10**9))}>x"
    return ("<table>" + row * dice.choice((10, 1_000, 20_000))).encode()


def _attributes(dice: Random) -> bytes:
    one = " ".join(f"a{n}=x" for n in range(dice.choice((100, 1_999, 50_000))))
    return (f"<div {one}>frog</div>" * dice.choice((1, 20))).encode()[:6_000_000]


def _long_values(dice: Random) -> bytes:
    value = dice.choice(("x ", "nav-", "a/../", "%", "(", "display : none;", "data:", "&quot;")) * dice.choice(
        (1_000, 400_000)
    )
    name = dice.choice(("class", "id", "href", "style", "role", "alt", "title", "src", "content"))
    tag = dice.choice(("a", "div", "img", "span", "meta", "pre", "td", "base"))
    return f"<p>frog</p><{tag} {name}='{value}'>frog</{tag}>".encode()


def _runs(dice: Random) -> bytes:
    """Runs of signs that patterns of escaping and tidying look for."""
    sign = dice.choice(
        (
            "`",
            "_",
            "*",
            "~",
            " ",
            "  \n",
            "\n",
            "\\",
            "[",
            "#",
            "> ",
            "- ",
            "1. ",
            "&",
            "&#",
            "<",
            "|",
            "=",
            "\xa0",
            "\u200b",
            "\u202e",
            "<br> ",
            "&nbsp;",
            "](",
            "@",
            ".",
            "a@",
            "+1 (",
            "$1,",
        )
    )
    around = dice.choice(("p", "pre", "td", "h1", "code", "li"))
    return f"<{around}>{sign * dice.choice((10_000, 300_000, 2_000_000))}</{around}>frog".encode()[:6_000_000]


def _unclosed(dice: Random) -> bytes:
    opening = dice.choice(
        ("<!--", "<script>", "<style>", "<textarea>", "<title>", "<![CDATA[", "<a href='", "<xmp>", "<p ")
    )
    return (f"<p>frog {opening}" * dice.choice((1, 5_000, 200_000)) + _prose(dice, 1_000)).encode()[:6_000_000]


def _script(dice: Random) -> bytes:
    depth = dice.choice((1_000, 100_000, 1_000_000))
    data = dice.choice(
        ('{"a":' * depth, "[" * depth, '{"@type":"Organization","name":"' + "x" * depth + '"}', "\\u0000" * depth)
    )
    return f"<script type='application/ld+json'>{data}</script><p>frog</p>".encode()[:6_000_000]


def _metas(dice: Random) -> bytes:
    metas = "".join(f"<meta property='og:{n}' content='{_prose(dice, 3)}'>" for n in range(dice.choice((100, 30_000))))
    return f"<head>{metas}<body><p>frog".encode()


def _bytes(dice: Random) -> bytes:
    return dice.randbytes(dice.choice((100, 100_000, 3_000_000)))


def _charsets(dice: Random) -> bytes:
    codec = dice.choice(("utf-16-le", "utf-16-be", "utf-32-le", "shift_jis", "utf-7", "cp037"))
    return (
        b"<meta charset="
        + dice.choice((b"utf-8", b"utf-16", b"frog", b"iso-2022-jp"))
        + b">"
        + _plain(dice).encode(codec, "replace")
    )


def _nulls(dice: Random) -> bytes:
    return _plain(dice).encode().replace(b"o", dice.choice((b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b$B", b"\x0c")))


def _misnested(dice: Random) -> bytes:
    """Formatting that is opened again in every block."""
    return ("<b><i><u><font size=1>" * dice.choice((3, 100)) + "<p>frog</b>" * dice.choice((500, 20_000))).encode()


def _tables(dice: Random) -> bytes:
    return ("<table><tr><td>frog<td>" * dice.choice((10, 300, 2_000)) + "<p>x" * 10_000).encode()


def _cells(dice: Random) -> bytes:
    wide = "<td>x|y</td>" * dice.choice((10, 2_000))
    return ("<table>" + f"<tr>{wide}</tr>" * dice.choice((10, 150))).encode()[:6_000_000]


def _code(dice: Random) -> bytes:
    line = dice.choice(("x = 1\n", "<span class=k>x</span>\n", "```\n", "\r\n", "<div>x</div>", "<br>"))
    return (
        "<pre class='language-" + "x" * dice.choice((1, 10_000)) + "'>" + line * dice.choice((1_000, 400_000))
    ).encode()[:6_000_000]


def _frames(dice: Random) -> bytes:
    return (
        dice.choice(
            ("<frameset><frame src=x>", "<template>", "<noscript>", "<select><option>", "<button>", "<form>")
        ).encode()
        * 9_000
    )


def _empty(dice: Random) -> bytes:
    return dice.choice((b"", b" ", b"<", b"<html>", b"\0", b"<!doctype html>", b"\xef\xbb\xbf", b"<body></body>"))


MAKERS: tuple[tuple[str, Maker], ...] = tuple(
    (maker.__name__.strip("_"), maker)
    for maker in (
        _flipped,
        _cut,
        _shuffled,
        _tags,
        _nested,
        _nested_lines,
        _wide,
        _spans,
        _attributes,
        _long_values,
        _runs,
        _unclosed,
        _script,
        _metas,
        _bytes,
        _charsets,
        _nulls,
        _misnested,
        _tables,
        _cells,
        _code,
        _frames,
        _empty,
        _runs,
        _nested,
    )
)


def main(numbers: list[int]) -> None:
    from holdfast.recipes.site.derive import derive_plainly
    from holdfast.recipes.site.derive_process import DeriveProcess

    derives = DeriveProcess()
    for number in numbers:
        kind, page = hostile_page(number)
        before = _cpu_s(derives._child.pid)
        derived = derives(page, "https://pond.test/hostile", "text/html")
        row = {
            "page": kind,
            "bytes": len(page),
            "cpu_s": _cpu_s(derives._child.pid) - before,
            "peak_mb": _peak_mb(derives._child.pid),
            "flags": derived.flags,
            "text": len(derived.text or ""),
            "says_nothing": not derive_plainly(page, "text/html", "asked").text,
        }
        print(json.dumps(row), flush=True)
    derives.close()


def _cpu_s(pid: int | None) -> float:
    """Of children that are gone, and of the one that is there."""
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = gone.ru_utime + gone.ru_stime
    if pid is None:
        return used
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return used + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_mb(pid: int | None) -> float:
    peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    lines = Path(f"/proc/{pid}/status").read_text().splitlines() if pid else []
    return max([peak_kb, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))]) / 1000


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
