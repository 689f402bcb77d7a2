"""One line of a job's log: for people to read and for searches to find, and as JSON where programs ask. Pure.

    2026-03-01T14:31:07.123Z WARNING [HOLDFAST][ERROR] job=J-7f3a target=T-9 code=http_404 message="HTTP 404"

The form is stable (LOG-01). A value that is more than one word, or could steer a terminal, is a JSON string.
"""

from __future__ import annotations

import json
import re
from typing import Any

from holdfast.clock import iso

LEVELS = ("debug", "info", "warning", "error")
PHASES = (
    "NAV", "PLAN", "TABLE", "DECISION", "BOX", "STATE", "ERROR", "REPLAY", "CSV", "RUN", "HEALTH", "WEBHOOK", "CONFIG",
    "RECOVERY",
)  # fmt: skip
VALUE_LENGTH_MAX = 2000
_PLAIN = re.compile(r"[A-Za-z0-9._:/?&%@+,~;=-]+")
_LINE = re.compile(r"(\S+) ([A-Z]+) +\[HOLDFAST\]\[([A-Z]+)\]((?: \w+=(?:\"(?:[^\"\\]|\\.)*\"|[^\s\"]*))*)")
_FIELD = re.compile(r" (\w+)=(\"(?:[^\"\\]|\\.)*\"|[^\s\"]*)")


def log_line(at_ms: int, level: str, phase: str, fields: dict[str, Any]) -> str:
    """The line; a field without a value is left out."""
    told = "".join(f" {name}={_spelled(value)}" for name, value in fields.items() if value is not None)
    return f"{iso(at_ms)} {level.upper():<7} [HOLDFAST][{phase}]{told}"


def read_line(text: str) -> dict[str, Any] | None:
    """The line as an object: at, level, phase, then its fields as texts. None if the line is not ours or is cut off."""
    found = _LINE.fullmatch(text)
    if found is None:
        return None
    try:
        fields = {name: json.loads(value) if value[:1] == '"' else value for name, value in _FIELD.findall(found[4])}
    except json.JSONDecodeError:
        return None
    return {"at": found[1], "level": found[2].lower(), "phase": found[3], **fields}


def _spelled(value: Any) -> str:
    text = str(value)[:VALUE_LENGTH_MAX]
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
