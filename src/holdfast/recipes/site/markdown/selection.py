"""The main content of a page: the part that the page itself calls so, else the element that holds most of its prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from holdfast.recipes.site.markdown.boilerplate import drop_tails, prune
from holdfast.recipes.site.markdown.tables import rows_of
from holdfast.recipes.site.markdown.tree import HEADINGS, UNSEEN, Node, measure, measure_again, read_tree

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

ENOUGH = 250  # characters: a page with less is read once more, with what was hidden
NEARLY_NOTHING = 40  # characters: below that even what is named like a menu is better than what is left
MAIN_SHARE = 0.55  # of the prose, that an element called the content must hold: of two equal parts neither is all
TEXT_SHARE = 0.3  # of all its text, too
CHIEF_SHARE = 0.8  # of the prose, that an element must hold to be gone into
MERE_LINK = 0.9  # more is nothing but links; a heading that names a linked type among other words still heads
LEAVES = frozenset(("p", "pre", "table", "ul", "ol", "dl", "tbody", "tr", "blockquote"))
WITH_NOSCRIPT = UNSEEN - {"noscript"}
_GENERATORS = re.compile(
    r"docutils|sphinx|docbook|makeinfo|texinfo|asciidoc|doxygen|javadoc|rustdoc|mdbook|mkdocs|gtk-doc|docusaurus|"
    r"vitepress|vuepress|antora|gitbook|hugo.*docs|mandoc|haddock|mintlify|readme|starlight|nextra|pandoc|org.?mode|"
    r"ocamldoc|odoc|publican|latex2html|tex4ht|groff|yard|jsdoc|typedoc|dokka|ddoc|help2man|epydoc|naturaldocs",
    re.IGNORECASE,
)
_OF_DOCUMENTATION = (
    "#page-wrapper.page-wrapper main, #package-header ~ #content #interface, #apicontent, body.rustdoc, "
    ".manual-text, .vp-doc, .theme-doc-markdown, "
    ".rst-content, .md-content__inner, .devsite-article-body, .sl-markdown-content"
)
_CALLED_CONTENT = re.compile(
    r"(?:^|\s)(?:theme-doc-markdown|markdown-body|md-content__inner|vp-doc|rst-content|entry-content|post-content|"
    r"article-body|article-content|article__body|articlebody|post-body|story-body|mw-parser-output|td-content|"
    r"devsite-article-body|sl-markdown-content|page-content|manual-text|docbook|apicontent|main-content|"
    r"mw-content-text|doc-content|bodywrapper)(?=$|\s)",
    re.IGNORECASE,
)

_BLANK = re.compile(r"\s+")
_PERHAPS = re.compile(r"(?:^|\s)(?:main|content)(?=$|\s)", re.IGNORECASE)


def main_content(parser: LexborHTMLParser) -> tuple[Node, Node | None]:
    """The element that holds the content, and the page's title heading where it stands outside."""
    is_documentation = _is_documentation(parser)
    root = read_tree(parser)
    best, title, before = _selected(root, by_name=not is_documentation)
    if best.length < ENOUGH or best.prose < 0.2 * before:
        best, title = _with_hidden(parser, best, title)
    if not is_documentation:
        drop_tails(best)
    _drop_doubled_title(best)
    return best, title


def _drop_doubled_title(best: Node) -> None:
    """A bar at the top of a page may repeat the title that stands below it: once is enough."""
    titles = [node for node in best.walk() if node.tag == "h1"][:2]
    if len(titles) < 2:
        return
    first, second = (_BLANK.sub("", title.text()) for title in titles)
    if first and first == second and _BLANK.sub("", best.text()).startswith(first + second):
        bar = titles[0].parent
        if bar is not None:
            bar.children = [child for child in bar.children if child is not titles[0]]


def _with_hidden(parser: LexborHTMLParser, best: Node, title: Node | None) -> tuple[Node, Node | None]:
    """Some pages keep all they say for readers without scripts, or show it only when a script has run."""
    for by_name in (True, False):
        if not by_name and best.length >= NEARLY_NOTHING:
            break
        again, its_title, _ = _selected(read_tree(parser, unseen=WITH_NOSCRIPT), by_name=by_name, hidden=False)
        if again.length > max(ENOUGH, 1.5 * best.length) or best.length < NEARLY_NOTHING < again.length:
            best, title = again, its_title
    return best, title


def _selected(root: Node, *, by_name: bool, hidden: bool = True) -> tuple[Node, Node | None, int]:
    """The content, its title outside, and how much prose the whole page had."""
    measure(root)
    before = root.prose
    measure_again(prune(root, by_name=by_name, hidden=hidden))
    best = _called_content(root) or _chief(_perhaps_called_content(root), all_counts=not by_name)
    title = root.first("h1") if best is not root and best.first("h1") is None else None
    return best, title, before


def _is_documentation(parser: LexborHTMLParser) -> bool:
    """Whether a documentation generator wrote it: there, names of classes say nothing against content."""
    for tag in parser.css("meta[name=generator], meta[name=Generator]"):
        if _GENERATORS.search(tag.attributes.get("content") or ""):
            return True
    return parser.css_first(_OF_DOCUMENTATION) is not None


def _called_content(root: Node) -> Node | None:
    """The smallest element that is called the content and holds most of the page."""
    found: Node | None = None
    for node in root.walk():
        if not _is_called_content(node) or not _holds_most(node, root) or _is_one_of_many(node):
            continue
        if node.length and (found is None or node.length <= found.length):
            found = node
    return found


def _perhaps_called_content(root: Node) -> Node:
    """The outermost element of a name that many pages give to their content, and some to other things; else the page.
    It must hold most of the page, and nothing that is headed or said may stand beside it."""
    for node in root.walk():
        if node.tag not in ("div", "section", "td") or not _PERHAPS.search(f"{node.classes} {node.get('id')}"):
            continue
        if _holds_most(node, root):
            return root if any(_is_headed(each) or _is_prose(each) or _says(each) for each in _beside(node)) else node
    return root


def _beside(node: Node) -> Iterator[Node]:
    """What stands beside an element, and beside those that it lies in."""
    while node.parent is not None:
        yield from (each for each in node.parent.elements() if each is not node)
        node = node.parent


def _holds_most(node: Node, root: Node) -> bool:
    """Whether it has most of the prose and a share of all text. Long menus do not count as text: a share of what is not
    a link is enough."""
    if node.prose < MAIN_SHARE * root.prose:
        return False
    unlinked = root.length - root.linked
    of_unlinked = unlinked >= NEARLY_NOTHING and node.length - node.linked >= TEXT_SHARE * unlinked
    return of_unlinked or node.length >= TEXT_SHARE * root.length


def _is_one_of_many(node: Node) -> bool:
    """An article beside another with a heading: each describes one function of a module, say, and none is the page."""
    if node.tag != "article" or node.parent is None:
        return False
    others = (each for each in node.parent.elements() if each is not node and each.tag == "article")
    return any(_is_headed(each) and not _is_teaser(each) for each in others)


def _is_teaser(node: Node) -> bool:
    """Of another page: its heading leads there."""
    heading = node.first(*HEADINGS)
    link = heading.first("a") if heading is not None else None
    if heading is None or link is None or (link.get("href") or "#").startswith("#"):
        return False
    return 2 * heading.linked >= heading.length


def _is_called_content(node: Node) -> bool:
    if node.tag in ("main", "article"):
        return True
    if not node.attributes:
        return False
    if node.attributes.get("role") == "main" or node.attributes.get("itemprop") == "articleBody":
        return True
    name = f"{node.classes} {node.get('id')}"
    return len(name) > 1 and _CALLED_CONTENT.search(name) is not None


def _chief(root: Node, *, all_counts: bool) -> Node:
    """Down from the body as long as one element holds nearly everything, and no heading stands beside it. `all_counts`:
    no prose either, as in documentation, where an introduction may stand beside what it introduces."""
    node = root
    while True:
        inner = list(node.elements())
        chief = max(inner, key=lambda child: (child.prose, child.length), default=None)
        if chief is None or chief.prose < CHIEF_SHARE * root.prose:
            return node
        cell = _cell_beside_menu(chief, root)
        if chief.tag in LEAVES and cell is None:
            return node
        beside = [child for child in inner if child is not chief]
        if chief.length < CHIEF_SHARE * node.length or any(map(_is_headed, beside)):
            return node
        if all_counts and any(map(_is_prose, beside)):
            return node
        node = cell or chief


def _cell_beside_menu(table: Node, root: Node) -> Node | None:
    """The cell that holds the page where a table of one row sets it beside a menu, as pages of old did."""
    rows = rows_of(table) if table.tag == "table" else []
    if len(rows) != 1:
        return None
    cell = max(rows[0], key=lambda each: each.prose)
    others = [each for each in rows[0] if each is not cell]
    is_page = cell.prose >= CHIEF_SHARE * root.prose and cell.first("h1", "h2") is not None
    is_beside_menu = all(each.linked >= MERE_LINK * each.length and not _says(each) for each in others)
    return cell if is_page and is_beside_menu else None


def _says(node: Node) -> bool:
    """Whether any paragraph in it says something, among however many links."""
    return any(each.tag == "p" and each.prose >= NEARLY_NOTHING for each in node.walk())


def _is_prose(node: Node) -> bool:
    """Whether it holds a paragraph that says something, or a table of facts, as Haddock puts over a module."""
    if node.linked >= 0.3 * node.length:
        return False
    return any(each.prose >= NEARLY_NOTHING if each.tag == "p" else _has_facts(each) for each in node.walk())


def _has_facts(table: Node) -> bool:
    """Whether at least two of its rows are a heading cell and its value; a menu written as a table has no such rows."""
    if table.tag != "table":
        return False
    rows = (row for part in (table, *table.elements()) for row in part.elements() if row.tag == "tr")
    return sum({cell.tag for cell in row.elements()} == {"th", "td"} for row in rows) > 1


def _is_headed(node: Node) -> bool:
    """Whether it is or holds a heading that is not a mere link."""
    headings = [each for each in node.walk() if each.tag in HEADINGS and each.linked < MERE_LINK * each.length]
    if not headings:
        return False
    if node.tag in HEADINGS or sum(each.length for each in node.walk() if each.tag in HEADINGS) == node.length:
        return True
    return node.prose > 0 and node.linked < 0.3 * node.length
