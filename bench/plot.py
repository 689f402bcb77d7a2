"""The picture of the results: two panels of bars, pages per second and CPU per 1000 pages, readable by day and night.

Drawn by hand as SVG. A thin line shows the least and the most of all rounds. A bar that would dwarf all others is cut
and says so. It draws what it is given and knows nothing of crawlers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, MARGIN, GUTTER = 960, 28, 40
NAMES_WIDTH = 250
TOP, BAR, STEP = 96, 20, 36
VALUE_WIDTH = 62
CUT_ABOVE = 2.5  # times the largest of the others
STYLE = """
.ground{fill:#fdfcf9;stroke:#ddd8cd}
text{font-family:"Avenir Next",Avenir,"Segoe UI",Ubuntu,"DejaVu Sans",sans-serif;fill:#2b2f36;font-size:13px}
.h{font-size:15px;font-weight:700}.m{fill:#6a6f78;font-size:12px}.v{font-weight:600}
.ours{fill:#0b7285}.theirs{fill:#a7adb5}.axis{stroke:#c9c4b8}.range{stroke:#2b2f36;stroke-width:1.4}
.cut{stroke:#fdfcf9;stroke-width:4}
@media (prefers-color-scheme:dark){
.ground{fill:#14181d;stroke:#2c333b}text{fill:#d9dee5}.m{fill:#98a1ac}.ours{fill:#3fb3c8}.theirs{fill:#5d6671}
.axis{stroke:#3a424b}.range{stroke:#e8ecf1}.cut{stroke:#14181d}
}"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One contestant in one panel: median, least and most."""

    value: float
    least: float
    most: float
    label: str


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    note: str
    bars: Sequence[Bar]


def picture(title: str, names: Sequence[str], ours: Sequence[bool], panels: Sequence[Panel]) -> str:
    """The whole SVG; each panel has one bar per name."""
    height = TOP + STEP * len(names) + 14
    width = (WIDTH - 2 * MARGIN - NAMES_WIDTH - GUTTER * len(panels)) / len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title">',
        f'<title id="title">{escape(title)}</title>',
        f"<style>{STYLE}</style>",
        f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="12"/>',
        f'<text class="h" x="{MARGIN}" y="38">{escape(title)}</text>',
        *(_name(place, name) for place, name in enumerate(names)),
    ]
    for place, panel in enumerate(panels):
        left = MARGIN + NAMES_WIDTH + GUTTER * (place + 1) - 20 + width * place
        parts += _panel(panel, ours, left, width)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _name(place: int, name: str) -> str:
    return f'<text x="{MARGIN}" y="{TOP + STEP * place + BAR - 5}">{escape(name)}</text>'


def _panel(panel: Panel, ours: Sequence[bool], left: float, width: float) -> list[str]:
    room = width - VALUE_WIDTH
    limit = limit_of([bar.most for bar in panel.bars])
    parts = [
        f'<text class="v" x="{left:.1f}" y="66">{escape(panel.title)}</text>',
        f'<text class="m" x="{left:.1f}" y="84">{escape(panel.note)}</text>',
    ]
    for place, (bar, own) in enumerate(zip(panel.bars, ours, strict=True)):
        parts += _bar(bar, "ours" if own else "theirs", left, TOP + STEP * place, room / limit, limit)
    bottom = TOP + STEP * len(panel.bars) - STEP + BAR + 8
    return [*parts, f'<line class="axis" x1="{left:.1f}" y1="{TOP - 4}" x2="{left:.1f}" y2="{bottom}"/>']


def _bar(bar: Bar, kind: str, left: float, top: float, scale: float, limit: float) -> list[str]:
    cut = bar.value > limit
    end = left + min(bar.value, limit) * scale
    most = left + min(bar.most, limit) * scale
    middle = top + BAR / 2
    parts = [f'<rect class="{kind}" x="{left:.1f}" y="{top}" width="{end - left:.1f}" height="{BAR}" rx="2"/>']
    if cut:
        slash = end - 24
        parts.append(f'<path class="cut" d="M{slash - 5:.1f} {top + BAR + 2}L{slash + 5:.1f} {top - 2}"/>')
    elif bar.most > bar.least:
        least = left + bar.least * scale
        parts.append(f'<line class="range" x1="{least:.1f}" y1="{middle}" x2="{most:.1f}" y2="{middle}"/>')
    place = max(end, end if cut else most) + 7
    parts.append(f'<text class="v" x="{place:.1f}" y="{top + BAR - 5}">{escape(bar.label)}</text>')
    return parts


def limit_of(values: Sequence[float]) -> float:
    """The length of the axis. Where one value is far beyond the rest, the axis ends a little after the rest."""
    ordered = sorted(values)
    if len(ordered) > 1 and ordered[-1] > CUT_ABOVE * ordered[-2]:
        return ordered[-2] * 1.25
    return ordered[-1] or 1.0
