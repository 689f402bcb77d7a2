"""Rows of a list are data from elsewhere: what a cell may not choose, because it would reach beyond its job. Pure but
for links, which are followed.

A template may name an environment variable, a file, a folder outside or the code of a recipe; a cell may not. Behind
`file:` of a template it may choose among the files of the folder that the template names, behind `env:` nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.config.job_keys import job_keys
from holdfast.config.secrets import REFERENCES, is_reference
from holdfast.errors import BadParams
from holdfast.recipes.catalogue import is_built_in

STDOUT = "-"
FILE = "file:"


def refuse_reach(template: Mapping[str, Any], table: Mapping[str, Any], folder: Path) -> None:
    """BadParams where a cell, put into the template's table, names a secret, code, or a path outside."""
    for key, before, after in _changed("", template, table):
        if key == "kind" and not is_built_in(after):
            raise BadParams(f"kind: a cell may not name the code of a recipe: {after!r}")
        if _is_path(key) and after != STDOUT and not _is_inside(after, before, folder):
            raise BadParams(f"{key}: a cell may not lead out of {_folder_of(before, folder)}: {after!r}")
        if _names_secret(key, after) and not _names_secret(key, before):
            forms = " or ".join(REFERENCES)
            raise BadParams(f"{key}: a cell may not name a secret ({forms}); the template may")
        _refuse_choice(key, _reference(key, before), _reference(key, after), folder)


def _refuse_choice(key: str, before: str, after: str, folder: Path) -> None:
    """BadParams where a cell, behind `env:` or `file:` of the template, chooses what it may not."""
    if before == after:
        return
    named, chosen = before.removeprefix(FILE), after.removeprefix(FILE)
    if not (before.startswith(FILE) and after.startswith(FILE)):
        raise BadParams(
            f"{key}: a cell may not choose an environment variable: {after!r}",
            hint="env:NAME with a name of the template's, or file:FOLDER/{column}",
        )
    if not _is_inside(chosen, named, folder):
        raise BadParams(f"{key}: a cell may not lead out of {_folder_of(named, folder)}: {after!r}")


def _changed(key: str, before: Any, after: Any) -> Iterator[tuple[str, str, str]]:
    """Of every text that a cell is part of: the key at the top, the template's text, the text with the cells in it."""
    if isinstance(before, dict):
        for name in before:
            yield from _changed(key or name, before[name], after[name])
    elif isinstance(before, list):
        for one, other in zip(before, after, strict=True):
            yield from _changed(key, one, other)
    elif isinstance(before, str) and before != after:
        yield key, before, after


def _names_secret(key: str, text: str) -> bool:
    return bool(_reference(key, text))


def _reference(key: str, text: str) -> str:
    """What is read as a reference there, by an option that may name a secret or a setting inside the job; else ""."""
    row = job_keys().get(key)
    if row is not None and not row.option.is_secret:
        return ""
    found = text.strip() if row is None else row.option.parted(text)[1]
    return found if is_reference(found) else ""


def _is_path(key: str) -> bool:
    row = job_keys().get(key)
    return row is not None and row.option.is_path


def _is_inside(text: str, template: str, folder: Path) -> bool:
    return _folder_of(template, folder).resolve() in (folder / os.path.expanduser(text)).resolve().parents


def _folder_of(template: str, folder: Path) -> Path:
    """What the template itself names before the first placeholder, as far as it is a folder."""
    return folder / os.path.expanduser(template.partition("{")[0].rpartition("/")[0] or ".")
