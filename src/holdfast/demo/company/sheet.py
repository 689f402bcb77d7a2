"""One page of the company being written: HTML goes in; links, entities and what a browser would add come out beside it.

Nobody has to parse a page back: what the oracle says of it is noted while it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.demo.company.facts import CompanyFacts
from holdfast.demo.world import WorldPage, html_page

CSS = """
:root{--ink:#1d2733;--soft:#5b6875;--line:#e3e8ee;--brand:%s;--tint:%s}
*{box-sizing:border-box}body{margin:0;font:16px/1.6 system-ui,sans-serif;color:var(--ink)}
a{color:var(--brand)}header,main,footer{max-width:1040px;margin:0 auto;padding:0 24px}
header{display:flex;gap:24px;align-items:center;
padding-top:18px;padding-bottom:18px;border-bottom:1px solid var(--line)}
header b{font-size:20px}nav a{margin-right:14px;text-decoration:none;color:var(--soft)}
.hero{background:var(--tint);border-radius:14px;padding:40px;margin:28px 0}.hero h1{font-size:38px;margin:0 0 8px}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:18px;padding:0;list-style:none}
.cards>*{border:1px solid var(--line);border-radius:10px;padding:16px}.note{color:var(--soft);font-size:14px}
table{border-collapse:collapse;width:100%%}td,th{border-bottom:1px solid var(--line);padding:8px;text-align:left}
footer{margin-top:56px;padding-top:20px;padding-bottom:36px;border-top:1px solid var(--line);font-size:14px}
"""
COLOURS = (("#0b6e8a", "#e6f3f6"), ("#a4491b", "#faeee6"), ("#4a3fb5", "#eeecfa"))
NAV = {
    "/products/": "Products", "/services/": "Services", "/about-us/": "About us", "/team/": "Team",
    "/pricing": "Pricing", "/blog/": "Blog", "/news": "News", "/careers/": "Careers", "/contact": "Contact",
}  # fmt: skip
FOOT = {"/events": "Events", "/press/": "Press", "/legal/privacy": "Privacy", "/legal/terms": "Terms", "/shop": "Shop"}


class Planted(msgspec.Struct, frozen=True):
    """One entity as a page states it. `value` is its plain form, `passage` the visible text around it."""

    kind: str
    value: str
    passage: str
    more: tuple[tuple[str, str], ...] = ()

    def row(self, url: str) -> dict[str, Any]:
        return {"kind": self.kind, "value": self.value, "url": url, "passage": self.passage, **dict(self.more)}


@dataclass(slots=True)
class CompanySheet:
    """`head` are further lines of the head; `page()` gives what is served."""

    facts: CompanyFacts
    url: str
    title: str
    lang: str = "en"
    canonical: str = ""
    robots: str = ""
    base_href: str = ""
    rooted: bool = False
    follows: bool = True  # False: the page asks for its links to be left, so the oracle has none of them
    head: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    external: list[str] = field(default_factory=list)
    planted: list[Planted] = field(default_factory=list)

    def write(self, *lines: str) -> None:
        self.body += lines

    def text(self, *sentences: str) -> None:
        self.write("<p>" + escape(" ".join(sentences), quote=False) + "</p>")

    def link(self, url: str, text: str, *, href: str = "", rel: str = "") -> str:
        """An anchor to `url` of this site, written as `href` where that is another spelling of it."""
        self.links.append(url)
        mark = f' rel="{rel}"' if rel else ""
        return f'<a href="{escape(href or url)}"{mark}>{escape(text, quote=False)}</a>'

    def outside(self, url: str, text: str) -> str:
        self.external.append(url)
        return f'<a href="{escape(url)}">{escape(text, quote=False)}</a>'

    def cards(self, items: Iterable[str]) -> None:
        self.write("<ul class=cards>", *(f"<li>{item}</li>" for item in items), "</ul>")

    def plant(self, kind: str, value: str, passage: str, **more: str) -> str:
        """Note an entity; gives the passage as HTML."""
        self.planted.append(Planted(kind, value, passage, tuple(more.items())))
        return escape(passage, quote=False)

    def page(self, *, status: int = 200) -> WorldPage:
        text = "\n".join([*self._opening(), *self.body, *self._closing()]) + "\n"
        links = self.links if self.follows else ()
        made = html_page(text, title=self.title, links=links, external=self.external, status=status)
        return replace(made, rooted=self.rooted)

    def _opening(self) -> Sequence[str]:
        facts = self.facts
        brand, tint = COLOURS[facts.seed % len(COLOURS)]
        lines = [
            f'<!doctype html>\n<html lang="{self.lang}">\n<head>\n<meta charset="utf-8">',
            f"<title>{escape(self.title, quote=False)}</title>",
            '<meta name="viewport" content="width=device-width">',
            f'<meta name="generator" content="{facts.trade.generator}">',
        ]
        lines += [f'<base href="{self.base_href}">'] if self.base_href else []
        lines += [f'<meta name="robots" content="{self.robots}">'] if self.robots else []
        lines += [f'<link rel="canonical" href="{self.canonical}">'] if self.canonical else []
        lines += [f'<script async src="{escape(url)}"></script>' for url, _ in facts.trade.scripts]
        lines += [*self.head, f"<style>{CSS % (brand, tint)}</style>\n</head>\n<body>"]
        bar = "".join(self.link(url, text) for url, text in NAV.items())
        home = self.link("/", facts.short)
        return [*lines, f"<header><b>{home}</b><nav>{bar}</nav></header>\n<main>"]

    def _closing(self) -> Sequence[str]:
        facts = self.facts
        ways = " · ".join(self.link(url, text) for url, text in FOOT.items())
        social = " · ".join(self.outside(url, name) for name, url in social_of(facts).items())
        return [f"</main>\n<footer><p>{ways}</p><p>{social}</p><p>© {escape(facts.org)}</p></footer>\n</body>\n</html>"]


def social_of(facts: CompanyFacts) -> dict[str, str]:
    return {
        "LinkedIn": f"https://www.linkedin.com/company/{facts.handle}",
        "X": f"https://x.com/{facts.handle}",
        "GitHub": f"https://github.com/{facts.handle}",
    }
