"""What the demo needs to know of each world it can tell: its words, its pace, and how it is crawled."""

from __future__ import annotations

from importlib.util import find_spec

import msgspec
from msgspec.structs import replace

from holdfast.recipes.site.made import NEEDED

REPORT_FILE = "report.html"


class Scene(msgspec.Struct, frozen=True):
    """`intro` has the number of pages as {pages}. `finish` are the words of a command that is run on the finished job,
    whose name is added: the place for what is made of a crawl, such as a report. {folder} in them is the data folder.
    It must end with 0. `for_finish` are options that the crawl needs for it; `needs` are packages without which both
    are left out."""

    intro: str
    delay_ms: int
    options: tuple[str, ...] = ()
    finish: tuple[str, ...] = ()
    for_finish: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


SCENES = {
    "manual": Scene("A made-up handbook of {pages} pages is served by this computer. No internet.", 100),
    "company": Scene(
        "The website of a made-up company, {pages} pages with traps, is served by this computer. No internet.",
        10,
        ("--sitemap", "auto", "--max-depth", "5"),
        ("report", "-o", f"{{folder}}/{REPORT_FILE}"),
        ("--report",),
        NEEDED,
    ),
}
JUDGMENTS, COURT, ENGINES = "judgments", "court", "engines"  # have stories of their own: collection.py, story.py
STORIES = {"images": ENGINES}  # what a story is called, too
SHOWN = (*SCENES, JUDGMENTS, COURT, *STORIES)  # as people call them, the first one is told where none is named


def scene_of(world: str) -> Scene:
    """The scene as it can be played with the packages that are installed."""
    scene = SCENES[world]
    if any(find_spec(name) is None for name in scene.needs):
        return replace(scene, finish=(), for_finish=())
    return scene
