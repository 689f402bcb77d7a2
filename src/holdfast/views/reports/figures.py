"""Figures of a report as SVG within the page: no script, no style attribute, colours by class. Sizes are bounded."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import Any

WIDTH = 420
BAR_HEIGHT, BAR_GAP, LABEL_WIDTH = 16, 6, 118
DOTS_PER_ROW, DOT = 26, 11
DOTS_PER_DEPTH_MAX = 104
YEARS_MAX = 40
CLASSES = ("home", "about", "team", "products", "services", "contact", "careers", "pricing", "news", "blog")


def figures(report: dict[str, Any]) -> list[tuple[str, str]]:
    """(caption, SVG) of every figure that has something to show."""
    meta = report["metadata"]
    pages = sorted(meta["pages_by_type"].items(), key=lambda item: (-item[1], item[0]))
    entities = sorted(
        ((name.replace("_", " "), n) for name, n in meta["entities_by_type"].items() if n),
        key=lambda item: (-item[1], item[0]),
    )
    made = [
        ("The site by depth: a dot is a page, coloured by its type", site_map(report["pages"])),
        ("Pages by type", bars(pages, "pages", typed=True)),
        ("Entities by type", bars(entities, "entities")),
        ("Dates that the pages name, by year", timeline(report["entities"])),
    ]
    return [(caption, svg) for caption, svg in made if svg]


def bars(rows: list[tuple[str, int]], noun: str, *, typed: bool = False) -> str:
    if not rows:
        return ""
    most = max(n for _, n in rows)
    room = WIDTH - LABEL_WIDTH - 44
    parts = []
    for place, (name, n) in enumerate(rows):
        y = place * (BAR_HEIGHT + BAR_GAP)
        width = max(2, round(room * n / most))
        colour = (f"t-{name}" if name in CLASSES else "t-other") if typed else "bar"
        parts.append(
            f'<text class="label" x="{LABEL_WIDTH - 8}" y="{y + 12}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="{colour}" x="{LABEL_WIDTH}" y="{y}" width="{width}" height="{BAR_HEIGHT}" rx="3"/>'
            f'<text class="number" x="{LABEL_WIDTH + width + 6}" y="{y + 12}">{n}</text>'
        )
    told = ", ".join(f"{name} {n}" for name, n in rows)
    return _svg(len(rows) * (BAR_HEIGHT + BAR_GAP), f"{noun}: {told}", parts)


def site_map(pages: list[dict[str, Any]]) -> str:
    """A row of dots per depth, coloured by type; beyond a number they are counted in words."""
    depths: dict[int, list[dict[str, Any]]] = {}
    for page in pages:
        depths.setdefault(page["depth"], []).append(page)
    parts, y = [], 0
    for depth in sorted(depths)[:12]:
        found = sorted(depths[depth], key=lambda page: (page["type"], page["url"]))
        parts.append(f'<text class="label" x="0" y="{y + 11}">depth {depth}</text>')
        for place, page in enumerate(found[:DOTS_PER_DEPTH_MAX]):
            x, row = 62 + DOT * (place % DOTS_PER_ROW), place // DOTS_PER_ROW
            colour = f"t-{page['type']}" if page["type"] in CLASSES else "t-other"
            title = escape(f"{page['type']}: {page['title'] or page['url']}"[:120])
            parts.append(
                f'<circle class="{colour}" cx="{x + 5}" cy="{y + 7 + DOT * row}" r="4"><title>{title}</title></circle>'
            )
        rows = max(1, -(-min(len(found), DOTS_PER_DEPTH_MAX) // DOTS_PER_ROW))
        parts.append(f'<text class="number" x="{WIDTH - 58}" y="{y + 11}">{len(found)}</text>')
        y += DOT * rows + 12
    return _svg(y, f"{len(pages)} pages in {len(depths)} depths", parts) if pages else ""


def timeline(entities: list[dict[str, Any]]) -> str:
    years = Counter(int(entity["value"][:4]) for entity in entities if entity["type"] == "date")
    if not years:
        return ""
    last = max(years)
    first = max(min(years), last - YEARS_MAX + 1)
    span, height = last - first + 1, 90
    step, most = (WIDTH - 20) / max(span, 6), max(years.values())
    parts = [f'<line class="axis" x1="10" y1="{height}" x2="{WIDTH - 10}" y2="{height}"/>']
    every = max(1, -(-span // 8))
    for year in range(first, last + 1):
        x = 10 + step * (year - first)
        if years[year]:
            tall = max(3, round((height - 22) * years[year] / most))
            parts.append(
                f'<rect class="bar" x="{x + 1:.1f}" y="{height - tall}" width="{max(2, min(step - 2, 34)):.1f}" height="{tall}" rx="2">'
                f"<title>{year}: {years[year]}</title></rect>"
            )
        if ((year - first) % every == 0 and not 0 < last - year < every) or year == last:
            at = min(x + step / 2, WIDTH - 16)  # a year at the edge is not cut
            parts.append(f'<text class="label" x="{at:.1f}" y="{height + 14}" text-anchor="middle">{year}</text>')
    return _svg(height + 20, f"dates from {first} to {last}", parts)


def _svg(height: int, told: str, parts: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {max(20, height)}" role="img" aria-label="{escape(told)}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
