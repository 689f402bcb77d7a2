"""Ways to ask for the same thing: templates around `{keyword}`, in groups that a job can choose from.

The plain keyword is always asked first. The list a job uses is stored with it, so that a later Holdfast with other
templates asks an old job's questions.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.errors import BadParams

PLAIN = "{keyword}"
TEMPLATE_CHARACTERS_MAX = 200
TEMPLATES_MAX = 1_000

# Words behind the keyword; `{keyword}` in an entry says where the keyword stands instead.
_GROUPS: dict[str, tuple[str, ...]] = {
    "basic": ("image", "photo", "high quality", "closeup", "detailed", "picture"),
    "quality": ("HD", "4K", "8K", "high resolution", "sharp", "raw photo", "uncompressed", "large"),
    "medium": ("photograph", "painting", "watercolour", "drawing", "sketch", "engraving", "3D render", "pixel art"),
    "style": ("cartoon", "minimalist", "vintage", "retro", "abstract", "realistic", "black and white", "film grain"),
    "view": ("front view", "side view", "rear view", "top view", "low angle", "aerial view", "cross section", "macro"),
    "distance": ("close up", "wide shot", "full body", "portrait", "in the distance", "detail", "panorama"),
    "light": ("backlit", "golden hour", "at night", "in shade", "studio light", "silhouette", "overcast", "flash"),
    "season": ("in spring", "in summer", "in autumn", "in winter", "in snow", "in rain", "in fog"),
    "time": ("at dawn", "in the morning", "at noon", "at sunset", "at dusk"),
    "place": ("outdoors", "indoors", "in nature", "in a city", "at home", "in a museum", "on a beach", "in a forest"),
    "background": ("white background", "black background", "transparent background", "blurred background", "isolated"),
    "number": ("single {keyword}", "two {keyword}", "group of {keyword}", "many {keyword}", "pair of {keyword}"),
    "age": ("young {keyword}", "old {keyword}", "new {keyword}", "ancient {keyword}", "modern {keyword}"),
    "size": ("small {keyword}", "big {keyword}", "tiny {keyword}", "giant {keyword}"),
    "colour": tuple(f"{colour} {{keyword}}" for colour in ("red", "blue", "green", "white", "black", "brown", "grey")),
    "state": ("moving", "resting", "broken {keyword}", "wet {keyword}", "dirty {keyword}", "clean {keyword}"),
    "use": ("stock photo", "wallpaper", "in a textbook", "museum collection", "field guide", "catalogue"),
    "company": ("with people", "with a child", "with hands", "with animals", "without people"),
}
GROUPS: dict[str, tuple[str, ...]] = {
    name: tuple(words if PLAIN in words else f"{PLAIN} {words}" for words in entries)
    for name, entries in _GROUPS.items()
}
DEFAULT_GROUPS = ("basic",)


def templates(groups: Iterable[str] = DEFAULT_GROUPS, own: Iterable[str] = ()) -> tuple[str, ...]:
    """The plain keyword, then a job's own templates, then those of its groups; each once."""
    found: dict[str, None] = {PLAIN: None}
    for template in own:
        found[_checked(template)] = None
    for name in groups:
        if name not in GROUPS:
            raise BadParams(f"there is no group of variations {name!r}; there are: {', '.join(GROUPS)}")
        found.update(dict.fromkeys(GROUPS[name]))
    if len(found) > TEMPLATES_MAX:
        raise BadParams(f"a job has at most {TEMPLATES_MAX} variations, not {len(found)}")
    return tuple(found)


def formatted(template: str, keyword: str) -> str:
    """The query. Nothing but `{keyword}` is replaced, so that braces in a keyword mean nothing."""
    return " ".join(template.replace(PLAIN, keyword).split())


def _checked(template: str) -> str:
    if template.count(PLAIN) != 1 or len(template) > TEMPLATE_CHARACTERS_MAX:
        raise BadParams(f"a variation has {PLAIN} in it once and at most 200 characters: {template[:80]!r}")
    return template
