"""JSON as search engines send it: sometimes with escapes that JSON does not know, sometimes nested to do harm."""

from __future__ import annotations

import json
import re
from typing import Any

_ESCAPE = re.compile(r'\\(?:(u[0-9a-fA-F]{4}|["\\/bfnrt])|(\'))?')


def loads(text: str) -> Any:
    """As `json.loads`; ValueError for anything that is no JSON, also where it is nested too deeply to be read."""
    try:
        return json.loads(text, strict=False, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def loads_leniently(text: str) -> Any:
    """The same, where a backslash before a letter that JSON does not escape stands for itself, and `\\'` for `'`."""
    return loads(_ESCAPE.sub(_mended, text))


def _mended(escape: re.Match[str]) -> str:
    if escape[1]:
        return escape[0]
    return "'" if escape[2] else "\\\\"


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
