"""Small words that every surface says the same way: what somebody may have meant, how a number splits. Pure."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean --delay?`, or nothing where nothing is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def parts_of(numbers: dict[str, int]) -> str:
    """`network_timeout 5, http_403 3`: the largest first."""
    ranked = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name or 'unnamed'} {number}" for name, number in ranked)
