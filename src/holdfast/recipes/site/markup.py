"""Finds the few tags a crawl wants in a text of HTML, in linear time and without building a tree.

A tree is what a hostile page attacks: under the HTML rules 33 KB of `<b id=…>` and `<p>` become millions of elements
(2.2 GB in lexbor), and 100,000 nested `<div>` or 200,000 attributes take half a minute and more. So only tokens are
read here, by the tokenizer's rules: quotes, comments, raw text such as scripts, character references. Every repetition
below is possessive (`*+`): what it took it never gives back, so nothing is read twice and nothing has to be remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import html5

import msgspec

from holdfast.model.references import unescaped

# Text up to their end tag. `noframes` and `noscript` are not among them: a crawler is the reader they are written for.
RAW = ("script", "style", "textarea", "xmp", "iframe", "noembed", "plaintext")
WANTED = ("a", "area", "base", "frame", "link", "meta", "title")


def _any_case(names: tuple[str, ...]) -> str:
    """An alternative per name, spelled so that the matcher can tell by one look at the next character."""
    return "|".join("".join(f"[{letter}{letter.upper()}]" for letter in name) for name in names)


_NAME = rf"(?:{_any_case(WANTED + RAW)})(?=[\s/>])"
_VALUE = r"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+|(?=>)|\Z)"""
_ATTRIBUTE = rf"[^\s/>][^\s/>=]*+(?:\s*+=\s*+{_VALUE})?+"
_ATTRIBUTES = rf"(?:[\s/]++|{_ATTRIBUTE})*+[^>]*+"
# As most are written; any other is read by the rules above. Without quotes a tag ends at the next `>`.
_USUAL_ATTRIBUTES = r"""(?:\s++[A-Za-z-]++="[^"]*+")*+\s*+/?"""
_END = rf"""(?:>|{_USUAL_ATTRIBUTES}>|[^>"']*+>|{_ATTRIBUTES}>?)"""
# Most tags are told from the wanted ones by their first letter, without trying name after name.
_FIRST = "".join(sorted(set("abcdefghijklmnopqrstuvwxyz") - {name[0] for name in WANTED + RAW}))
_PLAIN = rf"[{_FIRST}{_FIRST.upper()}][^\s/>]*+"
_BARE = rf"/[a-z0-9]++>|[{_FIRST}][a-z0-9]*+>|p>|li>"
# Five or ten `meta` stand on a page, and nearly all say nothing to a crawl: those are passed over as they are read.
_META = r"""meta(?:\s++(?!http-)(?!name="(?:[\s&]|[rR][oO]|[hH][oO]))[a-z:-]++="[^"]*+")++\s*+/?+>"""
_TAG = rf"{_BARE}|/[A-Za-z][^\s/>]*+{_END}|(?:{_PLAIN}|[pP](?=[\s/>])|(?!{_NAME})[A-Za-z][^\s/>]*+){_END}|{_META}"
_BOGUS = r"(?:/(?![A-Za-z])|\?|!(?!--))[^>]*+>?"
_OTHER = rf"<(?:{_TAG}|{_BOGUS}|(?![A-Za-z/!?]))"
# A link as most are written. Any other fails here before its `>`, and is read once more by the rules above.
_USUAL = r"""<[aA]\s++(?:(?!href=)[a-z-]++="[^"]*+"\s++)*+href="([^"&]*+)"[^>"']*+>"""


def _scanner(usual: str) -> re.Pattern[str]:
    return re.compile(rf"[^<]*+(?:{_OTHER}[^<]*+)*+(?:{usual}|(<!--)|<({_NAME})({_ATTRIBUTES})(>?))?", re.ASCII)


_SCAN, _SCAN_EACH = _scanner(_USUAL), _scanner(r"(?!)(\Z)")  # the second reads every link by the rules
_COMMENT_END = re.compile("--!?>")
_END_OF = {name: re.compile(rf"</(?i:{name})[\s/>]") for name in ("title", *RAW)}
_ONE = re.compile(r"""([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s>"'][^\s>]*)))?""", re.ASCII)
_REFERENCE = re.compile(r"&(?:#[xX][0-9a-fA-F]+;?|#[0-9]+;?|([A-Za-z][A-Za-z0-9]*)(;|(?![=A-Za-z0-9])))")


class Tag(msgspec.Struct, frozen=True, gc=False):
    """A start tag of interest. `text` is the content of a title, as written; `at` is where the tag ends."""

    name: str
    attributes: str
    at: int
    text: str = ""

    def get(self, name: str) -> str | None:
        """The value of an attribute, references resolved; empty where it has none, None where it is missing."""
        for one in _ONE.finditer(self.attributes):  # one at a time: a hostile tag has a million of them
            if one[1].lower() == name:
                value = one[2] or one[3] or one[4] or ""
                return resolve_references(value) if "&" in value else value
        return None


def scan(text: str, hrefs: dict[str, None], *, each: bool = False, is_xml: bool = False) -> Iterator[Tag]:
    """The tags of interest in the order of the text; of `meta` only those that may say something to a crawl.

    Thirty links stand on a page: the href of one that is written as usual goes straight into `hrefs`, in its turn,
    unless `each` is asked for with all its attributes. In XML an element that is closed in its tag has no content.
    """
    at, end = 0, len(text)
    pattern = _SCAN_EACH if each else _SCAN
    while at < end:
        for match in pattern.finditer(text, at):  # has an answer to every character, so that none is passed over
            href = match[1]
            if href is not None:
                hrefs[href] = None
                continue
            _, comment, name, attributes, closed = match.groups()
            if comment:
                at = end_of_comment(text, match.end())
                break
            elif name:
                if not closed:
                    return  # the text ends inside a tag, which then is none
                name, at = name.lower(), match.end()
                if name not in _END_OF or (is_xml and attributes.endswith("/")):
                    yield Tag(name, attributes, at)
                    continue
                begin, closing = at, _END_OF[name].search(text, at)
                at = closing.start() if closing else end
                if name == "title":
                    yield Tag(name, "", begin, text[begin:at])
                elif name == "iframe":
                    yield Tag(name, attributes, begin)
                break
        else:
            return


def resolve_references(value: str) -> str:
    """Character references of an attribute. `&copy=1` stays: there, a name without `;` is none before `=`."""
    return _REFERENCE.sub(_resolved, value)


def _resolved(match: re.Match[str]) -> str:
    if match[1] is None:
        return unescaped(match[0])
    return html5.get(match[1] + match[2], match[0])


def end_of_comment(text: str, at: int) -> int:
    """Where a comment ends whose content begins at `at`."""
    if text.startswith((">", "->"), at):  # `<!-->` is a whole comment
        return text.index(">", at) + 1
    match = _COMMENT_END.search(text, at)
    return match.end() if match else len(text)


def is_closed(tag: str) -> bool:
    """Whether the text of a start tag ends in `/>` that closes it: the slash of `a=b/>` belongs to a value."""
    if not tag.endswith("/>"):
        return False
    *before, last = tag.rsplit(None, 1)
    if last[-3:-2] in ('"', "'"):
        return True
    return "=" not in last and not (before and before[0].endswith("="))
