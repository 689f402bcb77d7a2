"""Addresses as logs and rows have them: a signed one without what makes it valid (DOC-21)."""

from __future__ import annotations

import re

_QUERY = re.compile(r"(https?://[^\s?#]*+)[?#]\S*+")


def redacted(url: str) -> str:
    """Without its query and fragment."""
    return url.partition("?")[0].partition("#")[0]


def redacted_end(asked: str, url: str) -> str:
    """Where the way from `asked` ended. That address is no secret; those that redirects lead to may be signed."""
    return url if url == asked else redacted(url)


def redacted_text(text: str, known: str = "") -> str:
    """A sentence whose addresses are redacted, but for a `known` one, also if it was cut short."""

    def shown(found: re.Match[str]) -> str:
        return found[0] if known.startswith(found[0].rstrip(",;'")) else found[1]

    return _QUERY.sub(shown, text)
