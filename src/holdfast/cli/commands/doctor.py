"""`holdfast doctor`: is everything in order? A failed required check exits 9. --repair does what is safe."""

from __future__ import annotations

from holdfast.cli import exits
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import clean, table
from holdfast.config import Settings, add_env_file
from holdfast.health_checks import STORED_PAGES, HealthCheck, examine, repair

READS_SETTINGS_ITSELF = True  # settings that cannot be used are its first finding


def arguments(parser: Parser) -> None:
    parser.add_argument(
        "--repair",
        action="store_true",
        help="free what dead workers hold, put back lost pages, remove what killed commands left",
    )
    parser.add_argument(
        "--deep", action="store_true", help="also read every file of documents and images, and compare its sha256"
    )


def run(call: Call) -> int:
    typed = call.globals
    if typed.env_file is not None:
        add_env_file(typed.env_file)
    settings, checks = _examined(call)
    repaired: list[str] = []
    if call.options.repair and settings is not None and _may_mend(checks):
        repaired = repair(settings, deep=call.options.deep)
        settings, checks = _examined(call)
    if typed.json or typed.jsonl:
        rows = [{"name": each.name, "ok": each.ok, "required": each.required, "detail": each.detail} for each in checks]
        call.console.document(
            {"schema": "holdfast.health/1", "ok": _is_fit(checks), "checks": rows, "repaired": repaired}
        )
    else:
        _tell(call, checks, repaired)
    return exits.OK if _is_fit(checks) else exits.CHECK_FAILED


def _examined(call: Call) -> tuple[Settings | None, list[HealthCheck]]:
    typed = call.globals
    return examine(data=typed.data, database=typed.database, config_file=typed.config, deep=call.options.deep)


def _may_mend(checks: list[HealthCheck]) -> bool:
    """Only lost pages may be wrong: into a ledger that is unfit, or onto a full disk, nothing is written."""
    return all(each.ok for each in checks if each.required and each.name != STORED_PAGES)


def _is_fit(checks: list[HealthCheck]) -> bool:
    return all(each.ok for each in checks if each.required)


def _tell(call: Call, checks: list[HealthCheck], repaired: list[str]) -> None:
    words = {(True, True): "ok", (True, False): "ok", (False, True): "FAILED", (False, False): "look"}
    call.console.data(
        table(("CHECK", "", "DETAIL"), [(each.name, words[each.ok, each.required], each.detail) for each in checks])
    )
    for sentence in repaired:
        call.console.insist(clean(sentence))
    if call.options.repair and not repaired:
        call.console.say(
            "Nothing was mended." if _is_fit(checks) else "Nothing was mended: this is not safe to mend here."
        )
