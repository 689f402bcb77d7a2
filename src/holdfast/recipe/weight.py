"""How heavy a tree an HTML text would become, told from its tags in one pass, so that a hostile page is refused.

Under the HTML rules small texts grow large: formatting tags left open are opened again in every block, and the time to
add an element grows with the depth it lies at. Ordinary pages are a thousand times lighter than what is refused here.
"""

from __future__ import annotations

import re

DEPTH_SUM_MAX = 50_000_000  # ten thousand elements in each other: a fifth of a second
REOPENED_MAX = 500_000  # formatting elements made again
TAG_LENGTH_LOOKED_AT = 20_000
ATTRIBUTES_MAX = 2_000  # in one tag

_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>?")
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_WORD = re.compile(r"[^\s/=]++")
_FORMATTING = frozenset(("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt"))
_VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"))
_CLOSED_BY_THE_NEXT = frozenset(("p", "li", "td", "th", "tr", "dt", "dd", "option", "tbody", "thead", "tfoot", "rt"))
_FLAT = _VOID | _CLOSED_BY_THE_NEXT  # whatever deepens a tree has another tag around these


def too_heavy(text: str) -> str:
    """Why this text is not made a tree; empty: it may be."""
    depth = open_formatting = depth_sum = reopened = 0
    for closing, name, rest in _TAG.findall(text):
        tag = name.lower()
        if closing:
            depth = max(0, depth - (tag not in _FLAT))
            if tag in _FORMATTING:
                open_formatting = max(0, open_formatting - 1)
            continue
        if len(rest) > TAG_LENGTH_LOOKED_AT and _attributes(rest) > ATTRIBUTES_MAX:
            return f"a tag has more than {ATTRIBUTES_MAX:,} attributes"
        depth_sum += depth
        if tag in _FORMATTING:
            open_formatting += 1
        else:
            reopened += open_formatting
        depth += tag not in _FLAT
    if depth_sum > DEPTH_SUM_MAX:
        return "its elements are nested too deeply"
    if reopened > REOPENED_MAX:
        return "too many of its formatting tags are never closed"
    return ""


def _attributes(rest: str) -> int:
    return len(_WORD.findall(_QUOTED.sub("", rest)))
