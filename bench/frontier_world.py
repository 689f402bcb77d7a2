"""The world of the frontier benchmark: numbered pages over one host or many, their URLs, links and files.

Every link leads to a page that has a number, so a ledger that knows all numbers learns nothing new from a crawl. It
knows nothing of ledgers, crawlers or servers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ONE_HOST = "127.0.0.1"
FETCHABLE = 20_000  # pages that exist as files; the others are only known
MENU, NEAR, FAR = 10, 10, 10  # links that every page of a host repeats; of the same folder; of anywhere
PER_FOLDER_ONE_HOST, PER_FOLDER_MANY_HOSTS = 100, 20
PARAGRAPHS = 19
WORDS_PER_PARAGRAPH = 85
FALLBACK = "fallback.html"
SEED = 20240607


@dataclass(frozen=True, slots=True)
class World:
    """`known` pages over `hosts` hosts, all served by one server on `port`: the whole of 127/8 is this computer."""

    known: int
    hosts: int
    port: int

    def host(self, number: int) -> str:
        """With the port. Octets begin at 100, so none has a leading zero, which would be read as octal."""
        if self.hosts == 1:
            return f"{ONE_HOST}:{self.port}"
        n = number % self.hosts
        return f"127.{1 + n // 10_000}.{100 + n // 100 % 100}.{100 + n % 100}:{self.port}"

    def path(self, number: int) -> str:
        place = number // self.hosts
        return f"/d{place // self.per_folder:05d}/p{place % self.per_folder:02d}"

    def url(self, number: int) -> str:
        return f"http://{self.host(number)}{self.path(number)}"

    @property
    def per_folder(self) -> int:
        return PER_FOLDER_ONE_HOST if self.hosts == 1 else PER_FOLDER_MANY_HOSTS

    @property
    def per_host(self) -> int:
        return self.known // self.hosts

    @property
    def fetchable(self) -> range:
        """The pages that a crawl really asks for: spread evenly over the hosts."""
        return range(min(self.known, FETCHABLE))

    def links(self, number: int) -> list[int]:
        """Thirty known pages. The far ones are drawn anew for every page, so no cache of recent keys has them."""
        source = random.Random(number)
        host, place = number % self.hosts, number // self.hosts
        folder = place - place % self.per_folder
        menu = [self._at(host, entry * self.per_host // MENU) for entry in range(MENU)]
        near = [self._at(host, folder + source.randrange(self.per_folder)) for _ in range(NEAR)]
        far_here = [self._at(host, source.randrange(self.per_host)) for _ in range(FAR // 2)]
        anywhere = [source.randrange(self.per_host * self.hosts) for _ in range(FAR - FAR // 2)]
        return [*menu, *near, *far_here, *anywhere]

    def _at(self, host: int, place: int) -> int:
        return place % self.per_host * self.hosts + host

    def linked(self, numbers: range) -> Iterator[int]:
        """Every page that these pages link to and that is not one of them, each once."""
        seen = set(numbers)
        for number in numbers:
            for link in self.links(number):
                if link not in seen:
                    seen.add(link)
                    yield link


def write_pages(world: World, folder: Path) -> int:
    """The fetchable pages as files, `HOST/PATH` below `folder`, and one for whatever else is asked; their bytes."""
    paragraphs = _paragraphs(random.Random(SEED))
    total = 0
    for number in world.fetchable:
        body = _page(world, number, paragraphs).encode()
        file = folder / world.host(number).partition(":")[0] / world.path(number).lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        total += len(body)
    (folder / FALLBACK).write_bytes(_page(world, 0, paragraphs).encode())
    return total


def _page(world: World, number: int, paragraphs: list[str]) -> str:
    links = [_link(world, number, target) for target in world.links(number)]
    menu = "\n".join(f"<li>{link}</li>" for link in links[:MENU])
    texts = [paragraphs[(number * 7 + place) % len(paragraphs)] for place in range(PARAGRAPHS)]
    parts = [
        f"<h2>Part {place}</h2>\n<p>{text}</p>\n<p>See {' '.join(links[MENU + place :: PARAGRAPHS])}</p>"
        for place, text in enumerate(texts)
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Page {number}</title></head>\n<body>\n'
        f"<nav><ul>\n{menu}\n</ul></nav>\n<main><h1>Page {number}</h1>\n{chr(10).join(parts)}\n</main></body></html>\n"
    )


def _link(world: World, number: int, target: int) -> str:
    """From the root within a host, with the host where it is another one: both forms that real pages use."""
    here = world.host(number) == world.host(target)
    return f'<a href="{world.path(target) if here else world.url(target)}">page {target}</a>'


def _paragraphs(source: random.Random) -> list[str]:
    """Made-up prose that compresses about as well as a written page: frequent words are short."""
    letters = "etaoinshrdlucmfwygpbvk"
    weights = [len(letters) - place for place in range(len(letters))]
    words = ["".join(source.choices(letters, weights, k=source.randint(2, 11))) for _ in range(3000)]
    often = [1 / (place + 1) ** 0.8 for place in range(len(words))]
    return [" ".join(source.choices(words, often, k=WORDS_PER_PARAGRAPH)) + "." for _ in range(500)]
