"""How the value of a setting is read, from a file or from text, and shown again. Pure.

A reader answers the value as code wants it (seconds, bytes, tuples) or raises ValueError with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from holdfast.config.secrets import is_reference, redacted, refuse_clear_password
from holdfast.model import units

FLAGS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


class ValueType(msgspec.Struct, frozen=True):
    """`word` is for people: what kind of value it is."""

    word: str
    read: Callable[[Any], Any]
    show: Callable[[Any], str] = str
    quoted: bool = True  # whether TOML has it in quotes

    def plain(self, value: Any) -> Any:
        """The value as a file or JSON has it: `30s`, 8, a list. Never a secret."""
        if self.quoted:
            return self.show(value)
        return list(value) if isinstance(value, tuple) else value


def duration(least_s: float, most_s: float) -> ValueType:
    return ValueType("duration", _from_text(units.duration(least_s, most_s)), units.show_duration)


def duration_ms(least_s: float, most_s: float) -> ValueType:
    """Kept in milliseconds."""
    read = _from_text(units.duration(least_s, most_s))
    return ValueType("duration", lambda value: round(read(value) * 1000), lambda kept: units.show_duration(kept / 1000))


def size(least: int, most: int) -> ValueType:
    return ValueType("size", _from_text(units.size(least, most)), units.show_size)


def whole(least: int, most: int) -> ValueType:
    return ValueType("number", _from_text(units.whole(least, most)), quoted=False)


def clamped(least: int, most: int) -> ValueType:
    """A number of things at once: more than there can be is brought down, not refused (CFG-01)."""
    return ValueType(f"number, {least} to {most}", _from_text(units.clamped(least, most)), quoted=False)


def _from_text(reader: Callable[[str], Any]) -> Callable[[Any], Any]:
    """A number may stand in a file as a number, with or without quotes."""

    def read(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError(f"{_as_typed(value)} is not a value with a unit such as 30s or 50MB, nor a number")
        return reader(value if isinstance(value, str) else f"{value}")

    return read


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    found = FLAGS.get(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{_as_typed(value)} is neither true nor false")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"{_as_typed(value)} is not a line of text")
    return value.strip()


def _agent(value: Any) -> str:
    text = _text(value)
    if not text.isascii():
        raise ValueError(f"{text!r} cannot be sent as a user agent")
    return text


def _hidden(value: Any) -> str:
    """A text that is not quoted where it cannot be used."""
    try:
        return _text(value)
    except ValueError:
        raise ValueError("what it is set to is not a line of text") from None


def _secret_url(value: Any) -> str:
    """An address whose password would be kept with a job: only by reference."""
    text = _hidden(value)
    refuse_clear_password(text)
    return text


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [part for part in (part.strip() for part in value.split(",")) if part]
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{_as_typed(value)} is not a list of texts")
    return tuple(value)


def _endpoints(value: Any) -> tuple[str, ...]:
    return tuple(_endpoint(text) for text in _texts(value))


def _endpoint(text: str) -> str:
    from ipaddress import ip_address

    address, _, port = text.rpartition(":")
    try:
        ip_address(address.strip("[]"))
        fits = 0 < int(port) < 65536
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{text!r} is not an address with its port, such as 127.0.0.1:8123")
    return text


def _names(value: Any) -> dict[str, str]:
    """`{ "world.test" = "127.0.0.1:8123" }`, or as text `world.test=127.0.0.1:8123,…`."""
    if isinstance(value, str):
        pairs = [part.strip().partition("=") for part in value.split(",") if part.strip()]
        value = {name.strip(): endpoint.strip() for name, _, endpoint in pairs}
    if not isinstance(value, dict):
        raise ValueError(f"{_as_typed(value)} is not a table of names and their addresses")
    return {name: _endpoint(str(endpoint)) for name, endpoint in value.items()}


def _as_typed(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _shown_names(kept: dict[str, str]) -> str:
    return ", ".join(f"{name}={endpoint}" for name, endpoint in kept.items())


FLAG = ValueType("true or false", _flag, lambda kept: str(kept).lower(), quoted=False)
TEXT = ValueType("text", _text)
PATH = ValueType("path", _text)
AGENT = ValueType("text", _agent)
SECRET = ValueType("secret", _hidden, lambda kept: kept if not kept or is_reference(kept) else "(hidden)")
DATABASE = ValueType("address", _hidden, redacted)
SECRET_URL = ValueType("address", _secret_url, redacted)
TEXTS = ValueType("list of texts", _texts, ", ".join, quoted=False)
ENDPOINTS = ValueType("list of addresses", _endpoints, ", ".join, quoted=False)
NAMES = ValueType("table of names and addresses", _names, _shown_names, quoted=False)
