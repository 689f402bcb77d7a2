"""The recording: `holdfast demo` is played on a pseudo-terminal, and what it showed becomes an SVG that moves.

Every line appears when it appeared. A picture that does not move (print, reduced motion, a plain viewer) is the last
screen. rich reads the colours; nothing is drawn that the command did not print, except the prompt before it.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path

from generator.terminal import Screen
from rich.color import ColorType
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI, TerminalTheme
from rich.text import Text

COLUMNS, ROWS = 104, 40
READ_BYTES = 65536
HOLD_S = 8.0  # the last screen stays so long before it begins again
FRAMES_PER_LINE_MAX = 30
CELL_W, LINE_H, FONT, MARGIN = 8.0, 19, 13.2, 18
FAMILY = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
COMMAND = "holdfast demo"


@dataclass(frozen=True)
class Look:
    """One of the two appearances."""

    name: str
    ground: str
    ink: str
    edge: str
    theme: TerminalTheme
    replaced: dict[str, str] = field(default_factory=dict)  # colours of the terminal that this ground does not suit


LIGHT = Look(
    "demo.svg", "#fbfaf7", "#24292f", "#d8d4cb", DEFAULT_TERMINAL_THEME,
    {"#800000": "#b42318", "#008000": "#1a7f37", "#008080": "#0b6e88", "#3a3a3a": "#dcd8cf"},
)  # fmt: skip
DARK = Look(
    "demo-dark.svg", "#15191e", "#d7dde4", "#2d343c", MONOKAI,
    {"#1a1a1a": "#15191e", "#f4005f": "#ff6b63", "#98e024": "#57c263", "#58d1eb": "#5fc9df", "#3a3a3a": "#39424c"},
)  # fmt: skip


def make(folder: Path) -> list[Path]:
    """Play the demo once and draw it light and dark. A demo that fails is not drawn."""
    screen, seconds = play([str(Path(sys.executable).parent / "holdfast"), "demo"])
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for look in (LIGHT, DARK):
        paths.append(folder / look.name)
        paths[-1].write_text(draw(screen, seconds, look), encoding="utf-8")
    return paths


def play(command: list[str]) -> tuple[Screen, float]:
    """Run it on a terminal of a fixed size; the screen it left, with the times at which each line changed."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # The folder is shown in the picture, so it is nobody's own.
    environ = kept | {"TERM": "xterm-256color", "PYTHONUTF8": "1", "TMPDIR": "/tmp"}  # noqa: S108
    screen, began = Screen(), time.monotonic()
    screen.feed(0.0, f"\x1b[2m$\x1b[0m {COMMAND}\r\n\r\n")
    running = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environ)
    os.close(other)
    decoder = codecs.getincrementaldecoder("utf-8")()
    while said := _read(main):
        screen.feed(time.monotonic() - began, decoder.decode(said))
    os.close(main)
    if running.wait() != 0:
        raise RuntimeError(f"{COMMAND} exited with {running.returncode}; nothing is drawn")
    return screen, time.monotonic() - began


def _read(descriptor: int) -> bytes:
    """What the terminal says next; empty at its end, which Linux tells as an error."""
    try:
        return os.read(descriptor, READ_BYTES)
    except OSError:
        return b""


def draw(screen: Screen, seconds: float, look: Look) -> str:
    """The SVG: a group per line, or per state of a line that changed."""
    lines = screen.lines()
    width, height = COLUMNS * CELL_W + 2 * MARGIN, len(lines) * LINE_H + 2 * MARGIN
    frames = [frame for row, states in enumerate(lines) for frame in _frames(row, states)]
    groups = [
        f'<g class="f{n}{" gone" if frame.until else ""}">{_line(frame.text, frame.row, look)}</g>'
        for n, frame in enumerate(frames)
    ]
    rules = [_rule(f"f{n}", frame, seconds + HOLD_S) for n, frame in enumerate(frames)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
            f'font-family="{FAMILY}" font-size="{FONT}">',
            "<title>holdfast demo: a crawl is killed half-way, and the same command goes on where it was</title>",
            "<style>.gone{opacity:0}",
            "@media (prefers-reduced-motion:no-preference){",
            *rules,
            "}</style>",
            f'<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="8" fill="{look.ground}" '
            f'stroke="{look.edge}"/>',
            *groups,
            "</svg>\n",
        ]
    )


@dataclass(frozen=True)
class Frame:
    """One state of one line. `until` is None for the last one, which stays."""

    row: int
    at: float
    until: float | None
    text: str


def _frames(row: int, states: list[tuple[float, str]]) -> list[Frame]:
    """At most so many states of a line, its last one always."""
    if not states or not states[-1][1].strip():
        return []
    step = -(-len(states) // FRAMES_PER_LINE_MAX)
    picked = [*states[:-1:step], states[-1]]
    ends = [*(at for at, _ in picked[1:]), None]
    return [Frame(row, at, until, text) for (at, text), until in zip(picked, ends, strict=True) if text.strip()]


def _rule(name: str, frame: Frame, whole: float) -> str:
    """Shown from its moment on, until the next state of its line or the end of the whole."""
    end = "100%{opacity:1}" if frame.until is None else f"{frame.until / whole:.2%}{{opacity:0}}"
    steps = f"0%{{opacity:{int(not frame.at)}}}{frame.at / whole:.2%}{{opacity:1}}{end}"
    return f".{name}{{animation:{name} {whole:.1f}s step-end infinite}}@keyframes {name}{{{steps}}}"


def _line(ansi: str, row: int, look: Look) -> str:
    """A text element per run of one style, each at its own column, so that no font can shift it."""
    text = Text.from_ansi(ansi)
    plain, parts = text.plain.rstrip(), []
    edges = {0, len(plain), *(edge for span in text.spans for edge in (span.start, span.end))}
    for start, end in pairwise(sorted(edges)):
        run = plain[start:end]
        if run.strip():
            over = [Style.parse(str(span.style)) for span in text.spans if span.start <= start and end <= span.end]
            column = start + len(run) - len(run.lstrip())
            parts.append(_run(run.strip(), column, row, Style.combine([Style.null(), *over]), look))
    return "".join(parts)


def _run(text: str, column: int, row: int, style: Style, look: Look) -> str:
    x, y = MARGIN + column * CELL_W, MARGIN + row * LINE_H + FONT
    bold = ' font-weight="700"' if style.bold else ""
    dim = ' opacity=".62"' if style.dim else ""
    place = f'x="{x:g}" y="{y:g}" textLength="{len(text) * CELL_W:g}"'
    return f'<text {place} fill="{_ink(style, look)}"{bold}{dim}>{escape(text)}</text>'


def _ink(style: Style, look: Look) -> str:
    if style.color is None or style.color.type is ColorType.DEFAULT:
        return look.ink
    shown = style.color.get_truecolor(look.theme).hex
    return look.replaced.get(shown, shown)
