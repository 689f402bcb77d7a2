"""Blocks of code: their lines as they were written, without line numbers and buttons, and the language they say."""

from __future__ import annotations

import re

from holdfast.recipes.site.markdown.boilerplate import is_certain
from holdfast.recipes.site.markdown.tree import CODE_BLOCKS, Node

UNNAMED = frozenset(("default", "none", "text", "plaintext", "plain", "notranslate", "txt", "nohighlight", "source"))
LINES = frozenset({"div", "p", "li", "tr"})  # elements that end a line of code
# Only words that mean nothing else as a class; elsewhere the class has to say `language-` or the like.
KNOWN = frozenset(
    (
        *("python", "python3", "pycon", "ruby", "rust", "java", "javascript", "typescript", "js", "ts", "jsx", "tsx"),
        *("bash", "sh", "shell", "console", "c", "cpp", "c++", "csharp", "go", "golang", "haskell", "ocaml", "scala"),
        *("kotlin", "swift", "php", "perl", "lua", "sql", "json", "yaml", "toml", "xml", "html", "css", "scss", "ini"),
        *("diff", "makefile", "dockerfile", "clojure", "erlang", "elixir", "julia", "r", "matlab", "fortran", "lisp"),
        *("scheme", "elisp", "emacs-lisp", "vim", "groovy", "dart", "zig", "nim", "d", "ada", "pascal", "tcl", "awk"),
        *("graphql", "protobuf", "cmake", "powershell", "latex", "tex", "markdown", "rst", "http", "nginx", "asm"),
    )
)
_NAMED = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-(?:source-|text-)?|brush:\s*|sourceCode\s+|src-|code-|prettyprint\s+lang-)"
    r"([\w+#.-]+)"
)
_WORD = re.compile(r"[\w+#.-]{1,40}")


def is_code_block(node: Node) -> bool:
    """A `pre`, or what Doxygen writes instead."""
    return node.tag in CODE_BLOCKS or (node.tag == "div" and node.classes.split(" ", 1)[0] == "fragment")


def code_text(node: Node) -> str:
    """Its text with the line breaks that its elements make."""
    parts: list[str] = []
    if node.tag == "div":  # each line is an element, and between them is only white space
        for line in node.elements():
            _gather(line, parts)
            parts.append("\n")
    else:
        _gather(node, parts)
    return "".join(parts)


def _gather(node: Node, parts: list[str]) -> None:
    for child in node.children:
        if isinstance(child, str):
            parts.append(child)
        elif child.tag == "br":
            parts.append("\n")
        elif not is_certain(child):
            ends_line = child.tag in LINES
            if ends_line and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
            before = len(parts)
            _gather(child, parts)
            if ends_line and (len(parts) == before or not parts[-1].endswith("\n")):
                parts.append("\n")


def language_of(node: Node) -> str:
    """What the block, the code in it or what is wrapped around it says that it is; empty where nothing does."""
    around = _around(node)
    for each in around:
        for name in ("data-lang", "data-language"):
            said = each.get(name).lower()
            if said and _WORD.fullmatch(said) and said not in UNNAMED:
                return said
        for found in _NAMED.finditer(each.classes):
            said = found[1].lower()
            if said not in UNNAMED:
                return said
    for each in around:
        if each.tag in ("pre", "code") or "highlight" in each.classes:
            for word in each.classes.lower().split():
                if word in KNOWN:
                    return word
    return ""


def _around(node: Node) -> list[Node]:
    """The elements that may say it, the innermost first."""
    found: list[Node] = []
    for child in node.elements():
        if child.tag in ("code", "pre"):
            found += [child, *(inner for inner in child.elements() if inner.tag == "code")]
    found.append(node)
    outer = node.parent
    for _ in range(3):
        if outer is None or outer.tag not in ("div", "figure", "pre", "td", "tr", "tbody", "table"):
            break
        found.append(outer)
        outer = outer.parent
    return found
