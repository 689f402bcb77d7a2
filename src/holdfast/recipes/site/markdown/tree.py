"""A page as a light tree of our own, read once from lexbor's: elements that can show something, and their texts.

Scripts, forms and the like are left out while it is read. It is never deeper than `DEPTH_MAX`: what lies deeper stands
where its ancestor at that depth stands, so a walk may recurse. Comments are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

DEPTH_MAX = 160
NODES_MAX = 400_000

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
BLOCKS = frozenset(HEADINGS) | frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir"),
        *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html"),
        *("legend", "li", "listing", "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table"),
        *("tbody", "td", "tfoot", "th", "thead", "tr", "ul", "xmp"),
    )
)
CODE_BLOCKS = frozenset({"pre", "listing", "xmp"})
INLINE_CODE = frozenset({"code", "tt", "kbd", "samp"})
CODE_CLASSES = frozenset({"code", "tt"})  # of a `span`, in what Erlang and Doxygen write
PROSE = frozenset(("p", "pre", "blockquote", "td", "dd", "li", "dt", "code", "h1", "h2", "h3", "h4", "figcaption"))
UNSEEN = frozenset(
    (
        *("script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "select", "option"),
        *("button", "textarea", "link", "meta", "head", "title", "source", "track", "map", "area", "audio", "video"),
        *("progress", "meter", "datalist", "param", "base", "frame", "frameset", "applet", "colgroup", "col"),
    )
)
CLASSIFIER = "classifier"  # docutils' type of a term: newer style sheets, not the page, put a colon before it
TEXT = "-text"
LINKED_PROSE = 0.5  # a paragraph of which more is links is not prose
OWN_TEXT = 25  # characters that an element of no particular meaning has to hold itself to count as prose


@final
class Node:
    """An element. `length` is how much text is in it, `linked` how much of that is links, `prose` how much reads like
    sentences, code or cells; `has_block` says whether any element in it begins a line."""

    __slots__ = ("attributes", "children", "depth", "has_block", "length", "linked", "parent", "prose", "tag")

    def __init__(self, tag: str, attributes: dict[str, str | None], parent: Node | None) -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Node | str] = []
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.length = self.linked = self.prose = 0
        self.has_block = False

    def get(self, name: str) -> str:
        """An attribute; empty where there is none."""
        return self.attributes.get(name) or "" if self.attributes else ""

    @property
    def classes(self) -> str:
        return self.attributes.get("class") or "" if self.attributes else ""

    def elements(self) -> Iterator[Node]:
        """The elements directly in it."""
        return (child for child in self.children if type(child) is Node)

    def walk(self) -> Iterator[Node]:
        """Itself and every element in it, in page order."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [child for child in reversed(node.children) if type(child) is Node]

    def first(self, *tags: str) -> Node | None:
        """The first element in it, or itself, of one of these tags."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.tag in tags:
                return node
            waiting += [child for child in reversed(node.children) if type(child) is Node]
        return None

    def holds(self, tags: frozenset[str]) -> bool:
        """Whether any element in it has one of these tags."""
        return any(node.tag in tags for node in self.walk() if node is not self)

    def text(self) -> str:
        """All text in it, as it is written."""
        waiting: list[Node | str] = [self]
        texts: list[str] = []
        while waiting:
            each = waiting.pop()
            if isinstance(each, str):
                texts.append(each)
            else:
                waiting += reversed(each.children)
        return "".join(texts)


def read_tree(parser: LexborHTMLParser, *, unseen: frozenset[str] = UNSEEN) -> Node:
    """The body of a parsed page. Of more than `NODES_MAX` elements the rest is left out."""
    root = Node("body", {}, None)
    body = parser.body
    if body is None:
        return root
    root.attributes = body.attributes
    is_unseen = unseen.__contains__
    waiting: list[tuple[LexborNode | None, Node]] = [(body.child, root)]
    count = 0
    while waiting:
        found, parent = waiting.pop()
        while found is not None:
            tag = found.tag or ""
            if tag == TEXT:
                parent.children.append(found.text_content or "")
            elif tag == "math":
                parent.children.append(_formula(found))
            elif not is_unseen(tag) and not tag.startswith(("-", "!")):
                count += 1
                if count > NODES_MAX:
                    return root
                child = found.child
                node = _placed(tag, found, parent)
                if child is not None:
                    following = found.next
                    if following is not None:
                        waiting.append((following, parent))
                    found, parent = child, node
                    continue
            found = found.next
    return root


def _placed(tag: str, found: LexborNode, parent: Node) -> Node:
    """The element in our tree; below the greatest depth its parent stands for it, but for code, which keeps lines."""
    if parent.depth >= DEPTH_MAX and not (tag in CODE_BLOCKS and parent.depth < DEPTH_MAX + 2):
        if tag in BLOCKS or tag == "br":
            parent.children.append("\n")
        return parent
    node = Node(tag, found.attributes, parent)
    if tag == "span" and parent.tag == "dt" and node.classes == CLASSIFIER and not _ends_in_colon(parent.children[-2:]):
        parent.children.append(" : ")
    parent.children.append(node)
    return node


def _ends_in_colon(last: list[Node | str]) -> bool:
    text = "".join(each if isinstance(each, str) else each.text() for each in last).rstrip()
    return not text or text.endswith(":")


def _formula(found: LexborNode) -> str:
    """MathML as the TeX that it was made of, where it says so."""
    source = found.css_first('annotation[encoding="application/x-tex"]')
    return f"${source.text().strip()}$" if source is not None else found.text()


def measure(root: Node) -> None:
    """Fill in the lengths of every element."""
    _measure(reversed(list(root.walk())))


def measure_again(changed: Iterable[Node]) -> None:
    """Fill in the lengths of elements that have lost some of what was in them, and of all that they lie in."""
    stale: dict[int, Node] = {}
    for each in changed:
        node: Node | None = each
        while node is not None and id(node) not in stale:
            stale[id(node)] = node
            node = node.parent
    _measure(sorted(stale.values(), key=lambda node: -node.depth))


def _measure(nodes: Iterable[Node]) -> None:
    """The innermost come first."""
    for node in nodes:
        length = linked = prose = own = 0
        has_block = False
        tag = node.tag
        is_code = tag in CODE_BLOCKS or tag == "code"
        for child in node.children:
            if type(child) is Node:
                length += child.length
                linked += child.linked
                prose += child.prose
                has_block = has_block or child.has_block or child.tag in BLOCKS
            else:
                own += len(child) if is_code else len(child.strip())
        length += own
        if tag == "a" and node.get("href"):  # without, it is a place that links may lead to
            linked = length
        if tag in PROSE and length and linked < LINKED_PROSE * length:
            prose = max(prose, length - linked)
        elif own > OWN_TEXT and linked < 0.3 * length:
            prose += own
        node.length, node.linked, node.prose, node.has_block = length, linked, prose, has_block
