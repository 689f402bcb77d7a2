"""`holdfast db upgrade|backup|check`: the ledger's database. Only `upgrade` changes it, one transaction per step."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdfast import wiring
from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import clean
from holdfast.cli.screen.values import show_size
from holdfast.errors import BadParams, NotFound, UsageError
from holdfast.model.spelling import count_of

ACTIONS = ("upgrade", "backup", "check")


def arguments(parser: Parser) -> None:
    parser.add_argument("action", choices=ACTIONS, metavar="|".join(ACTIONS), help="what to do")
    parser.add_argument("-o", "--output", metavar="FILE", help="backup: where to (backups/ in the data folder)")


def run(call: Call) -> int:
    if call.options.output is not None and call.options.action != "backup":
        raise UsageError(f"db {call.options.action} writes no file; -o belongs to db backup")
    if not call.has_ledger():
        raise NotFound(f"there is no ledger in {call.settings.data} yet")
    return {"upgrade": _upgrade, "backup": _backup, "check": _check}[call.options.action](call)


def _upgrade(call: Call) -> int:
    before, after = wiring.upgrade(call.settings)
    if before == after:
        told = f"The ledger has schema {after} already; nothing was changed."
    else:
        told = f"The ledger was upgraded from schema {before} to {after}." if before else f"Schema {after} was made."
    _answer(call, {"action": "upgrade", "from": before, "to": after}, told)
    return exits.OK


def _backup(call: Call) -> int:
    path = Path(call.options.output) if call.options.output else _default(call)
    if path.exists():
        raise BadParams(f"{path} is there already; a backup overwrites nothing", hint="-o another-name.db")
    wiring.back_up(call.settings, path)
    size = wiring.size_of(path) or 0
    document = {"action": "backup", "path": str(path), "bytes": size}
    _answer(call, document, f"Wrote the ledger as of now to {path} ({show_size(float(f'{size:.3g}'))}).")
    return exits.OK


def _default(call: Call) -> Path:
    when = datetime.fromtimestamp(call.clock.wall_ms() / 1000, tz=UTC)
    return call.settings.data / "backups" / f"ledger-{when:%Y%m%dT%H%M%SZ}.db"


def _check(call: Call) -> int:
    """The store's own check, then the audit of every job."""
    from holdfast.audit.verify import verify

    with call.existing_ledger() as ledger:
        found = [f"the ledger's file is damaged: {text}" for text in ledger.damage()]
        jobs = [] if found else ledger.jobs()
        for job in jobs:
            found += [f"{job.name}: {each.check}: {each.sentence}" for each in verify(ledger.query, job.id)]
    told = f"The ledger is whole: {count_of(len(jobs), 'job')}, every check holds."
    _answer(call, {"action": "check", "ok": not found, "jobs": len(jobs), "findings": found}, "" if found else told)
    if found and not (call.globals.json or call.globals.jsonl):
        call.console.insist(f"{count_of(len(found), 'finding')}.")
        for sentence in found:
            call.console.insist(f"  {clean(sentence)}")
    return exits.CHECK_FAILED if found else exits.OK


def _answer(call: Call, document: dict[str, Any], told: str) -> None:
    if call.globals.json or call.globals.jsonl:
        call.console.document({"schema": "holdfast.db/1", **document})
    elif told:
        call.console.data(told)
