"""How heavy a tree an HTML text would become, told from its tags in one pass, so that a hostile page is refused.

Under the HTML rules small texts grow large: formatting elements left open are opened again in every block, and the time
to add an element grows with the depth it lies at. The tags go through the elements that are open, as the HTML rules
have it (recipe/open_elements.py). Where these rules depend on what is not followed here, the heavier case counts, so
that a page is never lighter than it is told. Ordinary pages are a hundred times lighter than what is refused.
"""

from __future__ import annotations

import re

from holdfast.recipe.html_names import BLOCKS, FORMATTING, ONCE, PLAIN, RULED, SINGLE, WEIGHED
from holdfast.recipe.open_elements import OpenElements

WORK_MAX = 60_000_000  # elements passed in looking through those that are open: a fifth of a second
NODES_MAX = 800_000  # elements and texts, each with its attributes: 250 MB
TAGS_MAX = 2 * NODES_MAX  # an element has two; nothing else counts those that open nothing
ATTRIBUTES_MAX = 2_000  # in one tag, and in all tags `html` and `body` together: those become one
PAIRS_MAX = 20_000_000  # of attributes in one tag: each is compared with the others
LIGHT = 6_000_000  # tags times characters: each tag may open again what all characters have opened
FEW_TAGS, SHORT = 1_000, 40_000
LONG_TAG = 500  # characters from which attributes are counted one by one

_SPACE = r"\t\n\f\r "
_ATTRIBUTES = (
    rf"((?:[{_SPACE}/]++|[^{_SPACE}/>][^{_SPACE}/>=]*+"
    rf"(?:[{_SPACE}]*+=[{_SPACE}]*+(?:\"[^\"]*+\"?|'[^']*+'?|[^{_SPACE}>]*+))?+)*+)"
)
_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes"
_TAG = re.compile(
    r"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|(!\[CDATA\[)[^>]*+>?"
    rf"|((?i:{_RAW}))(?=[{_SPACE}/>]){_ATTRIBUTES}>(.*?)(?:</(?i:\2)(?=[{_SPACE}/>]){_ATTRIBUTES}>?|\Z)"
    rf"|(/?)([a-zA-Z][^{_SPACE}/>]*+){_ATTRIBUTES}>?"
    r"|[!?/][^>]*+>?)",
    re.DOTALL,
)
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_WORD = re.compile(r"[^\s/=]++")


def too_heavy(text: str) -> str:
    """Why this text is not made a tree; empty: it may be."""
    tags = text.count("<")
    if tags > TAGS_MAX:
        return "it has too many tags"
    is_light = tags <= FEW_TAGS and tags * len(text) <= LIGHT and len(text) <= SHORT
    return "" if is_light else weigh(text, OpenElements())


def weigh(text: str, elements: OpenElements) -> str:
    """Tell the tags of a text to `elements`; why to stop, or empty."""
    names, formatting, merged, pairs = elements.names, elements.formatting, 0, 0
    for found in _TAG.finditer(text):  # one by one: all at once would take forty times the text, before any limit
        cdata, raw, raw_rest, inside, _, closing, name, rest = found.groups("")
        if name:
            tag = name.lower()
            is_calm = not (elements.loose_weight or elements.strange)
            if closing:
                # What most tags are goes its short way here; elements.close would do the same.
                if is_calm and names and names[-1] == tag:
                    if tag in FORMATTING:
                        names.pop()
                        formatting.pop()
                        continue
                    if tag in BLOCKS or tag not in RULED:
                        names.pop()
                        if elements.p_at == len(names):
                            elements.p_at = -1
                        continue
                elements.close(tag)
            elif is_calm and (tag not in RULED or (tag in PLAIN and elements.p_at < 0)):
                names.append(tag)
                elements.work += len(names) + elements.more
                elements.nodes += 1
            elif is_calm and tag in FORMATTING and (not formatting or tag not in SINGLE):
                formatting.append((len(names), tag, rest, 1 + len(rest) // WEIGHED))
                names.append(tag)
                elements.work += len(names) + elements.more + len(formatting)
                elements.nodes += 1 + len(rest) // WEIGHED
            else:
                elements.open(tag, rest)
            if rest and (len(rest) > LONG_TAG or tag in ONCE):
                count = _attributes(rest)
                elements.nodes += count
                merged += count if tag in ONCE else 0
                pairs += count * count
                if max(count, merged) > ATTRIBUTES_MAX or pairs > PAIRS_MAX:
                    return f"a tag has more than {ATTRIBUTES_MAX:,} attributes"
        elif raw:
            elements.raw(raw.lower(), inside)
            if len(raw_rest) > LONG_TAG:
                pairs += _attributes(raw_rest) ** 2
        else:
            elements.nodes += 1
            if cdata:
                elements.cdata()
        if elements.work > WORK_MAX:
            return "its elements are nested too deeply"
        if elements.nodes > NODES_MAX:
            return "it has too many elements, or too many of its formatting tags are never closed"
    return ""


def _attributes(rest: str) -> int:
    return len(_WORD.findall(_QUOTED.sub("", rest)))
