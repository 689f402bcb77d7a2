"""The options of a job as Python spells them: those of the command line with underscores, read the same way."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypedDict, get_args, get_type_hints

from holdfast.client.arguments import check_kind
from holdfast.config.certificates import read_bundle
from holdfast.config.headers import read_header, read_headers_to, read_proxy
from holdfast.config.presets import PRESETS
from holdfast.errors import BadParams
from holdfast.model import units
from holdfast.policy.directives import OBEYED


class PaceOptions(TypedDict, total=False):
    """How fast and how long; a changed one is applied to a job that is there. Durations: seconds, or `"30m"`."""

    concurrency: int
    per_host: int
    delay: float | str
    max_attempts: int
    max_bytes: int | str
    max_pages: int
    timeout: float | str
    time_limit: float | str
    user_agent: str
    headers: Mapping[str, str]
    headers_to: Sequence[str]
    ca_bundle: str
    proxy: str
    cookies: bool
    ignore_robots: bool
    allow_private: bool
    auto_resume: bool
    allow: Sequence[str]
    resolve: Mapping[str, str]


class CrawlOptions(PaceOptions, total=False):
    """Pace, and what belongs to the site; a site job that is there keeps its scope."""

    scope: str
    include: Sequence[str]
    exclude: Sequence[str]
    max_depth: int
    sitemap: str
    nofollow: str
    preset: str


def _number(read: Callable[[str], float]) -> Callable[[Any], Any]:
    """A reader that also takes numbers as they are."""

    def convert(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError(f"{value!r} is no number")
        return read(value if isinstance(value, str) else f"{value:f}".rstrip("0").rstrip(".") or "0")

    return convert


def _agent(value: str) -> str:
    if not value.strip() or not value.isprintable() or not value.isascii():
        raise ValueError(f"{value!r} cannot be sent as a user agent")
    return value.strip()


def _one_of(words: Sequence[str]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in words:
            raise ValueError(f"{value!r} is none of {', '.join(words)}")
        return value

    return read


# Python's name -> the field of Options, and the reader of its value; ranges are those of the command line.
PACE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "concurrency": ("concurrency", _number(units.whole(1, 256))),
    "per_host": ("per_host", _number(units.whole(1, 256))),
    "delay": ("delay_ms", lambda value: round(_number(units.duration(0, 3600))(value) * 1000)),
    "max_attempts": ("max_attempts", _number(units.whole(1, 100))),
    "max_bytes": ("max_bytes", _number(units.size(1, 256_000_000))),
    "max_pages": ("max_pages", _number(units.whole(1, 10**12))),
    "timeout": ("timeout_s", _number(units.duration(0.001, 86_400))),
    "time_limit": ("time_limit_s", _number(units.duration(0.001, 10**9))),
    "user_agent": ("user_agent", _agent),
    "headers": ("headers", lambda value: tuple(read_header(f"{name}: {text}") for name, text in value.items())),
    "headers_to": ("headers_to", lambda value: tuple(map(read_headers_to, _texts(value)))),
    "ca_bundle": ("ca_bundle", read_bundle),
    "proxy": ("proxy", read_proxy),
    "cookies": ("cookies", bool),
    "ignore_robots": ("ignore_robots", bool),
    "allow_private": ("allow_private", bool),
    "auto_resume": ("auto_resume", bool),
    "allow": ("allow", lambda value: tuple(_texts(value))),
    "resolve": ("resolve", dict),
}
OF_SITES = {"nofollow": ("nofollow", _one_of(OBEYED))}  # the same, of `crawl` only
SCOPE = ("scope", "include", "exclude", "max_depth", "sitemap")
# Numbers are read from texts as well, as the command line reads them; of everything else the annotation is the rule.
_HINTS = get_type_hints(CrawlOptions)
KINDS = {name: kind for name, kind in _HINTS.items() if not {int, float} & {kind, *get_args(kind)}}


def read_options(given: Mapping[str, Any], *, scope: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """(scope params, pace fields) of what was given; None counts as not given. BadParams names what cannot be used."""
    readers = {**PACE, **OF_SITES} if scope else PACE
    known = (*readers, *((*SCOPE, "preset") if scope else ()))
    params: dict[str, Any] = {}
    pace: dict[str, Any] = {}
    for name, value in given.items():
        if name in known and name in KINDS and value is not None:
            check_kind(name, value, KINDS[name])
    if scope and given.get("preset") is not None:
        preset = PRESETS.get(given["preset"])
        if preset is None:
            raise BadParams(f"there is no preset {given['preset']!r}", hint=f"presets: {' '.join(PRESETS)}")
        params, pace = dict(preset.scope), dict(preset.pace)  # what is given beside it wins
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            guess = f"; did you mean {near[0]}?" if near else ""
            raise BadParams(f"there is no option {name!r}{guess}", hint=f"options: {' '.join(known)}")
        if value is None or name == "preset":
            continue
        if name in readers:
            field, read = readers[name]
            pace[field] = _read(name, value, read)
        else:
            params[name] = _texts(value) if name in ("include", "exclude") else value
    return params, pace


def _read(name: str, value: Any, read: Callable[[Any], Any]) -> Any:
    try:
        return read(value)
    except (ValueError, ArgumentTypeError) as error:
        raise BadParams(f"{name}: {error}") from None


def _texts(value: Any) -> list[str]:
    """A list of texts; a lone text is a list of one."""
    return [value] if isinstance(value, str) else list(value)
