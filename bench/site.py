"""A synthetic site as files: pages of about 14 KB with 30 links each, every page reachable from the first.

The same number of pages always gives the same bytes. It knows nothing of crawlers or servers.
"""

from __future__ import annotations

import random
from pathlib import Path

LINKS = 30
CHILDREN = 3  # page i links to 3i+1 … 3i+3, so that every page is reached
NAVIGATION = 10  # links that every page repeats, as the menu of a real site does
PARAGRAPHS = 19
WORDS_PER_PARAGRAPH = 138
PAGES_PER_FOLDER = 100
SEED = 20240607
FIRST = "/d0/page-0.html"
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
</head>
<body>
<nav class="menu">
<ul>
{menu}
</ul>
</nav>
<main>
<h1>Page {number}</h1>
{blocks}
</main>
<footer><p>The shore, page {number} of {pages}</p></footer>
</body>
</html>
"""


def make_site(folder: Path, pages: int) -> int:
    """Write the site below `folder`; answers its bytes."""
    source = random.Random(SEED)
    paragraphs = _paragraphs(source)
    total = 0
    for number in range(pages):
        body = _page(source, paragraphs, number, pages).encode()
        file = folder / path_of(number).lstrip("/")
        if number % PAGES_PER_FOLDER == 0:
            file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        total += len(body)
    (folder / "robots.txt").write_text("User-agent: *\nAllow: /\n")
    return total


def path_of(number: int) -> str:
    return f"/d{number // PAGES_PER_FOLDER}/page-{number}.html"


def links_of(source: random.Random, number: int, pages: int) -> list[int]:
    """The pages that one page links to: its children, the menu, and others by chance, half of them near."""
    near, far = (LINKS - CHILDREN - NAVIGATION) // 2, (LINKS - CHILDREN - NAVIGATION + 1) // 2
    children = [CHILDREN * number + 1 + child for child in range(CHILDREN)]
    menu = [entry * pages // NAVIGATION for entry in range(NAVIGATION)]
    neighbours = [number + source.randint(-50, 50) for _ in range(near)]
    strangers = [source.randrange(pages) for _ in range(far)]
    return [target % pages for target in [*menu, *children, *neighbours, *strangers]]


def _page(source: random.Random, paragraphs: list[str], number: int, pages: int) -> str:
    links = [_link(number, target) for target in links_of(source, number, pages)]
    menu = "\n".join(f"<li>{link}</li>" for link in links[:NAVIGATION])
    inside = links[NAVIGATION:]
    texts = source.sample(paragraphs, PARAGRAPHS)
    blocks = [
        f'<section class="entry" id="part-{place}">\n<h2>Part {place} of page {number}</h2>\n<p>{text}</p>\n'
        f"<p>See also {' and '.join(inside[place :: len(texts)])}.</p>\n</section>"
        for place, text in enumerate(texts)
    ]
    title = f"Page {number} of the shore"
    return PAGE.format(title=title, menu=menu, number=number, blocks="\n".join(blocks), pages=pages)


def _link(number: int, target: int) -> str:
    """Within a folder the link is relative, else from the root: both forms that real pages use."""
    near = number // PAGES_PER_FOLDER == target // PAGES_PER_FOLDER
    where = path_of(target).rpartition("/")[2] if near else path_of(target)
    return f'<a class="link" href="{where}">page {target}</a>'


def _paragraphs(source: random.Random) -> list[str]:
    """Made-up prose that compresses about as well as a written page: frequent words are short."""
    letters = "etaoinshrdlucmfwygpbvk"
    weights = [len(letters) - place for place in range(len(letters))]
    words = sorted(("".join(source.choices(letters, weights, k=source.randint(2, 12))) for _ in range(1000)), key=len)
    often = [1 / (place + 1) ** 1.1 for place in range(len(words))]
    return [" ".join(source.choices(words, often, k=WORDS_PER_PARAGRAPH)) + "." for _ in range(500)]
