"""Reads what people read: pages, their links, code blocks and headings. Knows nothing of the program."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tidy.source_tree import ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"
QUICKSTART = DOCS / "quickstart.md"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


def pages() -> list[Path]:
    return [README, ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose_of(path: Path) -> str:
    return _FENCE.sub("", text_of(path))


def links(path: Path) -> list[str]:
    """Where a page points inside the project."""
    found = [first or second for first, second in _LINK.findall(prose_of(path))]
    return [link for link in found if "://" not in link]


def anchors(path: Path) -> set[str]:
    """The headings of a page as a link names them."""
    headings = re.findall(r"^#+ (.*)$", prose_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def blocks(path: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [body for named, body in _FENCE.findall(text_of(path)) if named == language]


def commands(path: Path) -> list[list[str]]:
    """The words of every `$ holdfast …` line in a page's console blocks: comments dropped, up to a pipe."""
    lines = [
        line[2:] for body in blocks(path, "console") for line in body.splitlines() if line.startswith("$ holdfast")
    ]
    return [_before_pipe(shlex.split(line, comments=True))[1:] for line in lines]


def shell_lines(path: Path) -> list[str]:
    """Every line for a shell in a page's blocks, comments dropped: behind a prompt, or in a block for a shell alone."""
    found = []
    for language, body in _FENCE.findall(text_of(path)):
        lines = [line for line in body.splitlines() if line.strip()]
        if language in ("sh", "bash", "shell", "zsh", "fish", "console"):
            found += [line.removeprefix("$ ") for line in lines]
        else:
            found += [line[2:] for line in lines if line.startswith("$ ")]
    return [re.sub(r"\s+#.*$", "", line) for line in found]


def made_or_installed(path: Path) -> list[str]:
    """The code spans of a page's prose that are lines for a shell, but none of `holdfast`."""
    found = re.findall(r"(?<!`)`((?:make|python -m|pip|uv|pytest)\s[^`]+)`", prose_of(path))
    return [" ".join(text.split()) for text in found]


def spans(path: Path) -> list[str]:
    """What follows `holdfast ` in the code spans of a page's prose, on one line each."""
    found = re.findall(r"(?<!`)`holdfast\s+([^`]+)`", prose_of(path))
    return [" ".join(text.replace(r"\|", "|").split()) for text in found]


def toml_blocks(path: Path) -> list[str]:
    return [body for language, body in _FENCE.findall(text_of(path)) if language == "toml"]


def _before_pipe(words: list[str]) -> list[str]:
    return words[: words.index("|")] if "|" in words else words
