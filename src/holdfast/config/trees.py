"""Tables whose names the user chooses: a host, a receiver, an engine, a job. Their fields are checked here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.config import types
from holdfast.errors import BadParams
from holdfast.model.spelling import did_you_mean
from holdfast.model.value_types import ValueType


class UserTable(msgspec.Struct, frozen=True):
    """`fields` is None where another module knows them."""

    name: str
    meaning: str
    fields: Mapping[str, ValueType] | None
    used: bool = True


# A court that is asked by its search and not by a URL per case: docs/cases.md.
SEARCHED: dict[str, ValueType] = {
    **dict.fromkeys(("client", "court", "search", "detail", "rows", "number", "title", "echo"), types.TEXT),
    **dict.fromkeys(("tab", "input", "submit", "row", "open", "modal", "busy"), types.TEXT),
    "settle": types.duration_ms(0, 60),
}

TREES: dict[str, UserTable] = {
    tree.name: tree
    for tree in (
        UserTable(
            "hosts",
            'delay and concurrency of one host: `hosts."judicial.ky" = { delay = "2s", concurrency = 1 }`',
            {"delay": types.duration_ms(0, 3600), "concurrency": types.clamped(1, 256)},
        ),
        UserTable("job", "a job that `holdfast crawl NAME` starts: [job files](job-files.md)", None),
        UserTable(
            "sources",
            "where cases or lists are: its `url`, for `holdfast cases … --url NAME` and the lists of `docs`; of a "
            "list without addresses also its `site` and the `hosts` of its files; of a court with a search its "
            "`search` and `detail`: [a court's numbers](cases.md)",
            {"url": types.TEXT, "site": types.TEXT, "hosts": types.TEXTS, **SEARCHED},
        ),
        UserTable(
            "notify",
            "who is told what: `webhook`, `mail` or `command`, with `on` and `after`",
            {
                "webhook": types.SECRET_URL,
                "mail": types.TEXT,
                "command": types.TEXT,
                "on": types.TEXTS,
                "after": types.whole(1, 10**6),
            },
            used=False,
        ),
        UserTable("engines", "an image search engine and its `base_url`", {"base_url": types.TEXT}),
    )
}


def check_tree(tree: UserTable, table: Any, *, where: str) -> dict[str, dict[str, Any]]:
    """The tables of one tree with their values read; BadParams says which field of which one cannot be used."""
    if not isinstance(table, dict) or not all(isinstance(fields, dict) for fields in table.values()):
        raise BadParams(f"{where}: {tree.name} is a table of tables, such as {tree.name}.NAME = {{ … }}")
    if tree.fields is None:
        return table
    return {name: _checked(tree.name, name, fields, tree.fields, where) for name, fields in table.items()}


def _checked(
    tree: str, name: str, fields: dict[str, Any], known: Mapping[str, ValueType], where: str
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field, value in fields.items():
        key = f"{tree}.{spelled(name)}.{field}"
        if field not in known:
            hint = f'a name with dots stands in quotes: {tree}."example.org"' if isinstance(value, dict) else ""
            raise BadParams(f"{where}: there is no setting {key}{did_you_mean(field, known)}", hint=hint)
        try:
            found[field] = known[field].read(value)
        except ValueError as error:
            raise BadParams(f"{where}: {key}: {error}") from None
    return found


def spelled(name: str) -> str:
    """A name as a TOML key: in quotes where it needs them."""
    import json

    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if plain else json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
