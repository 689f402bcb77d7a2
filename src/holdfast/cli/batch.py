"""`holdfast run LIST.csv --template FILE.toml`: one job per row of a list, one after the other.

Every row is read and checked before the first job begins. The same command again goes on: jobs that are done say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.job_files import run_wish
from holdfast.cli.text import count_of
from holdfast.cli.wishes import check_name
from holdfast.config.files import read_text, read_toml
from holdfast.config.jobfile import JobWish, job_in
from holdfast.errors import BadParams, Refused, UsageError

STOPS = (exits.INTERRUPTED, exits.DISK_FULL, exits.UNREACHABLE)  # what would meet the next job too


def run_list(call: Call, path: Path) -> int:
    """Work every job of the list; the exit code is the one that counts most."""
    template = call.options.template
    if template is None:
        raise UsageError(f"{path} is a list; what is to be made of its rows?", hint="--template FILE.toml")
    for option in ("name", "output"):
        if getattr(call.options, option) is not None:
            raise UsageError(f"--{option} is one, and the jobs are many", hint=f'{option} = "{{column}}" in {template}')
    wanted = list(_wishes(path, Path(template)))
    batch = replace(call, settings=replace(call.settings, pace={**call.settings.pace, "batch": path.stem}))
    call.voice.say(f"{path.stem}: {count_of(len(wanted), 'job')}")
    done: list[dict[str, Any]] = []
    for line, wish in wanted:
        code = _worked(batch, wish)
        done.append(
            {"line": line, "name": wish.name, "kind": wish.kind, "inputs": list(wish.inputs), "exit_code": code}
        )
        if code in STOPS:
            break
    if call.globals.json:
        call.voice.document({"schema": "holdfast.batch/1", "list": str(path), "rows": len(wanted), "jobs": done})
    return exits.worst([row["exit_code"] for row in done])


def _worked(call: Call, wish: JobWish) -> int:
    """One job; one that cannot be worked is said and does not stop the next."""
    alone = replace(call, globals=replace(call.globals, fields=None))
    try:
        return run_wish(alone, wish)
    except UsageError as error:
        call.voice.complain(Refused(f"{wish.where}: {error.message}", hint=error.hint))
        return exits.of_error(error)


def _wishes(path: Path, template: Path) -> Iterator[tuple[int, JobWish]]:
    """Each row with its line in the file."""
    if not template.is_file():
        raise BadParams(f"--template: there is no file {template}")
    document = read_toml(template)
    names: dict[str, int] = {}
    for line, row in _rows(path):
        wish = replace(job_in(document, template, row), where=f"{path}:{line}")
        if wish.name is not None:
            check_name(wish.name)
            if wish.name in names:
                raise BadParams(f"{path}:{line}: the name {wish.name!r} is that of line {names[wish.name]} too")
            names[wish.name] = line
        yield line, wish


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    import csv

    if not path.is_file():
        raise BadParams(f"there is no list {path}")
    reader = csv.reader(read_text(path).splitlines(keepends=True), strict=True)
    try:
        head = next(reader, [])
        if not head or len(set(head)) < len(head) or not all(name.strip() for name in head):
            raise BadParams(f"{path}: its first line must name the columns, each once")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(head):
                raise BadParams(f"{path}:{reader.line_num} has {len(cells)} cells, not {len(head)}")
            yield reader.line_num, dict(zip((name.strip() for name in head), map(str.strip, cells), strict=True))
    except csv.Error as error:
        raise BadParams(f"{path}:{reader.line_num} is not CSV: {error}") from None
