"""A contact sheet: one HTML file with every kept image as a thumbnail, to look at the set before it is used.

It needs nothing else: thumbnails are in it, and what strangers wrote is escaped.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.model.spelling import count_of
from holdfast.model.target import PageRow
from holdfast.ports import Storage
from holdfast.recipe.kind import Kind
from holdfast.views.exports.form import Asked, Write, refuse_stream
from holdfast.views.exports.form_row import Form
from holdfast.views.exports.image_files import images_in_order, refuse_others
from holdfast.views.results import Results

FORM = Form(name="html", ending=".html", place=70)

HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ground: light-dark(#fafaf8, #16181b); --card: light-dark(#fff, #22262b);
  --faint: light-dark(#6a6f76, #9aa2ab); --line: light-dark(#e3e3de, #31363c); --row: 8.5rem; }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 88rem; padding: 2rem 1.5rem 4rem;
  background: var(--ground); }}
h1 {{ font-size: 1.9rem; letter-spacing: -.02em; margin: 0; }} header p {{ color: var(--faint); margin: .2rem 0 1rem; }}
nav {{ display: flex; flex-wrap: wrap; gap: .4rem; }}
nav a {{ background: var(--card); border: 1px solid var(--line); border-radius: 99px; padding: .15rem .75rem; }}
h2 {{ font-size: 1.2rem; margin: 2.2rem 0 .7rem; scroll-margin-top: 1rem; }}
small {{ color: var(--faint); font-size: .85rem; font-weight: normal; }}
ol {{ list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .7rem; }}
ol::after {{ content: ""; flex: 99 1 20rem; }}
li {{ flex: var(--wide) 1 calc(var(--wide) * var(--row)); max-width: calc(var(--wide) * var(--row) * 1.5);
  min-width: 6rem;
  background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }}
li:hover {{ border-color: var(--faint); }}
img {{ width: 100%; aspect-ratio: var(--wide); object-fit: cover; display: block; background: var(--line); }}
figure {{ margin: 0; }} a {{ color: inherit; text-decoration: none; }}
figcaption {{ font-size: 12px; padding: .35rem .55rem .45rem; }}
figcaption * {{ display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }}
figcaption small {{ font-size: 11px; }}
@media print {{ li {{ break-inside: avoid; }} h2 {{ break-after: avoid; }} }}
</style></head><body>
<header><h1>{title}</h1><p>{told}</p></header>
"""
WIDE = (0.5, 2.4)  # how narrow and how wide a picture may be shown; beyond it is cut


def write(asked: Asked, out: Write, rows: Iterable[PageRow] | None = None) -> int:
    refuse_stream("a contact sheet", rows)
    check_early(asked.results.kind, None)
    return write_sheet(asked.results, asked.storage, out)


def check_early(kind: Kind, path: Path | None) -> None:
    refuse_others(kind, "a contact sheet")


def write_sheet(results: Results, storage: Storage, write: Write) -> int:
    """How many images are on it."""
    wanted = results.job.params.get("per_keyword")
    counts = Counter(image["keyword"] for image in images_in_order(results, storage))
    write(HEAD.format(title=escape(results.job.name), told=escape(_told(results, counts))).encode())
    if len(counts) > 1:
        links = (f'<a href="#k{n}">{escape(word)} <small>{counts[word]}</small></a>' for n, word in enumerate(counts))
        write(f"<nav>{' '.join(links)}</nav>\n".encode())
    for n, (keyword, group) in enumerate(groupby(images_in_order(results, storage), key=lambda one: one["keyword"])):
        count = f"{counts[keyword]} of {wanted}" if wanted else str(counts[keyword])
        write(f'<h2 id="k{n}">{escape(keyword)} <small>{count}</small></h2>\n<ol>\n'.encode())
        for image in group:
            write(_figure(image, storage))
        write(b"</ol>\n")
    write(b"</body></html>\n")
    return counts.total()


def _told(results: Results, counts: Counter[str]) -> str:
    """`56 images for 4 keywords; 4 copies and 9 files that were no good are left out`."""
    _, books, _ = results.views.books(results.job.id)
    copies, bad = (books.skipped_by.get(name, 0) for name in ("duplicate", "rejected"))
    for_keywords = f" for {count_of(len(counts), 'keyword')}" if len(counts) > 1 else ""
    left_out = f"; {copies} {'copy' if copies == 1 else 'copies'} and {count_of(bad, 'bad file')} are left out"
    return f"{count_of(counts.total(), 'image')}{for_keywords}{left_out if copies or bad else ''}"


def _figure(image: dict[str, Any], storage: Storage) -> bytes:
    """A picture as wide as its shape asks for, its caption, where it is from, and the name that `label` takes."""
    number = f"{image['number']:04d}"
    wide = min(max(image["width"] / max(image["height"], 1), WIDE[0]), WIDE[1])
    told = f"{number} {image['target']} · {image['width']}×{image['height']} · {image['engine']}"
    caption = f"<span>{escape(image['title'])}</span>" if image["title"] else ""
    return (
        f'<li style="--wide:{wide:.3f}"><figure><a href="{escape(image["url"])}" rel="noreferrer noopener" '
        f'title="{escape(image["title"] or image["url"])}"><img loading="lazy" decoding="async" '
        f'alt="{escape(image["title"] or image["keyword"])}" src="{_data_url(image, storage)}"></a>'
        f"<figcaption>{caption}<small>{escape(told)}</small></figcaption></figure></li>\n"
    ).encode()


def _data_url(image: dict[str, Any], storage: Storage) -> str:
    """Its thumbnail; one that is missing leaves an empty place, and the sheet is written."""
    size = storage.files.size(image["thumbnail"]) if image["thumbnail"] else None
    if not size:
        return "data:,"
    try:
        return "data:image/jpeg;base64," + b64encode(b"".join(storage.files.blocks(image["thumbnail"], size))).decode()
    except HoldfastError:
        return "data:,"
