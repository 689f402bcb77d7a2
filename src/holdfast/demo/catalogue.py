"""The worlds by name. A world is made only when it is asked for, so that nobody pays for the others."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from holdfast.demo.service import Service
from holdfast.demo.world import World

SEED = 7
# Each is a function `(seed, pages, delay_ms) -> World or Service`, where None leaves the world's own default.
_MAKERS = {
    "company": "holdfast.demo.company.world:make",
    "court": "holdfast.demo.court.site:make",
    "judgments": "holdfast.demo.judgments.site:make",
    "manual": "holdfast.demo.manual.world:make",
    "tree": "holdfast.demo.tree:make",
}
WORLDS = tuple(_MAKERS)

Maker = Callable[[int, int | None, int | None], World | Service]


def make_world(
    name: str, *, seed: int = SEED, pages: int | None = None, delay_ms: int | None = None
) -> World | Service:
    """The world of that name; None leaves its own default."""
    if name not in _MAKERS:
        raise ValueError(f"unknown world {name!r}; allowed: {', '.join(WORLDS)}")
    module, _, function = _MAKERS[name].partition(":")
    make: Maker = getattr(import_module(module), function)
    return make(seed, pages, delay_ms)
