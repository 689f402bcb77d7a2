"""What a job wants of the computer that it is worked on, beyond public pages fetched politely. No I/O.

A job from elsewhere is data: before it is taken, people are told what it would read, run or reach here. Options that
are not known to be harmless are told as well, so that a new one cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.model.job import Options

REFERENCES = ("env:", "file:")
SHOWN_MAX = 5
TEXT_MAX = 200
ARCHIVES = "from_warc"  # the param of a site that is read from files
LIST = "list"  # the param of documents, and of images that a list names
# How fast, how long, how often, how much; or nothing but a name. A restore forgets where results were written to.
HARMLESS = frozenset(
    {
        "concurrency", "per_host", "delay_ms", "jitter", "max_attempts", "timeout_s", "connect_timeout_s",
        "first_byte_timeout_s", "idle_timeout_s", "max_bytes", "bytes_in_flight", "user_agent", "cookies",
        "detect_blocks", "record",
        "checkpoint_targets", "checkpoint_s", "own", "targets_per_host", "max_pages", "time_limit_s", "recipe_sha256",
        "batch", "output", "output_form", "auto_resume",
    }
)  # fmt: skip


def demands(options: Options, params: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """One line for each thing that a person should have agreed to; empty: it fetches public pages."""
    plain = Options()
    lines = [
        line
        for name in Options.__struct_fields__
        if name not in HARMLESS and getattr(options, name) != getattr(plain, name)
        for line in _TOLD.get(name, _as_it_is)(name, getattr(options, name))
    ]
    archives = (params or {}).get(ARCHIVES)
    if isinstance(archives, list) and archives:
        lines += _said("reads these files of this computer: {}")(ARCHIVES, archives)
    lines += _list((params or {}).get(LIST))
    return tuple(line[:TEXT_MAX] for line in lines)


def _list(given: Any) -> Iterator[str]:
    """One at a URL is fetched like any page."""
    is_url = isinstance(given, str) and "://" in given
    if given and not is_url:
        yield f"{LIST}: reads this file of this computer: {given.get('path') if isinstance(given, dict) else given}"


def _as_it_is(name: str, value: Any) -> Iterator[str]:
    yield f"{name}: {value}"


def _said(words: str) -> Callable[[str, Any], Iterator[str]]:
    def told(name: str, value: Any) -> Iterator[str]:
        parts = [f"{key}={there}" for key, there in value.items()] if isinstance(value, dict) else value
        listed = ", ".join(map(str, parts[:SHOWN_MAX])) if isinstance(parts, (list, tuple)) else str(parts)
        more = f" and {len(parts) - SHOWN_MAX} more" if len(parts) > SHOWN_MAX and not isinstance(parts, str) else ""
        yield f"{name}: {words.format(listed + more)}"

    return told


def _headers(name: str, value: Any) -> Iterator[str]:
    """Only those whose value is a secret of this computer; what else is sent was the other's to say."""
    for header, text in value:
        if text.startswith(REFERENCES):
            yield f"header {header}: sends what it finds here: {text}"


def _nofollow(name: str, value: Any) -> Iterator[str]:
    """`all` asks for less than is usual."""
    if value != "all":
        yield f"{name}: does not obey nofollow"


def _flag(words: str) -> Callable[[str, Any], Iterator[str]]:
    return lambda name, value: iter([f"{name}: {words}"])


_TOLD: dict[str, Callable[[str, Any], Iterator[str]]] = {
    "allow_private": _flag("fetches from private addresses: this computer and the networks around it"),
    "allow": _said("fetches from these private addresses: {}"),
    "resolve": _said("takes these names to other addresses: {}"),
    "headers": _headers,
    "headers_to": _said("sends its headers also to {}"),
    "ca_bundle": _said("trusts also the certificates in {}"),
    "nofollow": _nofollow,
    "proxy": _said("fetches everything through {}"),
    "ignore_robots": _flag("does not obey robots.txt"),
    "recipe_source": _said("runs the code in {}"),
}
