"""Values written as TOML, and one key of a document set without touching anything else in it. Pure.

The editor is small, so it is checked by the reader: if the edited text does not say exactly what was asked for and
everything that it said before, nothing is changed and the user is told the line to write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

import msgspec

from holdfast.config.trees import spelled
from holdfast.errors import BadParams

Key = tuple[str, ...]


def literal(value: Any) -> str:
    """A value as TOML spells it on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        pairs = ", ".join(f"{spelled(name)} = {literal(each)}" for name, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")  # as JSON, but for one character


def key_of(text: str) -> Key:
    """`hosts."judicial.ky".delay` as its parts."""
    found: Any = _loads(f"{text} = 0")
    again = _loads(f"{text} = 1")  # not so where the text has a value of its own
    parts: list[str] = []
    while isinstance(found, dict) and len(found) == 1:
        [(name, found)] = found.items()
        parts.append(name)
    if not parts or found != 0 or _merged({}, tuple(parts), 1) != again:
        raise BadParams(f"{text!r} is not a key such as http.timeout")
    return tuple(parts)


def dotted(key: Sequence[str]) -> str:
    return ".".join(map(spelled, key))


def with_key(text: str, key: Key, value: Any) -> str:
    """The document with this one key set: in its own line, its own table, or a new line. Comments stay."""
    before = _loads(text)
    assert before is not None, "read before it is edited"
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")] if text else []
    edited = "".join(_edited(lines, key, value))
    if _loads(edited) != _merged(before, key, value):
        raise BadParams(
            f"{dotted(key)} cannot be set in this file safely", hint=f"write {dotted(key)} = {literal(value)}"
        )
    return edited


class _Statement(msgspec.Struct, frozen=True):
    """`key = value` of the lines first:last, with its full key; or, where it is a `header`, `[key]`."""

    first: int
    last: int
    key: Key
    header: bool = False
    value: Any = None


def _edited(lines: list[str], key: Key, value: Any) -> list[str]:
    statements = _statements(lines)
    for each in statements:
        if not each.header and key[: len(each.key)] == each.key:
            whole = value if each.key == key else _merged(each.value, key[len(each.key) :], value)
            return _replaced(lines, each, whole)
    homes = [each for each in statements if each.header and key[:-1][: len(each.key)] == each.key]
    home = max(homes, key=lambda each: len(each.key), default=None)
    line = f"{dotted(key[len(home.key) :] if home else key)} = {literal(value)}\n"
    at = _end_of(home, statements)
    return [*lines[:at], line, *lines[at:]]


def _replaced(lines: list[str], each: _Statement, value: Any) -> list[str]:
    """The statement with another value; how the key is written, and a comment behind the value, stay."""
    text = "".join(lines[each.first : each.last])
    head = next(text[:at] for at in _places("=", text) if _loads(text[:at] + "= 0") is not None)
    comment = next(("  " + text[at:] for at in _places("#", text) if _loads(text[:at]) is not None), "\n")
    return [*lines[: each.first], f"{head}= {literal(value)}{comment}", *lines[each.last :]]


def _end_of(home: _Statement | None, statements: list[_Statement]) -> int:
    """Behind the last line of a table; of the root, which has no header, before the first header."""
    end = home.last if home else 0
    inside = home is None
    for each in statements:
        if each.header:
            if inside and each is not home:
                return end
            inside = each is home
        if inside:
            end = each.last
    return end


def _statements(lines: list[str]) -> list[_Statement]:
    found: list[_Statement] = []
    table: Key = ()
    at = 0
    while at < len(lines):
        stripped = lines[at].strip()
        if not stripped or stripped.startswith("#"):
            at += 1
            continue
        header = re.match(r"\[([^\[].*)\]\s*(?:#.*)?$", stripped)
        if stripped.startswith("["):
            # Tables of a list cannot be named by a key: what stands in them is skipped.
            table = key_of(header[1].strip()) if header else ("[[", stripped)
            found.append(_Statement(at, at + 1, table, header=True))
            at += 1
            continue
        last = next(end for end in range(at + 1, len(lines) + 1) if _loads("".join(lines[at:end])) is not None)
        key, value = _leaf("".join(lines[at:last]))
        found.append(_Statement(at, last, table + key, value=value))
        at = last
    return found


def _leaf(text: str) -> tuple[Key, Any]:
    """The key and the value of one statement: what stands before the first `=` that reads as a key."""
    head = next(text[:at] for at in _places("=", text) if _loads(text[:at] + "= 0") is not None)
    key = key_of(head.strip())
    value: Any = _loads(text)
    for part in key:
        value = value[part]
    return key, value


def _places(mark: str, text: str) -> list[int]:
    return [at for at, char in enumerate(text) if char == mark]


def _merged(document: Any, key: Key, value: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise BadParams(f"{dotted(key)} cannot be set inside a value that is not a table")
    rest = key[1:]
    return {**document, key[0]: _merged(document.get(key[0], {}), rest, value) if rest else value}


def _loads(text: str) -> dict[str, Any] | None:
    import tomllib

    try:
        return tomllib.loads(text)
    except ValueError:  # tomllib's own is one
        return None
