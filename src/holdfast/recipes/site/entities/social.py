"""Accounts at social networks: `network:handle`, from links, from `sameAs`, and where a network is named beside `@`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.source import Source
from holdfast.recipes.site.entities.structured import texts_of

_HANDLE = r"([\w.-]{1,60})"
NETWORKS: dict[str, tuple[str, re.Pattern[str]]] = {
    host: (network, re.compile(pattern))
    for network, hosts, pattern in (
        ("x", "twitter.com x.com mobile.twitter.com", rf"/@?{_HANDLE}/?"),
        (
            "linkedin",
            "linkedin.com uk.linkedin.com de.linkedin.com",
            r"/((?:company|in|school|showcase)/[\w.%-]{1,80})/?",
        ),
        ("facebook", "facebook.com fb.com m.facebook.com", rf"/{_HANDLE}/?"),
        ("instagram", "instagram.com", rf"/{_HANDLE}/?"),
        ("youtube", "youtube.com", r"/((?:@|c/|channel/|user/)[\w.-]{1,60})/?"),
        ("github", "github.com", rf"/{_HANDLE}/?"),
        ("gitlab", "gitlab.com", rf"/{_HANDLE}/?"),
        ("tiktok", "tiktok.com", r"/(@[\w.-]{1,60})/?"),
        ("medium", "medium.com", r"/(@?[\w.-]{1,60})/?"),
        ("xing", "xing.com", r"/((?:companies|pages|profile)/[\w.-]{1,60})/?"),
        ("bluesky", "bsky.app", r"/profile/([\w.-]{1,80})/?"),
        ("threads", "threads.net", r"/(@[\w.-]{1,60})/?"),
        ("pinterest", "pinterest.com", rf"/{_HANDLE}/?"),
        ("telegram", "t.me", rf"/{_HANDLE}/?"),
        ("mastodon", "mastodon.social fosstodon.org hachyderm.io mastodon.online", r"/(@[\w.-]{1,60})/?"),
    )
    for host in hosts.split()
}
_NO_ACCOUNT = frozenset(
    [
        "share",
        "sharer",
        "sharer.php",
        "intent",
        "home",
        "login",
        "signup",
        "search",
        "explore",
        "hashtag",
        "dialog",
        "plugins",
        "about",
        "privacy",
        "policies",
        "tr",
        "p",
        "watch",
        "features",
        "pricing",
        "marketplace",
        "sponsors",
        "topics",
        "status",
        "legal",
        "help",
        "tos",
        "settings",
        "joinchat",
        "in",
        "company",
    ]
)
_NAMED = re.compile(
    r"\b(Twitter|X|Instagram|GitHub|TikTok|Threads|Mastodon|Bluesky)\s*(?::|–|-|at|as)?\s*(@[\w.]{2,40})", re.IGNORECASE
)
_NAME_OF = {"twitter": "x"}


def social_handles(source: Source) -> Iterator[Mention]:
    for link in source.links:
        if value := account_of(link.href):
            place = source.locate(link.href)
            yield Mention("social_handle", value, link.href, place.passage, place.at, "link", 0.95)
    for thing in source.data:
        for url in texts_of(thing, "sameAs"):
            if value := account_of(url):
                place = source.locate(url)
                yield Mention("social_handle", value, url, place.passage, place.at, "sameAs", 0.98)
    for match in _NAMED.finditer(source.text):
        network = match[1].lower()
        value = f"{_NAME_OF.get(network, network)}:{match[2].lstrip('@').rstrip('.').lower()}"
        place = source.around(*match.span())
        yield Mention("social_handle", value, match[0], place.passage, place.at, "named", 0.75)


def account_of(url: str) -> str:
    """`x:acme` of a link to an account; empty of a share button and of every other link."""
    parts = urlsplit(url if "//" in url else "")
    known = NETWORKS.get((parts.hostname or "").removeprefix("www."))
    if known is None:
        return ""
    match = known[1].fullmatch(parts.path)
    if match is None or match[1].lower() in _NO_ACCOUNT:
        return ""
    return f"{known[0]}:{match[1].lower() if known[0] == 'linkedin' else match[1].lstrip('@').lower()}"
