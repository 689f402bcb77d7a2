"""What of a page is not its content: menus, banners, line numbers, buttons. Known by what elements say they are.

Names alone mislead: a highlighted comment has the class "comment", a heading may have the id "nav-bar", and a list of
links may be the whole point of a page. So nothing is taken out of code, headings or cells for its name, and what has a
suspicious name goes only where it is mostly links, or short. Nothing goes only because it is full of links.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from holdfast.recipes.site.markdown.tree import CODE_BLOCKS, HEADINGS, Node

ROLES = frozenset(
    (
        *("navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "menu", "menubar"),
        *("toolbar", "tablist", "alert", "tooltip"),
    )
)
WEAK_ROLES = frozenset({"complementary", "banner"})
KEPT_TAGS = frozenset(HEADINGS) | frozenset(
    (
        *("body", "main", "article", "pre", "code", "td", "th", "tr", "tbody", "dt", "dd", "dl", "span", "a", "em"),
        *("strong", "b", "i", "p", "li", "blockquote", "figure"),
    )
)
OPAQUE = CODE_BLOCKS | {"code"}
SMALL_SHARE = 0.35  # of a page's prose: what holds more is not boilerplate, whatever it is called
MENU_LINKED = 0.6  # what has a suspicious name and more links than that goes, however large it is
PAGER_MAX = 600  # characters
PICTURES_MAX = 50  # elements of a pager without text that are looked at
WORDS_MAX = 20  # characters of a link that only shows or hides
FOOTER_MAX = 1_000
KNOWN_LENGTH = 100  # characters of classes whose meaning is kept
ASIDE_MAX = 400  # characters of prose that a suspicious name costs at most within an article

_END = r"(?=$|[\s_-])"
_CERTAIN = re.compile(
    r"(?:^|\s)(?:sr-only|visually-hidden|visuallyhidden|screen-reader-text|mw-editsection|linenos|linenodiv|"
    r"line-numbers-wrapper|line-numbers-rows|linenumber|linenumbers|react-syntax-highlighter-line-number|gutter|"
    r"rouge-gutter|lineno|line-number|lnt|listing_lines|hljs-ln-numbers|copybtn|noprint|navheader|navfooter|"
    r"md-source-file|prev-next-area|prev-next-bottom|nav-wrapper|nav-wide-wrapper|sphinxsidebar\S*|copy-path|"
    r"test-arrow|src-link|srclink|skip-link|skip-to-content|edit-this-page|theme-doc-toc-\S*|table-of-contents__\S*|"
    r"theme-doc-breadcrumbs|theme-doc-footer|hideme|pagination-nav|docnav|rst-footer-buttons|headerlink|clipboard-copy|"
    r"topNav|bottomNav|subNav|navList|subNavList)(?=$|\s)",
    re.IGNORECASE,
)
_LINE_NUMBERS = re.compile(
    r"(?:^|\s)(?:linenos|linenodiv|linenumbers?|line-numbers?|rouge-gutter|lineno|lnt|listing_lines|hljs-ln-numbers)(?=$|\s)"
)
_SUSPICIOUS = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|navpath|menu|sidebar|sidenav|side-?bar|breadcrumbs?|footer|cookies?|consent|"
    r"gdpr|newsletter|subscribe|signup|sign-up|share|sharing|social|recommend(?:ed|ations?)?|promo|"
    r"advert(?:isement)?|ads|adsbygoogle|sponsor(?:ed)?|banner|popup|modal|overlay|pagination|pager|"
    r"prev-?next(?:-area)?|page-?nav|skip-?(?:link|nav|to)|toc|table-of-contents|tocwrapper|toolbar|comment-list|"
    r"disqus|respond|author-?(?:box|bio)|tag-list|post-meta|entry-meta|widget|login|search(?:box|bar|form)|"
    r"editsection|feedback|edit-page|edit-this|carousel|slider|trending|popular|most-read|outbrain|taboola|"
    r"back-?to-?top|lang(?:uage)?-(?:switch|select)\w*|announcement|navbox|catlinks|md-sidebar|md-footer|md-header|"
    r"bd-sidebar\S*|bd-toc|menu-bar|copy-?(?:btn|button)|dynheader)" + _END,
    re.IGNORECASE,
)
_PERMALINK = re.compile(
    r"(?:^|\s)(?:headerlink|header-anchor|anchor-link|hash-link|anchorjs-link|permalink|anchor|self-link|doc-anchor)"
    r"(?=$|\s)"
)
_BY_SPHINX = re.compile(r"(?:created|built|made|generated)\s+(?:using|with|by)\s+sphinx\b", re.IGNORECASE)
_BY_ASCIIDOC = re.compile(r"\s*(?:version \S+?\s*)?last updated\s+\d{4}-\d\d-\d\d\b", re.IGNORECASE)
_NOT_SHOWN = re.compile(r"display\s*:\s*none")
_PAGER = re.compile(r"[\W_]*(?:next|previous|prev|up|home|contents|table of contents|index|top)\b", re.IGNORECASE)
_PAGER_WORD = re.compile(
    r"\b(?:next|previous|prev|up|home|contents|toc|index|top|start)(?=\s*(?:[\W_]|$)(?!\w))", re.IGNORECASE
)
_TO_SHOW = re.compile(r"\[?(?:show|hide|expand|collapse|toggle)(?: (?:all|source|details))?]?", re.IGNORECASE)
_NUMBERS = re.compile(r"\s*[0-9]{1,9}(?:\s+[0-9]{1,9})*\s*")
_TAIL = re.compile(
    r"\W*(?:related|read (?:more|next)|you (?:may|might) also|more (?:from|in|stories|articles|posts|on)|recommended|"
    r"share (?:this|on)|leave a (?:reply|comment)|subscribe|sign up|newsletter|popular (?:posts|articles)|"
    r"latest (?:news|posts|articles)|trending|recent (?:posts|articles)|follow us|people also|"
    r"similar (?:items|products)|(?:you )?recently viewed)",
    re.IGNORECASE,
)


def is_certain(node: Node) -> bool:
    """Whether its class says that it is not content, wherever it stands: line numbers, copy buttons, self-links."""
    classes = node.classes
    if not classes:
        return False
    return _is_certain(classes) if len(classes) <= KNOWN_LENGTH else _CERTAIN.search(classes) is not None


@lru_cache(maxsize=2_000)
def _is_certain(classes: str) -> bool:
    """Pages have few classes, and thousands of elements of each."""
    return _CERTAIN.search(classes) is not None


def is_permalink(node: Node) -> bool:
    """A link of one sign behind a heading, to that very heading; or a picture of one, and what is around it."""
    if node.tag == "a":
        return node.length <= 2 and _PERMALINK.search(node.classes) is not None
    return node.tag == "span" and not node.length and "permalink" in node.classes.split()


def is_for_scripts(node: Node) -> bool:
    """A sign to be clicked, such as `[-]`, or a word, such as `collapse`: it leads nowhere and says nothing."""
    href = node.get("href")
    if href.startswith("javascript:") and node.length <= 3:
        return not any(map(str.isalnum, node.text()))
    leads_nowhere = href == "#" or href.startswith("javascript:")
    return leads_nowhere and node.length <= WORDS_MAX and _TO_SHOW.fullmatch(node.text().strip()) is not None


def is_to_edit(node: Node) -> bool:
    """A link to where a page, or the code it describes, is edited."""
    return "/edit/" in node.get("href") and node.text().strip().lower() in ("edit", "edit this page")


def is_hidden(node: Node) -> bool:
    """Not shown; panels of tabs are shown when somebody chooses them, and count."""
    attributes = node.attributes
    if not attributes or attributes.get("role") == "tabpanel" or "tab" in (attributes.get("class") or ""):
        return False
    if "hidden" in attributes and attributes.get("hidden") != "until-found":
        return True
    style = attributes.get("style") or ""
    return "none" in style and _NOT_SHOWN.search(style) is not None


def prune(root: Node, *, by_name: bool = True, hidden: bool = True) -> list[Node]:
    """Take out what is not content; the elements that it was taken out of. `by_name`: also what only has a suspicious
    name. Lengths must be filled in."""
    limit = SMALL_SHARE * root.prose
    waiting, changed = [(root, False)], []
    while waiting:
        parent, inside = waiting.pop()
        kept: list[Node | str] = []
        for child in parent.children:
            if isinstance(child, str):
                kept.append(child)
                continue
            if _goes(child, limit, inside=inside, by_name=by_name, hidden=hidden):
                title = _title_of(child, parent) if child.tag == "header" else None
                if title is not None:
                    kept.append(title)
                continue
            kept.append(child)
            if child.tag not in OPAQUE and "fragment" not in child.classes:
                waiting.append((child, inside or child.tag in ("article", "main") or child.get("role") == "main"))
        if kept != parent.children:
            parent.children = kept
            changed.append(parent)
    return changed


def _goes(node: Node, limit: float, *, inside: bool, by_name: bool, hidden: bool) -> bool:
    """Whether an element is taken out. `inside`: it lies in what the page itself calls its content."""
    tag, is_small = node.tag, node.prose < limit
    if tag == "nav" or (not inside and (_is_footer_of_sphinx(node) or _is_footer_of_asciidoc(node))):
        return True
    if node.attributes:
        role = node.attributes.get("role")
        if role in ROLES and (is_small or role not in WEAK_ROLES) and tag not in KEPT_TAGS:
            return True
        if hidden and is_hidden(node):
            return True
        is_unread = node.attributes.get("aria-hidden") == "true" and tag not in OPAQUE
        if is_unread and tag not in ("table", "main", "article") and node.length < 200:
            return True
        if tag == "a" and (is_for_scripts(node) or is_to_edit(node)):
            return True
        if is_permalink(node) or (is_small and tag not in HEADINGS and is_certain(node)):
            return True
        if tag in ("td", "div") and _LINE_NUMBERS.search(node.classes):
            return True
        is_menu = is_small or node.linked > MENU_LINKED * node.length
        if by_name and is_menu and tag not in KEPT_TAGS and _has_bad_name(node, inside=inside):
            return True
    if tag in ("div", "table", "p", "center") and _is_pager(node):
        return True
    if tag == "td" and _is_line_numbers(node):
        return True
    if tag == "footer":
        return is_small
    if tag == "aside":
        belongs = inside or not by_name  # odoc writes what it says of several functions aside
        return is_small and not _is_note(node) and not (belongs and node.linked < 0.3 * node.length)
    if tag != "header" or not is_small or inside or _is_head_of_section(node):
        return False
    return node.first("h1") is None or node.linked > 0.3 * node.length


def _is_footer_of_sphinx(node: Node) -> bool:
    """`Created using Sphinx 7.2`: on a page of a search form or an index it may be most of the prose."""
    is_footer = node.tag == "footer" or (node.tag == "div" and "footer" in node.classes.split())
    return is_footer and node.length <= FOOTER_MAX and _BY_SPHINX.search(node.text()) is not None


def _is_footer_of_asciidoc(node: Node) -> bool:
    """`Last updated 2024-05-31`, perhaps behind the version of what is described."""
    return node.get("id") == "footer" and node.length <= FOOTER_MAX and _BY_ASCIIDOC.match(node.text()) is not None


def _is_note(node: Node) -> bool:
    """A footnote stands beside the text and belongs to it."""
    return "footnote" in node.classes or node.get("role") in ("note", "doc-footnote", "doc-endnotes")


def _has_bad_name(node: Node, *, inside: bool) -> bool:
    """Within the content a suspicious name needs links, or little text, to be believed."""
    name = node.classes
    if node.tag != "section" and not any(child.tag in HEADINGS for child in node.elements()):
        name += " " + node.get("id")
    if _SUSPICIOUS.search(name) is None:
        return False
    return not inside or node.linked > 0.5 * node.length or node.length <= ASIDE_MAX


def _is_head_of_section(header: Node) -> bool:
    """Whether it heads one section, not the page: it has a heading, and besides headings no more than a few links."""
    if header.parent is None or header.parent.tag != "section" or header.first(*HEADINGS) is None:
        return False
    headings = sum(child.length for child in header.elements() if child.tag in HEADINGS)
    return headings == header.length or header.linked <= 0.3 * header.length


def _is_line_numbers(cell: Node) -> bool:
    """A cell of nothing but the numbers of the lines of code beside it, in a row of their own."""
    row = cell.parent
    if row is None or row.parent is None or len(list(islice(row.parent.elements(), 2))) > 1:
        return False
    cells = list(islice(row.elements(), 3))
    if len(cells) != 2 or cells[0] is not cell or cell.first("pre") is None:
        return False
    code = cells[1].first("pre")
    if code is None or _NUMBERS.fullmatch(cell.text()) is None:
        return False
    said = [int(number) for number in cell.text().split()]
    lines = code.text().strip("\n").count("\n") + 1
    is_in_step = len(said) <= lines <= len(said) + 2  # a line above may say which file it is
    return is_in_step and said == list(range(said[0], said[0] + len(said)))


def _is_pager(node: Node) -> bool:
    """A line of links to the pages before and behind: it says at least two of those words."""
    if not node.length:
        return _is_pager_of_pictures(node)
    if not node.linked or node.length >= PAGER_MAX or node.linked < 0.4 * node.length:
        return False
    text = node.text().strip()
    said = [link.get("rel") for link in node.walk() if link.tag == "a"]
    return (
        _PAGER.match(text) is not None and len(_PAGER_WORD.findall(text)) + len(_PAGER_WORD.findall(" ".join(said))) > 1
    )


def _is_pager_of_pictures(node: Node) -> bool:
    """The same as pictures to be clicked, most of which say one of those words."""
    said = [each.get("alt").strip() for each in islice(node.walk(), PICTURES_MAX) if each.tag == "img"]
    words = sum(_PAGER_WORD.fullmatch(word) is not None for word in said)
    return words > 1 and 2 * words > len(said)


def _title_of(header: Node, parent: Node) -> Node | None:
    title = header.first("h1")
    if title is not None:
        title.parent = parent
    return title


def drop_tails(root: Node) -> None:
    """Take out sections headed "Related articles" and the like, where they are links."""
    limit = 0.25 * root.prose
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        kept: list[Node | str] = []
        for child in parent.children:
            if isinstance(child, Node) and child.tag in ("div", "section", "aside") and _is_tail(child, limit):
                continue
            kept.append(child)
            if isinstance(child, Node) and child.tag not in OPAQUE:
                waiting.append(child)
        parent.children = kept


def _is_tail(node: Node, limit: float) -> bool:
    if node.prose >= limit or node.linked <= 0.5 * node.length:
        return False
    heading = next(node.elements(), None)
    while heading is not None and heading.tag in ("div", "header"):
        heading = next(heading.elements(), None)
    return heading is not None and heading.tag in HEADINGS and _TAIL.match(heading.text().strip()) is not None
