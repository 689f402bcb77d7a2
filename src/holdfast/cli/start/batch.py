"""`holdfast run LIST.csv --template FILE.toml`: one job per row of a list, one after the other.

Every row is read and checked before the first job begins, or an earlier one is changed. The same command again goes on:
jobs that are done say so.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.signals import SignalHandlers
from holdfast.cli.start.job_files import check_described, run_described
from holdfast.config.job_description import JobDescription
from holdfast.config.lists import descriptions_in_list
from holdfast.errors import Refused, UsageError
from holdfast.model.spelling import as_word, count_of

STOPS = (exits.INTERRUPTED, exits.DISK_FULL, exits.UNREACHABLE)  # what would meet the next job too


def run_list(call: Call, path: Path) -> int:
    """Work every job of the list; the exit code is the one that counts most."""
    template = call.options.template
    if template is None:
        raise UsageError(f"{path} is a list; what is to be made of its rows?", hint="--template FILE.toml")
    for option in ("name", "output"):
        if getattr(call.options, option) is not None:
            raise UsageError(f"--{option} is one, and the jobs are many", hint=f'{option} = "{{column}}" in {template}')
    handlers = SignalHandlers(call.settings.pause_deadline_s)
    settings = replace(call.settings, pace={**call.settings.pace, "batch": path.stem})
    batch = replace(call, settings=settings, handlers=handlers)
    with call.ledger() if call.has_ledger() else nullcontext() as ledger:
        wanted = descriptions_in_list(
            path, Path(template), lambda description: check_described(_alone(batch), description, ledger)
        )
    call.console.say(f"{path.stem}: {count_of(len(wanted), 'job')}")
    if not wanted:
        call.console.say(f"{path} has no rows behind its first line, which names the columns; there is nothing to do.")
    done: list[dict[str, Any]] = []
    for line, description in wanted:
        code = _worked(batch, description)
        done.append(
            {
                "line": line,
                "name": description.name,
                "kind": description.kind,
                "inputs": list(description.inputs),
                "exit_code": code,
            }
        )
        if code in STOPS or handlers.stopped:
            break
    if len(done) < len(wanted):
        rows = f"{len(wanted) - len(done)} of {count_of(len(wanted), 'row')} not begun"
        again = f"holdfast run {as_word(str(path))} --template {as_word(template)}"
        call.console.say(f"{path}: {rows}. To go on with all of them: {again}")
    if call.globals.json:
        call.console.document({"schema": "holdfast.batch/1", "list": str(path), "rows": len(wanted), "jobs": done})
    left = [exits.INTERRUPTED] if handlers.stopped and len(done) < len(wanted) else []
    return exits.worst([*(row["exit_code"] for row in done), *left])


def _alone(call: Call) -> Call:
    """Of one job of many: --json is answered for all of them together."""
    return replace(call, globals=call.globals._replace(fields=None))


def _worked(call: Call, description: JobDescription) -> int:
    """One job; one that cannot be worked is said and does not stop the next."""
    try:
        return run_described(_alone(call), description)
    except UsageError as error:
        call.console.complain(Refused(f"{description.where}: {error.message}", hint=error.hint))
        return exits.of_error(error)
