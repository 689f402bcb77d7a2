"""Jobs as files describe them: from a TOML table to a `JobDescription`, checked key by key. Pure; it starts nothing.

A job is a table `job.NAME` in `holdfast.toml`, or a file of its own with the same keys.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.config.files import read_toml
from holdfast.config.job_description import JobDescription
from holdfast.config.job_keys import COMMANDS, job_keys
from holdfast.config.rows import refuse_reach
from holdfast.config.secrets import placed
from holdfast.config.table import KEYS
from holdfast.errors import BadParams
from holdfast.model.option import INPUT, Option
from holdfast.model.spelling import did_you_mean
from holdfast.recipe.kind import OWN_RECIPE
from holdfast.recipes.catalogue import is_built_in


def read_job_file(path: Path, row: Mapping[str, str] | None = None) -> JobDescription:
    """The job of a file of its own, its placeholders filled from a row of a list where there is one."""
    return job_in(read_toml(path), path, row)


def job_in(document: dict[str, Any], path: Path, row: Mapping[str, str] | None = None) -> JobDescription:
    """The one job that this document describes: with its keys at the top, or as the only table `job.NAME`."""
    where, name = str(path), None
    if isinstance(document.get("job"), dict):
        jobs = document["job"]
        if len(jobs) != 1 or len(document) != 1:
            raise BadParams(f"{path}: a job file describes one job, and nothing else", hint=", ".join(jobs))
        [(name, document)] = jobs.items()
        where = f"{path}: job.{name}"
    table = document
    if row is not None:
        table = filled(document, row, where=where)
        refuse_reach(document, table, path.parent)
    return description(name, table, where=where, folder=path.parent)


def description(
    name: str | None, table: Mapping[str, Any], *, where: str, folder: Path | None = None
) -> JobDescription:
    """The job that one table describes, checked; BadParams names the key, with a suggestion where one is near."""
    kind = _kind(table, where)
    command = COMMANDS.get(kind, OWN_RECIPE)
    keys = job_keys()
    found: dict[str, Any] = {}
    pace: dict[str, Any] = {}
    for key, value in table.items():
        if key in ("kind", "name"):
            continue
        row = keys.get(key)
        if row is None:
            pace |= _pace(key, value, where)
        elif command not in row.commands:
            raise BadParams(f"{where}: a job of kind {kind!r} has no {key}")
        else:
            found[key] = _read(row.option, value, where)
    inputs = next((_as_tuple(found.pop(key)) for key in tuple(found) if keys[key].option.part == INPUT), ())
    return JobDescription(
        kind=_own_recipe(kind, folder) if command == OWN_RECIPE else kind,
        name=table.get("name", name),
        inputs=inputs,
        options={key: _placed(key, value, folder) for key, value in found.items() if key != "params"},
        params=found.get("params", {}),
        pace=pace,
        where=where,
    )


def words(description: JobDescription) -> list[str]:
    """The job as the words of its start command, so that both are checked and obeyed by the same code."""
    found = [description.kind] if description.command == OWN_RECIPE else []
    for text in description.inputs:
        if text.startswith("-"):
            raise BadParams(f"{description.where}: {text!r} cannot be where a job begins")
    found += description.inputs
    found += [] if description.name is None else [f"--name={description.name}"]
    for key, value in description.options.items():
        found += _words(job_keys()[key].option, value)
    return found + [f"--param={name}={value}" for name, value in description.params.items()]


def filled(table: Mapping[str, Any], row: Mapping[str, str], *, where: str) -> dict[str, Any]:
    """The table with `{column}` in its texts replaced by what the row of a list has there."""

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: fill(each) for key, each in value.items()}
        if isinstance(value, list):
            return [fill(each) for each in value]
        return _filled(value, row, where) if isinstance(value, str) else value

    return {key: fill(value) for key, value in table.items()}


def _filled(text: str, row: Mapping[str, str], where: str) -> str:
    try:
        return text.format_map(row)
    except (KeyError, ValueError, IndexError, AttributeError):
        known = ", ".join(f"{{{name}}}" for name in row)
        raise BadParams(f"{where}: {text!r} has a placeholder that is not a column of the list", hint=known) from None


def _kind(table: Mapping[str, Any], where: str) -> str:
    kind = table.get("kind", "site")
    if not isinstance(kind, str) or not kind:
        raise BadParams(f'{where}: kind must be a text such as "site", not {kind!r}')
    name = table.get("name", "")
    if not isinstance(name, str):
        raise BadParams(f"{where}: name must be a text, not {name!r}")
    if not is_built_in(kind) and not any(mark in kind for mark in ".:/"):
        raise BadParams(
            f"{where}: there is no kind {kind!r}{did_you_mean(kind, COMMANDS)}",
            hint="a recipe of one's own is FILE.py or MODULE:RECIPE",
        )
    return kind


def _read(row: Option, value: Any, where: str) -> Any:
    """The value in the form that was written, once it is known to be right: units are for people."""
    try:
        read = row.type.read(value)
    except ValueError as error:
        raise BadParams(f"{where}: {row.name}: {error}") from None
    return value if row.type.quoted or isinstance(value, (int, float)) else row.type.plain(read)


def _pace(key: str, value: Any, where: str) -> dict[str, Any]:
    """A setting inside a job, such as `http.timeout`: only those that are kept with a job."""
    if isinstance(value, dict) and key not in KEYS:
        found: dict[str, Any] = {}
        for name, each in value.items():
            found |= _pace(f"{key}.{name}", each, where)
        return found
    row = KEYS.get(key)
    if row is None:
        known = (*job_keys(), *(name for name, each in KEYS.items() if each.pace), "kind", "name")
        raise BadParams(f"{where}: a job has no key {key!r}{did_you_mean(key, known)}")
    if not row.pace:
        raise BadParams(f"{where}: {key} cannot be set for one job", hint=f"set it in holdfast.toml or {row.variable}")
    try:
        return {row.pace: row.kind.read(value)}
    except ValueError as error:
        raise BadParams(f"{where}: {key}: {error}") from None


def _as_tuple(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _placed(key: str, value: Any, folder: Path | None) -> Any:
    """Paths in a file are relative to it, also those of secrets; `-` is stdout."""
    row = job_keys()[key].option
    if folder is None or value == "-" or not (row.is_path or row.is_secret):
        return value
    if isinstance(value, (list, tuple)):
        return [_placed(key, each, folder) for each in value]
    if row.is_path:
        return str(folder / os.path.expanduser(value))
    before, rest = row.parted(value)
    return f"{before} {placed(rest, folder)}".lstrip()


def _own_recipe(kind: str, folder: Path | None) -> str:
    return str(folder / kind) if folder is not None and kind.partition(":")[0].endswith(".py") else kind


def _words(row: Option, value: Any) -> list[str]:
    if not row.flag or value is False:
        return []
    if value is True:
        return [row.flag]
    if isinstance(value, dict):
        value = [f"{name}={each}" for name, each in value.items()]
    texts = [value] if not isinstance(value, (list, tuple)) else [",".join(value)] if row.joined else value
    return [f"{row.flag}={text}" for text in texts]
