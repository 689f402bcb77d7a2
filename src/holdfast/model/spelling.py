"""Small words that every surface says the same way: what somebody may have meant, how a number splits. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~])")
_BARE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]*")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean --delay?`, or nothing where nothing is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def install(extra: str) -> str:
    """How the packages of an extra are had, where one of them is missing."""
    return f"pip install 'holdfast[{extra}]'"


def as_word(text: str) -> str:
    """The text as one word of a command that people copy into a shell, whatever is in it."""
    if _BARE.fullmatch(text):
        return text
    import shlex

    return shlex.quote(text)


def parts_of(numbers: dict[str, int]) -> str:
    """`network_timeout 5, http_403 3`: the largest first."""
    ranked = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name or 'unnamed'} {number}" for name, number in ranked)


def count_of(number: int, noun: str) -> str:
    """`1 page`, `8 pages`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_markdown(value: object) -> str:
    """Words of a site or a list as text of Markdown: on one line, and nothing in them is markup."""
    return _MARKUP.sub(r"\\\1", " ".join(str(value).split()))
