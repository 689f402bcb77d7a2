"""Links to evidence: to the passage in the report's own list, and to the words on the page itself."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

WORDS = 6  # of a long passage: its first and its last words
PLAIN_LENGTH_MAX = 60
SHOWN_LENGTH_MAX = 260


def page_link(url: str, passage: str = "", at: int = -1) -> str:
    """The page, with a text fragment that a browser scrolls to and marks. Empty of anything but http and https."""
    if not url.startswith(("http://", "https://")):
        return ""
    words = passage.split()
    if at < 0 or not words:
        return url
    bare = url.partition("#")[0]
    if len(passage) <= PLAIN_LENGTH_MAX and "\n" not in passage:
        return f"{bare}#:~:text={_encoded(words)}"
    lines = [line for line in passage.split("\n") if line.strip()]
    if len(lines) > 1:
        return f"{bare}#:~:text={_encoded(lines[0].split()[:WORDS])},{_encoded(lines[-1].split()[-WORDS:])}"
    if len(words) <= WORDS:
        return f"{bare}#:~:text={_encoded(words)}"
    return f"{bare}#:~:text={_encoded(words[: WORDS // 2 + 1])},{_encoded(words[-(WORDS // 2 + 1) :])}"


def _encoded(words: list[str]) -> str:
    """A comma, a dash and an ampersand mean something within a text fragment."""
    return quote(" ".join(words), safe="").replace("-", "%2D")


def shown_passage(passage: str) -> str:
    """On one line, cut where it is long."""
    line = " · ".join(part.strip() for part in passage.split("\n") if part.strip())
    return line if len(line) <= SHOWN_LENGTH_MAX else line[: SHOWN_LENGTH_MAX - 1].rstrip() + "…"


def short_url(url: str) -> str:
    return url.partition("://")[2].removeprefix("www.").rstrip("/") or url


def wording_of(section: dict[str, Any]) -> str:
    """Who worded a section, where that was not the rules alone; empty of one that no model was asked about."""
    if section.get("not_worded"):
        return f"In the words of the rules: no usable answer from {section['not_worded']}."
    maker = section.get("made_by", "rules")
    return "" if maker == "rules" else f"Worded by {maker} from the statements of the rules."


def statements_of(section: dict[str, Any]) -> list[dict[str, Any]]:
    return list(section.get("statements") or [])
