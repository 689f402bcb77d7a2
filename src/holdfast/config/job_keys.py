"""The keys of a job in a file: every option of the start commands, spelled with underscores (ux 3.2).

They are made from the table of job options (options.py) and from the options of each `Kind`.
"""

from __future__ import annotations

from functools import cache

import msgspec
from msgspec.structs import replace

from holdfast.config.options import OPTIONS
from holdfast.model.option import Option
from holdfast.recipe.kind import OWN_RECIPE, Kind
from holdfast.recipes import catalogue

COMMANDS: dict[str, str] = {entry.name: entry.command for entry in catalogue.ENTRIES}
ALL = frozenset({*COMMANDS.values(), OWN_RECIPE})


class JobKey(msgspec.Struct, frozen=True):
    """An option that job files have, and the start commands whose jobs have it."""

    option: Option
    commands: frozenset[str]


@cache
def job_keys() -> dict[str, JobKey]:
    """Every key by its name: what the kinds begin with, their own, and those of several or all of them."""
    kinds = catalogue.every_kind()
    rows = [JobKey(option, frozenset({kind.command})) for kind in kinds for option in kind.input_keys]
    rows += [JobKey(option, frozenset({kind.command})) for kind in kinds for option in kind.options]
    rows += [JobKey(option, _commands(option, kinds)) for option in OPTIONS]
    found: dict[str, JobKey] = {}
    for row in rows:  # what several kinds call alike is one key
        if row.option.is_key:
            known = found.setdefault(row.option.name, row)
            found[row.option.name] = replace(known, commands=known.commands | row.commands)
    return found


def _commands(option: Option, kinds: tuple[Kind, ...]) -> frozenset[str]:
    if option.commands is None:
        return ALL
    return option.commands | {kind.command for kind in kinds if option.name in kind.shared_keys}
