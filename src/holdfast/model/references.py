"""Character references in texts of strangers (`&amp;`, `&#38;`), resolved as browsers do. Any text has an answer."""

from __future__ import annotations

import html
import re

_DECIMAL = re.compile(r"&#([0-9]{9,}+)")
_DIGITS_KEPT = 8  # that many without leading zeros are beyond the last character already


def unescaped(text: str) -> str:
    """`html.unescape`, which raises where a reference has more digits than Python makes a number of."""
    try:
        return html.unescape(text)
    except ValueError:
        return html.unescape(_DECIMAL.sub(_shortened, text))


def _shortened(reference: re.Match[str]) -> str:
    return f"&#{reference[1].lstrip('0')[:_DIGITS_KEPT] or '0'}"
