"""Names of HTML elements, by the rules of the standard that they share."""

from __future__ import annotations

FORMATTING = frozenset(
    ("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
)
VOID = frozenset(
    (
        *("area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img", "input"),
        *("keygen", "link", "meta", "param", "source", "track", "wbr"),
    )
)
ONCE = frozenset(("html", "body", "head"))  # of these there is one in the end
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
BLOCKS = HEADINGS | frozenset(
    (
        *("address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset"),
        *("figcaption", "figure", "footer", "header", "hgroup", "listing", "main", "menu", "nav", "ol", "pre"),
        *("search", "section", "summary", "ul", "p", "li", "dd", "dt"),
    )
)
CLOSES_P = BLOCKS | {"form", "hr", "plaintext", "xmp"}
SECTIONS = frozenset(("tbody", "thead", "tfoot"))
CELLS = frozenset(("td", "th", "caption"))
PARTS = SECTIONS | CELLS | {"tr", "colgroup", "col"}
MARKED = CELLS | {"applet", "object", "marquee", "template"}  # formatting begins anew in these, and ends with them
SCOPES = MARKED | {"table", "select", "svg", "math"}  # no end tag reaches out of these, but for their own
FRAMED = SCOPES | {"button"}
SPECIAL = BLOCKS | PARTS | FRAMED | {"form", "noscript", "plaintext", "frameset", "iframe", "tr"}
FOREIGN = frozenset(("svg", "math"))
LEAVES_FOREIGN = frozenset(("ruby", "span", "sub", "sup", "var"))  # as most of the others do
LISTED = {"li": frozenset(("li",)), "dd": frozenset(("dd", "dt")), "dt": frozenset(("dd", "dt"))}
OPTIONS = frozenset(("option", "optgroup"))
RUBY = frozenset(("rb", "rp", "rt", "rtc"))
IMPLIED = RUBY | {"p", "li", "dd", "dt", "option", "optgroup"}  # these need no end tag
PASSED_BY_ITEMS = frozenset(("address", "div", "p"))
RULED = (
    FORMATTING | VOID | ONCE | BLOCKS | PARTS | FRAMED | RUBY
    | {"form", "frameset", "option", "optgroup", "plaintext"}
)  # fmt: skip
PLAIN = BLOCKS - HEADINGS - {"p", "li", "dd", "dt"}  # opened without more ado where nothing is loose or strange
FLAT = VOID - {"col", "input", "keygen", "hr"}  # and these lie in nothing and close nothing
SINGLE = frozenset(("a", "nobr"))  # one closes the one before
STRANGE = 1_000_000
SAME_MAX = 3  # of formatting elements with the same attributes, so many are opened again
FORMS_LOOP = 8  # times that a formatting element is cloned by one end tag
WEIGHED = 16  # characters of attributes that weigh as much as an element
