"""Settings as rows for people and programs: key, value, where it came from. A secret is never among them."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.config.reading import Reading
from holdfast.config.secrets import is_reference, redacted
from holdfast.config.table import SETTINGS, Setting
from holdfast.config.toml import dotted
from holdfast.config.trees import TREES, UserTable
from holdfast.errors import BadParams
from holdfast.model.spelling import did_you_mean


class SettingRow(msgspec.Struct, frozen=True):
    """`value` is as a file or JSON would have it."""

    key: str
    value: Any
    origin: str
    used: bool
    secret: bool = False


def rows(reading: Reading) -> list[SettingRow]:
    """Every setting, whether somebody set it or not, then the tables that somebody wrote."""
    return [_row(row, reading) for row in SETTINGS] + [
        row for tree in TREES.values() for row in _tree_rows(tree, reading)
    ]


def row_of(reading: Reading, key: str) -> SettingRow:
    """The row of one key; BadParams with a suggestion where there is none."""
    found = rows(reading)
    for row in found:
        if row.key == key:
            return row
    raise BadParams(f"there is no setting {key!r}{did_you_mean(key, [row.key for row in found])}")


def _row(row: Setting, reading: Reading) -> SettingRow:
    found = reading[row.key]
    typed = found.typed
    if row.secret and isinstance(typed, str) and is_reference(typed):
        return SettingRow(row.key, typed, found.origin, row.used, secret=True)
    return SettingRow(row.key, row.kind.plain(found.value), found.origin, row.used, row.secret)


def _tree_rows(tree: UserTable, reading: Reading) -> list[SettingRow]:
    found: list[SettingRow] = []
    for name, fields in reading.trees[tree.name].items():
        for field, value in fields.items():
            kind = tree.fields.get(field) if tree.fields is not None else None
            shown = kind.plain(value) if kind is not None else _without_passwords(value)
            found.append(
                SettingRow(dotted((tree.name, name, field)), shown, reading.origins[tree.name, name], tree.used)
            )
    return found


def _without_passwords(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_passwords(each) for each in value]
    if isinstance(value, dict):
        return {name: _without_passwords(each) for name, each in value.items()}
    return redacted(value) if isinstance(value, str) else value
