"""Text that Markdown shows as it was: what would be a mark of Markdown or HTML gets a backslash, and no more."""

from __future__ import annotations

import re

SPACES = re.compile(r"[ \t\n\r\f\v\xa0]+")
_MARKS = re.compile(
    r"[\\`*\[\]]|<(?=[A-Za-z/!?]|\Z)|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w{1,31};)|~(?=~)|(?<=~)~"
)  # an underscore within a word is only itself
_BACKSLASHED = r"\\\g<0>"
_ANY_MARK = re.compile(r"[\\`*\[\]<_&~]")
_OTHER_SPACE = re.compile(r"[\t\n\r\f\v\xa0]|  ")
_LINE_START = re.compile(r"(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|=+\s*$|-{2,}\s*$|\d{1,9}(?=[.)](?:\s|$))|:(?=\s))")
_TICKS = re.compile(r"`+")


def escaped(text: str) -> str:
    """Running text, its white space made single."""
    text = spaced(text)
    return _MARKS.sub(_BACKSLASHED, text) if _ANY_MARK.search(text) else text


def spaced(text: str) -> str:
    """Text with its white space made single; most texts are so already, and are not copied."""
    return SPACES.sub(" ", text) if _OTHER_SPACE.search(text) else text


def escaped_start(line: str) -> str:
    """A line of running text that would begin a heading, a list, a quotation or the like if it were left as it is."""
    found = _LINE_START.match(line)
    if found is None:
        return line
    at = found.end() if line[0].isdigit() else 0
    return f"{line[:at]}\\{line[at:]}"


def code_span(text: str) -> str:
    """Inline code, between more backticks than it has in a row itself."""
    text = spaced(text)
    inner = text.strip()
    if not inner:
        return text
    ticks = "`" * (max((len(run) for run in _TICKS.findall(inner)), default=0) + 1)
    gap = " " if inner[0] == "`" or inner[-1] == "`" else ""
    before, after = " " if text[0] == " " else "", " " if text[-1] == " " else ""
    return f"{before}{ticks}{gap}{inner}{gap}{ticks}{after}"


def fenced(code: str, language: str) -> list[str]:
    """A block of code as lines, between fences longer than any run of backticks in it; none where it is empty."""
    code = code.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").replace("\0", "\ufffd")
    lines = [line.rstrip() for line in code.split("\n")]
    start, end = 0, len(lines)
    while start < end and not lines[start]:
        start += 1
    while end > start and not lines[end - 1]:
        end -= 1
    if start == end:
        return []
    longest = max((len(run) for run in _TICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + language, *lines[start:end], fence]
