"""The engines by name, in the order in which they are asked when a job names none."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from holdfast.errors import BadParams
from holdfast.recipes.images.engines.answer import Engine
from holdfast.recipes.images.engines.baidu import Baidu
from holdfast.recipes.images.engines.bing import Bing
from holdfast.recipes.images.engines.duckduckgo import DuckDuckGo
from holdfast.recipes.images.engines.google import Google

_MAKERS: Mapping[str, Callable[..., Engine]] = {
    "google": Google,
    "bing": Bing,
    "baidu": Baidu,
    "duckduckgo": DuckDuckGo,
}
ENGINES = tuple(_MAKERS)


def engine(name: str, origin: str | None = None) -> Engine:
    """The engine of that name, at its own address or at `origin` (`http://127.0.0.2:8080`, for a simulated one)."""
    if name not in _MAKERS:
        raise BadParams(f"there is no engine {name!r}; there are: {', '.join(ENGINES)}")
    return _MAKERS[name](origin=origin.rstrip("/")) if origin else _MAKERS[name]()
