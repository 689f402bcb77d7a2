"""`--columns url=Link,id=Number`: which column of a list is what, as a person says it. Each kind has its own fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from holdfast.errors import BadParams


def read_column_names(text: str, fields: Sequence[str], hint: str) -> dict[str, str]:
    """As a mapping from field to header name. BadParams says what is allowed; `hint` shows it."""
    mapping: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in _split(text))):
        field, equals, name = (word.strip() for word in part.partition("="))
        if not equals or not field or not name:
            raise BadParams(f"--columns: {part!r} is not FIELD=COLUMN", hint=hint)
        if field not in fields:
            near = get_close_matches(field, fields, n=1)
            guess = f"; did you mean {near[0]}?" if near else ""
            raise BadParams(f"--columns has no field {field!r}{guess}", hint=f"fields: {' '.join(fields)}")
        if field in mapping:
            raise BadParams(f"--columns names {field} twice", hint=hint)
        mapping[field] = name.strip('"')
    if not mapping:
        raise BadParams("--columns is empty", hint=hint)
    return mapping


def check_fields(columns: Mapping[str, str], fields: Sequence[str]) -> None:
    """BadParams where a mapping that was not typed as one text has a field that the kind has not."""
    for field in columns:
        if field not in fields:
            raise BadParams(f"columns has no field {field!r}", hint=f"fields: {' '.join(fields)}")


def _split(text: str) -> list[str]:
    """At commas, but not inside quotes: `title="Title, short"`."""
    return re.findall(r'(?:"[^"]*"|[^,"]|")+', text)
