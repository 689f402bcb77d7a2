# ruff: noqa: E501 - pages, each on a line
"""Markdown of pages as generators write them: what a reader of the page would see, and nothing that only frames it."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from holdfast.model.derived import CUT, EMPTY, TOO_HEAVY, TOO_LONG
from holdfast.recipes.site import derive as derive_module
from holdfast.recipes.site.derive import derive
from holdfast.recipes.site.markdown import content_of

URL = "https://frogs.example/guide/pond/page.html"
HTML = "text/html; charset=utf-8"
# Javadoc's table: CSS makes rows of it.
GRID = (
    '<div class="summary-table two-column-summary"><div class="table-header col-first">Method</div>'
    '<div class="table-header col-last">Description</div><div class=col-first><code>hop()</code></div>'
    "<div class=col-last><div class=block>Hops.</div></div><div class=col-first><code>croak()</code></div>"
    "<div class=col-last><div class=block>Croaks.</div></div></div>"
)


def markdown(body: str) -> str:
    return content_of(LexborHTMLParser(f"<html><body><main>{body}</main></body></html>"), URL).markdown


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<h1>Frogs<a class=headerlink href='#frogs'>¶</a></h1>", "# Frogs\n"),
        ("<h2 id=nav-bar>Nav</h2><p>x</p>", "## Nav\n\nx\n"),
        ("<p>a <b>b</b> <i>c</i> <del>d</del>", "a **b** *c* ~~d~~\n"),
        ('<p>foo<b>"bar"</b>baz', 'foo"bar"baz\n'),  # marks that Markdown would show
        ("<p><b>a</b><b>b</b>", "**ab**\n"),
        ("<p>2<sup>10</sup>", "2<sup>10</sup>\n"),
        ("<p>f(<code>x</code>) and <kbd>a`b</kbd>", "f(`x`) and ``a`b``\n"),
        ("<p>vector&lt;string&gt; *x* snake_case _y_ [z] a\\b &amp;lt;", r"vector\<string> \*x\* snake_case \_y\_ \[z\] a\\b \&lt;" + "\n"),
        ("<p>std::initializer_list&lt;<span>T</span>&gt;, 1 &lt; <i>n</i>", r"std::initializer_list\<T>, 1 < *n*" + "\n"),  # not an element
        ("<p># no heading</p><p>- no item</p><p>1. no item</p><p>&gt; no", "\\# no heading\n\n\\- no item\n\n1\\. no item\n\n\\> no\n"),
        ("<p><a href='../x(1.html'>x</a> <a href='#here'>here</a> <a href='javascript:f()'>js</a>", "[x](https://frogs.example/guide/x%281.html) here js\n"),
        ("<p><code>List&lt;<a href=/T>T</a>&gt;</code>", "`List<`[`T`](https://frogs.example/T)`>`\n"),
        ("<p><img src=a.png alt='a frog'><img src='data:x' alt=''>", "![a frog](https://frogs.example/guide/pond/a.png)\n"),
        ("<p>one<br>two", "one  \ntwo\n"),
        ("<hr><p>x</p><hr><p>y</p><hr>", "x\n\n---\n\ny\n"),  # a rule at an end parts nothing
        ("<ul><li>a<ul><li>b<ol start=3><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    3. c\n- d\n"),
        ("<ul><li><p>a</p><p>b</p><li>c</ul>", "- a\n\n  b\n\n- c\n"),
        ("<ul><li><input type=checkbox checked>done<li><input type=checkbox>open</ul>", "- [x] done\n- [ ] open\n"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b\n"),
        ("<dl><dt>term<dd>what it is</dl>", "**term**\n\nwhat it is\n"),
        ("<dl><dt><b>width</b><span class=classifier>int</span><dd>Of a pond.</dl>", "**width : int**\n\nOf a pond.\n"),  # by CSS
        ("<dl><dt>width <span class=classifier-delimiter>:</span> <span class=classifier>int</span><dd>x</dl>", "**width : int**\n\nx\n"),
        ("<details><summary>More</summary><p>x</details>", "**More**\n\nx\n"),
        ("<a href=/card><h3>Card</h3><p>text</p></a>", "### [Card](https://frogs.example/card)\n\ntext\n"),
        ("<table><tr><th>a<th>b<tr><td rowspan=2>1<td>x|y<tr><td>2<br>3</table>", "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n|  | 2<br>3 |\n"),
        ("<p>A <span class=code>x</span> and <span class=tt>-</span>, no <span class=codes>y</span>", "A `x` and `-`, no y\n"),  # Erlang, Doxygen
        ("<p>1.0 <a href='javascript:void(0)'>[<span>−</span>]</a></p><details open><summary class=hideme>Expand description</summary><p>x</details>", "1.0\n\nx\n"),  # rustdoc
        ("<h2>Methods<small><a href='#' class=x>collapse</a></small></h2><p>Frogs <a href='#'>here</a> <a href='#all'>show</a>", "## Methods\n\nFrogs here show\n"),  # YARD
        ("<h3>hop</h3><span class=permalink><a href=/i#hop title=Permalink><img src=p.png alt=Permalink></a></span><p>x", "### hop\n\nx\n"),  # scaladoc
        ("<p>hop(far) <a href='https://g.example/ponds/edit/devel/frog.nim#L6'>Edit</a> <a href=/how/edit/a>Edit a frog</a>", "hop(far) [Edit a frog](https://frogs.example/how/edit/a)\n"),  # Nim
        ("<div><a href=p><img src=p.png alt=Prev></a><a href=u><img src=u.png alt=Up></a></div><p>x<div><a href=q><img src=q.png alt=Pond></a><a href=u><img src=u.png alt=Up></a></div>", "x\n\n[![Pond](https://frogs.example/guide/pond/q.png)](https://frogs.example/guide/pond/q)[![Up](https://frogs.example/guide/pond/u.png)](https://frogs.example/guide/pond/u)\n"),  # Boost
        ("<ul class=blockList><table><tr><th>a<th>b<tr><td>1<td>2</table></ul>", "- | a | b |\n  | --- | --- |\n  | 1 | 2 |\n"),  # javadoc 8, groovydoc
        ("<div class=topNav><ul class=navList><li><a href=/>Overview</a><li>Class</ul></div><p>A frog of the pond, green and slow.", "A frog of the pond, green and slow.\n"),
        (GRID, "| Method | Description |\n| --- | --- |\n| `hop()` | Hops. |\n| `croak()` | Croaks. |\n"),
        (GRID.replace("Croaks.", "<pre>brek</pre>"), "Method\n\nDescription\n\n`hop()`\n\nHops.\n\n`croak()`\n\n```\nbrek\n```\n"),
        ("<table role=presentation><tr><td><p>a</p><td><p>b</p></table>", "a\n\nb\n"),
        ("<div class='admonition note'><p class=admonition-title>Note</p><p>x</p></div>", "**Note**\n\nx\n"),
    ],
)  # fmt: skip
def test_what_is_written(html: str, written: str) -> None:
    assert markdown(html) == written


@pytest.mark.parametrize(
    ("html", "fence", "code"),
    [
        ("<div class='highlight-python3 notranslate'><div class=highlight><pre>a = 1\n  b\n</pre></div></div>", "```python3", "a = 1\n  b"),
        ("<pre><code class='language-rust'>fn f() {}\n</code></pre>", "```rust", "fn f() {}"),
        ("<pre><pre class=playground><code class='language-rust ignore'>x</code></pre></pre>", "```rust", "x"),
        ("<div class='language-js'><button>Copy</button><pre><code><span class=token-line>a<br></span><span class=token-line>b<br></span></code></pre></div>", "```js", "a\nb"),
        ("<div class='fragment'><div class='line'>int a;</div>\n<div class='line'>int b;</div>\n</div>", "```", "int a;\nint b;"),
        ("<table class='highlighttable'><tr><td class='linenos'><pre>1\n2</pre><td class=code><div class='highlight'><pre>a\nb</pre></div></table>", "```", "a\nb"),
        ("<table><tr><td><pre class=lines>\n\n7\n8</pre></td><td><pre class=code># File frog.rb, line 7\n\na\nb</pre></td></tr></table>", "```", "# File frog.rb, line 7\n\na\nb"),
        ("<pre data-lang=yaml>a: 1</pre>", "```yaml", "a: 1"),
        ("<pre class='programlisting'><a href=x>f</a>(<span class=comment>/* x */</span>)</pre>", "```", "f(/* x */)"),
        ("<pre>a\n```\nb</pre>", "````", "a\n```\nb"),
    ],
)  # fmt: skip
def test_code_is_whole_in_its_fence_with_its_language(html: str, fence: str, code: str) -> None:
    """SIT-11: and links, line numbers and buttons are no part of it."""
    closing = fence.rstrip("abcdefghijklmnopqrstuvwxyz0123456789")
    assert markdown(f"<h1>x</h1>{html}") == f"# x\n\n{fence}\n{code}\n{closing}\n"


SHAPES = {
    "sphinx": """<head><meta name=generator content="Docutils"></head><body><div class=related role=navigation><a href=/>index</a></div>
<div class=sphinxsidebar><a href=x>next</a></div><div class=body role=main><section id=nav-x>{content}</section></div><div class=footer>made by</div>""",
    "docusaurus": """<body><nav class=navbar>menu</nav><main><div class=theme-doc-breadcrumbs>home</div><article>
<div class="theme-doc-markdown markdown">{content}</div><footer class=theme-doc-footer>edit made by</footer></article>
<nav class=pagination-nav>next</nav></main><footer>made by</footer>""",
    "docbook": """<body><div class=navheader><table><tr><td><a href=p>Prev</a><td><a href=n>Next</a></table></div>
<div class=chapter>{content}</div><div class=navfooter><a href=n>Next</a> made by</div>""",
    "texinfo": """<head><meta name=Generator content="makeinfo"></head><body><div class=header><p>Next: <a href=n>Newts</a>,
Up: <a href=u>Top</a> &nbsp; [<a href=i rel=index>Index</a>]</p></div><hr>{content}""",
    "old school": """<body><center><a href=/>Home</a> | <a href=n>Next</a> | <a href=p>Prev</a></center>
<table width=100%><tr><td>{content}</td></tr></table>""",
    "noscript": """<body><div id=app></div><noscript><p>{content}</p></noscript>""",
}
CONTENT = """<h1>Frogs</h1><p>Frogs live in ponds, and in wet grass beside them, all over the world but for the poles.</p>
<h2>Kinds</h2><ul><li><a href=tree.html>Tree frogs</a><li><a href=bull.html>Bull frogs</a><li><a href=toad.html>Toads</a></ul>
<h3>In numbers</h3><table><tr><th>kind<th>weight<tr><td>tree<td>10 g<tr><td>bull<td>500 g</table>
<p>Count them with a program, at night, when they sing; it is said that they prefer to be counted in pairs:</p>
<pre class="highlight python">for frog in pond:
    count += 1</pre>"""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_content_is_whole_and_its_frame_is_gone(shape: str) -> None:
    """The judge of the bars, small: code, headings, rows, links, items and words of pages in several shapes."""
    page = f"<!doctype html><html>{SHAPES[shape].format(content=CONTENT)}</html>"
    derived = derive(page.encode(), URL, HTML)
    assert derived.markdown is not None
    tokens = MarkdownIt("commonmark").enable("table").parse(derived.markdown)
    inline = [token for token in tokens if token.type == "inline"]
    heads = [(token.tag, inner.content) for token, inner in pairwise(tokens) if token.type == "heading_open"]
    assert heads == [("h1", "Frogs"), ("h2", "Kinds"), ("h3", "In numbers")]
    assert [(token.info, token.content) for token in tokens if token.type == "fence"] == [
        ("python", "for frog in pond:\n    count += 1\n")
    ]
    assert sum(token.type == "tr_open" for token in tokens) == 3
    assert sum(token.type == "list_item_open" for token in tokens) == 3
    links = [child.attrGet("href") for token in inline for child in token.children or [] if child.type == "link_open"]
    assert links == [f"https://frogs.example/guide/pond/{name}.html" for name in ("tree", "bull", "toad")]
    text = derived.text or ""
    assert "in pairs:" in text
    assert not any(word in text for word in ("made by", "menu", "Next", "index", "Prev"))


@pytest.mark.parametrize(
    "footer",
    [
        "<div class=footer>&copy; Copyright 2023, the frogs. Created using <a href=s>Sphinx</a> 5.3.0.</div>",
        "<footer><p>&copy; Copyright 2023, the frogs of the pond.</p>Built with <a href=s>Sphinx</a> using a theme.</footer>",
    ],
)
def test_the_footer_of_sphinx_is_left_out_of_a_page_without_much_else(footer: str) -> None:
    head = "<!doctype html><html><head><meta name=generator content=Docutils></head>"
    page = f"{head}<body><div class=body><h1>Search</h1><p>Type words.</p></div>{footer}</body></html>"
    assert derive(page.encode(), URL, HTML).markdown == "# Search\n\nType words.\n"


def test_a_footnote_belongs_to_the_text_and_what_stands_aside_does_not() -> None:
    notes = "<aside class='footnote-list'><aside class='footnote' role=note><a href='#id1'>1</a> <p>Toads.</p></aside></aside>"
    prose = f"<p>{'Frogs live in ponds and on meadows. ' * 20}</p>"
    page = f"<body><div>{prose}<aside class=promo><a href=/buy>Buy a frog</a></aside>{notes}</div>"
    written = content_of(LexborHTMLParser(page), URL).markdown
    assert "Toads." in written
    assert "Buy a frog" not in written


def test_an_introduction_beside_the_entries_belongs_to_them() -> None:
    """As Haddock writes it: the entries hold nearly everything, and no heading stands over what introduces them."""
    entries = "".join(f"<p>Entry {n} hops over the pond and says what it does there.</p>" for n in range(60))
    page = (
        "<div id=package-header><span class=caption>ponds-1.0: all that lives in ponds</span><a href=/i>Index</a></div>"
        "<div id=content><div id=description><p class=caption>Description</p><p>Frogs that are printed in a fine way, on paper of reeds.</p>"
        f"</div><div id=interface><h1>Frogs</h1>{entries}</div></div>"
    )
    written = content_of(LexborHTMLParser(f"<html><body>{page}</body></html>"), URL).markdown
    assert written.startswith(
        "Description\n\nFrogs that are printed in a fine way, on paper of reeds.\n\n# Frogs\n\nEntry 0"
    )


def test_each_function_of_a_module_has_an_article_and_all_are_the_page() -> None:
    """As Erlang's generator writes it: the longest of the articles holds most of the prose."""

    def article(name: str, sentences: int) -> str:
        return f"<article class=func><h3>{name}</h3><p>{'It hops over the pond. ' * sentences}</p></article>"

    page = f"<h1>frog</h1><h2>Exports</h2>{article('hop/1', 2)}{article('croak/1', 30)}{article('dive/2', 3)}"
    written = content_of(LexborHTMLParser(f"<html><body><div id=content>{page}</div></body></html>"), URL).markdown
    heads = [line for line in written.split("\n") if line.startswith("#")]
    assert heads == ["# frog", "## Exports", "### hop/1", "### croak/1", "### dive/2"]


def test_the_head_of_a_section_belongs_to_it() -> None:
    """As odoc writes it; the head of the page is another matter."""
    entry = "<dl><dt><code>val hop : pond -> unit</code><dd>It hops over the pond, once.</dl>" * 6
    head = "<header><h3>Hopping</h3><p>Of frogs, over ponds and reeds.</header><aside><p>Near the reeds</aside>"
    page = f"<div class=content><header><nav><a href=/>Up</a></nav><h1>Module Frog</h1></header><section>{head}{entry}</section><section>{entry * 4}</section></div>"
    meta = "<head><meta name=generator content='odoc 2.1'></head>"
    written = content_of(LexborHTMLParser(f"<html>{meta}<body>{page}</body></html>"), URL).markdown
    assert written.startswith(
        "# Module Frog\n\n### Hopping\n\nOf frogs, over ponds and reeds.\n\nNear the reeds\n\n**`val hop"
    )
    assert "Up" not in written


@pytest.mark.parametrize(
    "head",
    [
        "<h4>class Frog extends <a href=a>Amphibian</a> with <a href=l>Legs and lungs</a></h4>",  # scaladoc
        "<header><h4>Method</h4><h2><a href=p>Ponds and lakes</a>hop</h2></header>",  # gi-docgen
    ],
)
def test_a_heading_with_links_in_it_heads_what_stands_below(head: str) -> None:
    entries = "".join(f"<p>Entry {n} hops over the pond and says what it does there.</p>" for n in range(60))
    owner = "<p><a href=/o>All that lives in ponds</a></p>"
    page = f"<section><div>{owner}<h1>Frog</h1></div>{head}<div>{entries}</div></section>"
    written = content_of(LexborHTMLParser(f"<html><body>{page}</body></html>"), URL).markdown
    assert [line.partition(" ")[0] for line in written.split("\n") if line.startswith("#")] == [
        "#" * int(level) for level in re.findall(r"<h(\d)", page)
    ]
    assert "Entry 59" in written


def test_a_place_that_links_lead_to_is_no_link() -> None:
    """As Scribble and LaTeX2HTML write it: `a` without an address. A menu as long as the page does not outweigh it."""
    menu = "".join(f"<tr><td>{n}<td><a href=/{n}>A pond of frogs</a>" for n in range(40))
    text = "".join(f"<p><a name=p{n}>The frog of pond {n}, which hops, says so.</a></p>" for n in range(3))
    page = f"<html><body><div class=tocs><table>{menu}</table></div><div class=column><h3>24 Frogs</h3>{text}</div>"
    assert "### 24 Frogs\n\nThe frog of pond 0, which hops, says" in content_of(LexborHTMLParser(page), URL).markdown


def test_what_is_called_the_content_is_it_where_nothing_is_said_beside_it() -> None:
    """As Scribble writes it: menus of links beside the column of the text. Racket does not say that it made a page."""
    menu = "".join(f"<tr><td>{n}<td><a href=/{n}>A pond of frogs</a>" for n in range(40))
    text = "<h3>24 Frogs</h3>" + "<p>The frog hops over the pond and says what it does there.</p>" * 20
    page = f"<div class=tocs><table>{menu}</table></div><div class=column><div class=main>{text}</div></div>"
    assert content_of(LexborHTMLParser(page), URL).markdown.startswith("### 24 Frogs\n\nThe frog")
    said = f"<div><h3>Of ponds</h3><p>Ponds hold frogs, and what frogs live on.</p></div>{page}"
    assert content_of(LexborHTMLParser(said), URL).markdown.startswith("### Of ponds\n\nPonds hold")


def test_a_table_of_one_row_sets_a_menu_beside_the_page() -> None:
    menu = "".join(f"<li><a href=/{n}>A pond of frogs</a>" for n in range(40))
    text = "<h1>Frogs</h1>" + "<p>The frog hops over the pond and says what it does there.</p>" * 20
    page = f"<table><tr><td><ul>{menu}</ul></td><td></td><td>{text}</td></tr></table>"
    assert content_of(LexborHTMLParser(page), URL).markdown.startswith("# Frogs\n\nThe frog")
    said = page.replace("<ul>", "<p>These ponds are all that we know of in this land.<ul>")
    assert content_of(LexborHTMLParser(said), URL).markdown.startswith("These ponds are all")


def test_a_title_that_a_bar_repeats_is_written_once() -> None:
    """As Erlang's generator writes it."""
    text = "<p>The frog hops over the pond and says what it does there.</p>" * 20
    page = f"<div class=bar><h1>frog</h1></div><div><center><h1> frog </h1></center>{text}</div>"
    assert content_of(LexborHTMLParser(page), URL).markdown.startswith("# frog\n\nThe frog")
    apart = page.replace("</div><div>", "<p>Hops.</p></div><div>")
    assert content_of(LexborHTMLParser(apart), URL).markdown.startswith("# frog\n\nHops.\n\n# frog\n")


def test_teasers_of_other_pages_beside_an_article_are_left_out() -> None:
    story = "<article><h1>Frog</h1>" + "<p>It hops over the pond and says what it does there.</p>" * 12 + "</article>"
    teaser = "<article><h3><a href=/newt>Newt</a></h3><p>It swims in the pond, all day long, and so on.</p></article>"
    page = f"<html><body><main>{story}{teaser}{teaser}</main></body></html>"
    written = content_of(LexborHTMLParser(page), URL).markdown
    assert written.startswith("# Frog\n")
    assert "Newt" not in written


def test_of_two_posts_on_one_page_both_are_kept() -> None:
    post = "<article>" + "<p>It hops over the pond and says what it does there, post {0}.</p>" * 10 + "</article>"
    page = f"<html><body><main><h1>Frog</h1>{post.format(1)}{post.format('two')}</main></body></html>"
    written = content_of(LexborHTMLParser(page), URL).markdown
    assert "post 1" in written
    assert "post two" in written


def test_the_head_of_a_module_belongs_to_its_entries() -> None:
    """As Haddock writes it: the name and a table of facts, with neither a heading nor a sentence."""
    entries = "".join(f"<p>Entry {n} hops over the pond and says what it does there.</p>" for n in range(60))
    facts = "<tr><th>Safe Haskell<td>None<tr><th>Language<td>Haskell2010"
    page = (
        "<div id=package-header><span class=caption>ponds-1.0</span><a href=/i>Index</a></div><div id=content>"
        f"<div id=module-header><table class=info>{facts}</table><p class=caption>Data.Frog</p></div>"
        "<div id=synopsis><details><summary>Synopsis</summary><ul><li><a href=#f>frog</a> :: Pond</ul></details></div>"
        f"<div id=interface><h1>Documentation</h1>{entries}</div></div>"
    )
    written = content_of(LexborHTMLParser(f"<html><body>{page}</body></html>"), URL).markdown
    assert "| Safe Haskell | None |\n" in written
    assert written.index("Data.Frog") < written.index("Synopsis") < written.index("# Documentation")


def test_long_menus_do_not_hide_a_short_page() -> None:
    """As Node.js writes it: an index of 55 links stands twice before a page of two lines."""
    index = "".join(f"<li><a href=/{n}>A module about frogs, number {n}</a></li>" for n in range(55))
    prose = (
        "<h2>Policies</h2><p>The former documentation of policies is now with permissions of the pond, for good.</p>"
    )
    page = (
        f"<body class=apidoc><div id=content><div id=column2><ul>{index}</ul></div><div id=column1><header><h1>Frog</h1>"
        f"<ul><li><p>Other versions of this page of the manual, and its table of contents.</p><ul>{index}</ul></ul></header><div id=apicontent>{prose}</div></div></div>"
    )
    written = content_of(LexborHTMLParser(page), URL).markdown
    assert "The former documentation" in written
    assert "A module about frogs" not in written


def test_when_a_page_was_made_is_left_out() -> None:
    """As AsciiDoc writes it, after the content and not within it."""
    text = "<h1>Frogs</h1><div class=sect1><p>They hop, and swim.</p></div>"
    footer = "<div id=footer><div id=footer-text>Version 2.1<br>Last updated 2024-05-31 00:35:55 UTC</div></div>"
    page = f"<head><meta name=generator content='AsciiDoc 10.2.0'></head><body>{text}{footer}</body>"
    assert content_of(LexborHTMLParser(page), URL).markdown == "# Frogs\n\nThey hop, and swim.\n"


def test_boxes_of_a_book_are_no_menus() -> None:
    """As Publican writes it: `sidebar` is DocBook's word for a box, and only the links of `docnav` are a menu."""
    text = "".join(f"<p>Paragraph {n} tells of ponds, of reeds and of what lives between them.</p>" for n in range(20))
    menu = "<ul class='docnav'><li><a href=a.html><strong>Prev</strong></a></li><li>The Book of Ponds</li></ul>"
    box = "<div class=sidebar><p class=title>CULTURE Flamewar</p><p>A discussion that catches fire.</p></div>"
    head = '<head><meta name="generator" content="publican v4.3.2"></head>'
    page = f"<html>{head}<body>{menu}<div class=section><h2>Ponds</h2>{text}{box}</div>{menu}</body></html>"
    written = content_of(LexborHTMLParser(page), URL).markdown
    assert written.startswith("## Ponds\n\nParagraph 0")
    assert written.endswith("CULTURE Flamewar\n\nA discussion that catches fire.\n")


def test_a_page_of_links_keeps_its_links() -> None:
    items = "".join(f"<li><a href=/{n}>A chapter about frogs, number {n}</a></li>" for n in range(50))
    written = markdown(f"<h1>Contents</h1><div class=toc-page><ul>{items}</ul></div>")
    assert written.count("](https://frogs.example/") == 50


def test_metadata_is_what_a_page_says_of_itself() -> None:
    page = b"""<html lang=en_GB><head><title> Frogs
      and toads</title><meta name=description content="All about"><link rel=canonical href=/frogs>
      <meta property=og:site_name content=Pond><meta property=article:modified_time content=2026-01-31T10:00:00Z>
      <script type=application/ld+json>{"@graph":[{"@type":"WebSite"},{"@type":"Article","datePublished":"2025-12-24",
      "author":[{"name":"A. Newt"},{"name":"B. Eft"}]}]}</script><script type=application/ld+json>{broken</script></head><p>x"""
    told = derive(page, URL, HTML).metadata
    assert {name: told[name] for name in ("title", "description", "language", "canonical", "site_name")} == {
        "title": "Frogs and toads", "description": "All about", "language": "en-GB",
        "canonical": "https://frogs.example/frogs", "site_name": "Pond",
    }  # fmt: skip
    assert (told["published"], told["modified"], told["author"]) == (
        "2025-12-24",
        "2026-01-31T10:00:00Z",
        "A. Newt, B. Eft",
    )
    assert len(told["json_ld"]) == 2
    assert told["open_graph"] == {"site_name": "Pond"}


@pytest.mark.parametrize(
    ("page", "flags"),
    [
        (b"<div>" * 40_000 + b"frogs", (TOO_HEAVY,)),
        (b"<ul><li>" * 50_000 + b"frogs", (TOO_HEAVY,)),
        (b"<p>frogs</p>" + b" " * 5_100_000 + b"<p>toads</p>", (CUT,)),
        (b"<p>frogs" + b"<b>" * 100, ()),
        (b"<table>" + b"<tr><td rowspan=9999 colspan=9999>frogs<td>x" * 3_000, (TOO_LONG,)),
        (b"\xff\xfe\x00frogs<\x00>", ()),
        (b"<blockquote>" * 300 + b"frogs", ()),
        (b"<p>frogs<table><tr><td><pre>" + b"9" * 5_000 + b"</pre><td><pre>x</pre></table>", ()),  # no number of a line
    ],
)
def test_hostile_pages_give_text_or_say_why_not(page: bytes, flags: tuple[str, ...]) -> None:
    """SIT-11: a page whose text cannot be derived says so."""
    derived = derive(page, URL, HTML)
    assert derived.flags == flags
    assert flags == (CUT,) or derived == derive(page, URL, HTML), "the same bytes, the same answer"
    if b"\xff" not in page:
        assert "frogs" in (derived.text or "")
        assert "frogs" in (derived.markdown or "")
    assert "toads" not in (derived.text or "")


def test_text_that_is_no_html_keeps_its_lines() -> None:
    assert derive(b"a\n  b ```\n", URL, "text/plain").markdown == "````\na\n  b ```\n````\n"
    assert derive(b"# a\n", URL, "text/markdown").markdown == "# a\n"
    assert derive(b"{}", URL, "application/json").markdown == "```json\n{}\n```\n"
    assert derive(b"\x89PNG", URL, "image/png") == derive_module.Derived()


FRAMES = "<html><head><title>Pond</title></head><frameset><frame src=a>{}</frameset></html>"


@pytest.mark.parametrize(
    ("page", "markdown", "flags"),
    [
        (
            FRAMES.format("<noframes><h2>Frogs</h2><p><a href=b>All</a></noframes>"),
            "## Frogs\n\n[All](https://frogs.example/guide/pond/b)\n",
            (),
        ),
        ("<head><noframes>" + "<div>" * 40_000 + "frogs</noframes></head>", "frogs\n", (TOO_HEAVY,)),
        (FRAMES.format(""), "", (EMPTY,)),
        ("<body><script>make()</script>", "", (EMPTY,)),
    ],
)
def test_a_page_of_frames_is_what_it_says_without_them_and_one_without_a_word_says_so(
    page: str, markdown: str, flags: tuple[str, ...]
) -> None:
    derived = derive(page.encode(), URL, HTML)
    assert (derived.markdown, derived.flags) == (markdown, flags)
    assert ("frogs" in (derived.text or "").lower()) == bool(markdown)
