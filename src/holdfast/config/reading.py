"""Settings from all their places, each with where it came from: flag over environment over files over default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from holdfast.config import files
from holdfast.config.secrets import is_reference, placed, secret
from holdfast.config.table import ALIASES, ELSEWHERE, KEYS, OBSOLETE, OF_A_FILE, PREFIX, SETTINGS, VARIABLES, Setting
from holdfast.config.trees import TREES, check_tree
from holdfast.config.trust import refuse_foreign
from holdfast.errors import BadParams
from holdfast.model.spelling import did_you_mean

DEFAULT = "default"
DEEPEST = 8  # tables in each other; no setting lies half as deep


class FoundSetting(msgspec.Struct, frozen=True):
    """A value as it was read, and where: an option, a variable, a file, or `default`. `typed` is what stood there."""

    value: Any
    origin: str
    typed: Any = None


class Reading(msgspec.Struct):
    """What all places together say. `alias_of` has the older names that were used, with the new key of each."""

    found: dict[str, FoundSetting] = {}
    trees: dict[str, dict[str, dict[str, Any]]] = msgspec.field(default_factory=lambda: {name: {} for name in TREES})
    origins: dict[tuple[str, str], str] = {}  # (tree, name) -> where it was said
    alias_of: dict[str, str] = {}
    obsolete: dict[str, str] = {}
    paths: tuple[Path, ...] = ()

    def __getitem__(self, key: str) -> FoundSetting:
        return self.found.get(key) or FoundSetting(KEYS[key].default, DEFAULT)


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where to look. `config` stands in for the nearest holdfast.toml; `flags` are options by their setting's key."""

    flags: Mapping[str, str] = {}
    environ: Mapping[str, str] | None = None
    config: Path | None = None
    start: Path | None = None


def read(places: Places) -> Reading:
    """Read every place, from the weakest to the strongest. BadParams names the place and what is wrong there."""
    environ = os.environ if places.environ is None else places.environ
    reading = Reading(paths=tuple(_paths(places, environ)))
    for path in reversed(reading.paths):
        add_document(reading, files.read_toml(path), path)
    _add_environment(reading, environ)
    for key, text in places.flags.items():
        row = KEYS[key]
        reading.found[key] = FoundSetting(_value(row, text, row.option), row.option, text)
    return reading


def _paths(places: Places, environ: Mapping[str, str]) -> list[Path]:
    """The files that are there, the strongest first."""
    near = places.config or files.nearest(places.start or Path())
    if near is not None and places.config is None:
        refuse_foreign(near)
    own = files.users_own(environ)
    return [path for path in (near, own) if path is not None and (path is places.config or path.is_file())]


def add_document(reading: Reading, document: dict[str, Any], path: Path) -> None:
    """What a file says, over what is there already."""
    for key, value in _leaves(document):
        if key in TREES:
            _add_tree(reading, key, value, str(path))
        else:
            _add(reading, key, value, str(path), path.parent)


def _leaves(table: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Dotted keys and their values, down to what the table of settings knows."""
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        key = f"{prefix}{name}"
        whole = key in KEYS or key in TREES or not isinstance(value, dict) or key.count(".") >= DEEPEST
        found += [(key, value)] if whole else _leaves(value, f"{key}.")
    return found


def _add(reading: Reading, key: str, value: Any, origin: str, folder: Path) -> None:
    alias = ALIASES.get(key.upper())
    if alias is not None and key not in KEYS:
        reading.alias_of[f"{key} ({origin})"] = alias.key
        key, value = alias.key, _in_form(alias.form, value)
    if key.upper() in OBSOLETE:
        reading.obsolete[f"{key} ({origin})"] = OBSOLETE[key.upper()]
        return
    row = KEYS.get(key)
    if row is None:
        raise BadParams(f"{origin}: there is no setting {key!r}{did_you_mean(key, (*KEYS, *TREES))}", hint=_WHERE)
    reading.found[key] = FoundSetting(_value(row, value, f"{origin}: {key}", folder), origin, value)


def _add_tree(reading: Reading, name: str, table: Any, origin: str) -> None:
    for each, fields in check_tree(TREES[name], table, where=origin).items():
        before = reading.trees[name].get(each, {}) if TREES[name].fields is not None else {}
        reading.trees[name][each] = {**before, **fields}
        reading.origins[name, each] = origin


def _add_environment(reading: Reading, environ: Mapping[str, str]) -> None:
    for variable in [name for name in environ if name.startswith(PREFIX)]:
        text = environ[variable]
        if not text:
            continue  # as good as not there: a shell has no easy way to take a variable back
        short = variable.removeprefix(PREFIX)
        row = VARIABLES.get(variable)
        if row is not None:
            reading.found[row.key] = FoundSetting(_value(row, text, variable, environ=environ), variable, text)
        elif short in ALIASES:
            _add_alias(reading, variable, text, environ)
        elif short in OBSOLETE:
            reading.obsolete[variable] = OBSOLETE[short]
        elif short.partition("__")[0].lower() in TREES:
            _add_tree(reading, *_branch(short, text, variable), variable)
        elif not _add_from_file(reading, variable, environ) and short not in ELSEWHERE:
            near = did_you_mean(variable, (*VARIABLES, *(PREFIX + name for name in ALIASES)))
            raise BadParams(f"the environment's {variable} names no setting{near}", hint=_WHERE)


def _add_alias(reading: Reading, variable: str, text: str, environ: Mapping[str, str]) -> None:
    """An older name; the new one wins where both are there."""
    alias = ALIASES[variable.removeprefix(PREFIX)]
    row = KEYS[alias.key]
    reading.alias_of[variable] = alias.key
    if row.variable not in environ:
        value = _value(row, _in_form(alias.form, text), variable, environ=environ)
        reading.found[alias.key] = FoundSetting(value, variable, text)


def _add_from_file(reading: Reading, variable: str, environ: Mapping[str, str]) -> bool:
    """`HOLDFAST_TOKEN_FILE`: the secret stands in that file."""
    row = VARIABLES.get(variable.removesuffix(OF_A_FILE)) if variable.endswith(OF_A_FILE) else None
    if row is None or not row.secret:
        return False
    if row.variable in environ:
        raise BadParams(f"{row.variable} and {variable} are both there; leave one of them out")
    kept = f"file:{environ[variable]}"
    reading.found[row.key] = FoundSetting(_value(row, kept, variable), variable, kept)
    return True


def _branch(short: str, text: str, variable: str) -> tuple[str, dict[str, Any]]:
    """`NOTIFY__OPS__WEBHOOK=…` as the table notify.ops; `HOSTS={ … }` as TOML writes it."""
    tree, *rest = (part.lower() for part in short.split("__"))
    if not rest:
        return tree, files.parse(f"x = {text}", where=variable)["x"]
    if len(rest) != 2:
        raise BadParams(f"the environment's {variable} names no setting", hint=_WHERE)
    return tree, {rest[0]: {rest[1]: text}}


def _value(
    row: Setting, typed: Any, where: str, folder: Path | None = None, environ: Mapping[str, str] | None = None
) -> Any:
    """The value as code wants it; a secret that the program itself needs is looked up now, one of a job when it runs.

    A path in a file is relative to the folder of that file.
    """
    try:
        value = row.kind.read(_unpacked(row, typed, where))
    except ValueError as error:
        raise BadParams(f"{where}: {error}") from None
    if row.key == "data" and folder is not None:
        value = str(folder / os.path.expanduser(value))
    if row.secret and is_reference(value):
        value = value if folder is None else placed(value, folder)
        return secret(value, what=where, environ=environ) if row.field else value
    return value


def _unpacked(row: Setting, typed: Any, where: str) -> Any:
    """In the environment a list or a table may be written as TOML writes it."""
    if isinstance(typed, str) and not row.kind.quoted and typed.lstrip().startswith(("[", "{")):
        return files.parse(f"x = {typed}", where=where)["x"]
    return typed


def _in_form(form: str, value: Any) -> Any:
    """The unit of an older name goes behind a bare number; `25s` keeps its own."""
    text = str(value)
    return form.format(text) if form != "{}" and text.replace(".", "", 1).isdigit() else value


_WHERE = "holdfast config show lists them all"
assert len(KEYS) == len(SETTINGS)
