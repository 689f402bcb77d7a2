"""Types of values that are settings only, or hold addresses and secrets; the others: model/value_types.py. Pure."""

from __future__ import annotations

from typing import Any

from holdfast.config.secrets import is_reference, redacted, refuse_clear_header, refuse_clear_password
from holdfast.model.value_types import FLAG as FLAG
from holdfast.model.value_types import PATH as PATH
from holdfast.model.value_types import TABLE_OF_TEXTS, ValueType, as_typed, read_text, read_texts
from holdfast.model.value_types import TEXT as TEXT
from holdfast.model.value_types import TEXTS as TEXTS
from holdfast.model.value_types import choice as choice
from holdfast.model.value_types import clamped as clamped
from holdfast.model.value_types import duration as duration
from holdfast.model.value_types import duration_ms as duration_ms
from holdfast.model.value_types import size as size
from holdfast.model.value_types import whole as whole


def _agent(value: Any) -> str:
    text = read_text(value)
    if not text.isascii():
        raise ValueError(f"{text!r} cannot be sent as a user agent")
    return text


def _hidden(value: Any) -> str:
    """A text that is not quoted where it cannot be used."""
    try:
        return read_text(value)
    except ValueError:
        raise ValueError("what it is set to is not a line of text") from None


def _secret_url(value: Any) -> str:
    """An address whose password would be kept with a job: only by reference."""
    text = _hidden(value)
    refuse_clear_password(text)
    return text


def _endpoints(value: Any) -> tuple[str, ...]:
    return tuple(_endpoint(text) for text in read_texts(value))


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
        raise ValueError(f"{as_typed(value)} is not a table of names and their addresses")
    return {name: _endpoint(str(endpoint)) for name, endpoint in value.items()}


def _headers(value: Any) -> tuple[str, ...]:
    lines = read_texts([value] if isinstance(value, str) else value)
    for line in lines:
        refuse_clear_header(line)
    return lines


def _shown_names(kept: dict[str, str]) -> str:
    return ", ".join(f"{name}={endpoint}" for name, endpoint in kept.items())


AGENT = ValueType("text", _agent)
SECRET = ValueType(
    "secret", _hidden, lambda kept: kept if not kept or is_reference(kept) else "(hidden)", reference_behind=""
)
DATABASE = ValueType("address", _hidden, redacted)
SECRET_URL = ValueType("address", _secret_url, redacted, reference_behind="")
ENDPOINTS = ValueType("list of addresses", _endpoints, ", ".join, quoted=False)
HEADERS = ValueType(
    "list of headers", _headers, quoted=False, python=TABLE_OF_TEXTS, gather=tuple, reference_behind=":"
)
NAMES = ValueType(
    "table of names and addresses", _names, _shown_names, quoted=False, python=TABLE_OF_TEXTS, gather=dict
)
