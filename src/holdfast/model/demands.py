"""What a job wants of the computer that it is worked on, beyond public pages fetched politely. No I/O.

A job from elsewhere is data: before it is taken, people are told what it would read, run or reach here. Options that
are not known to be harmless are told as well, so that a new one cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.model.job_options import HARMLESS, TOLD, Options

REFERENCES = ("env:", "file:")
SHOWN_MAX = 5
TEXT_MAX = 200
ARCHIVES = "from_warc"  # the param of a site that is read from files
LIST = "list"  # the param of documents, and of images that a list names


def demands(options: Options, params: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """One line for each thing that a person should have agreed to; empty: it fetches public pages."""
    plain = Options()
    lines = [
        line
        for name in Options.__struct_fields__
        if name not in HARMLESS and getattr(options, name) != getattr(plain, name)
        for line in _of_option(name, getattr(options, name))
    ]
    archives = (params or {}).get(ARCHIVES)
    if isinstance(archives, list) and archives:
        lines += _said("reads these files of this computer: {}")(ARCHIVES, archives)
    lines += _list((params or {}).get(LIST))
    return tuple(line[:TEXT_MAX] for line in lines)


def files_read(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The files of this computer that a job reads by its params, and reads again when it is scanned again."""
    archives, listed = params.get(ARCHIVES), _path_of(params.get(LIST))
    return (*(archives if isinstance(archives, list) else ()), *((listed,) if listed else ()))


def _list(given: Any) -> Iterator[str]:
    if path := _path_of(given):
        yield f"{LIST}: reads this file of this computer: {path}"


def _path_of(given: Any) -> str:
    """Of a list; empty: there is none, or it is at a URL and fetched like any page."""
    path = given.get("path") if isinstance(given, dict) else given
    return "" if not path or (isinstance(given, str) and "://" in given) else str(path)


def _of_option(name: str, value: Any) -> Iterator[str]:
    """By a rule of its own, in the words of its row, or as it is."""
    if name in _JUDGED:
        yield from _JUDGED[name](name, value)
    elif name in TOLD:
        yield from _said(TOLD[name])(name, value)
    else:
        yield f"{name}: {value}"


def _said(words: str) -> Callable[[str, Any], Iterator[str]]:
    def told(name: str, value: Any) -> Iterator[str]:
        yield f"{name}: {words.format(_shown(value))}"

    return told


def _shown(value: Any) -> str:
    parts = [f"{key}={there}" for key, there in value.items()] if isinstance(value, dict) else value
    if not isinstance(parts, (list, tuple)):
        return str(parts)
    more = f" and {len(parts) - SHOWN_MAX} more" if len(parts) > SHOWN_MAX else ""
    return ", ".join(map(str, parts[:SHOWN_MAX])) + more


def _headers(name: str, value: Any) -> Iterator[str]:
    """Only those whose value is a secret of this computer; what else is sent was the other's to say."""
    for header, text in value:
        if text.startswith(REFERENCES):
            yield f"header {header}: sends what it finds here: {text}"


def _nofollow(name: str, value: Any) -> Iterator[str]:
    """`all` asks for less than is usual."""
    if value != "all":
        yield f"{name}: does not obey nofollow"


_JUDGED: dict[str, Callable[[str, Any], Iterator[str]]] = {"headers": _headers, "nofollow": _nofollow}
