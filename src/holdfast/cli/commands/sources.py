"""`holdfast sources [sync|diff NAME]`: followed lists and their versions."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import columns
from holdfast.clock import iso
from holdfast.control.documents import KNOWN_SOURCES, ListAccess, meant_list, synced
from holdfast.control.list_store import ListStore
from holdfast.errors import NotFound, Refused, UsageError
from holdfast.model.job import Job, JobFilter, Options
from holdfast.recipes.documents.kind import KIND
from holdfast.recipes.documents.list_file import ListFile, ListShape
from holdfast.recipes.documents.recipe import DEFAULTS, DocumentsRecipe
from holdfast.recipes.documents.versions import Version, diff, last_good, problem_of
from holdfast.recipes.documents.versions import synced as cases_after

EPILOG = (
    "NAME is a source of the configuration, or the name of a docs job. `sync` looks at the list now and keeps a\n"
    "version where it has changed; no document is fetched. `diff` says what the newest version changed."
)


def arguments(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("words", nargs="*", metavar="[sync|diff] NAME", help="one list; without words all of them")
    parser.add_argument("--require-fresh", action="store_true", help="sync: fail if the list cannot be had")
    parser.add_argument("--accept-jump", action="store_true", help="sync: believe a list that doubled or halved")
    parser.add_argument("--allow-private", action="store_true", help="sync: permit private addresses")


def run(call: Call) -> int:
    words = call.options.words
    verb = words[0] if words and words[0] in ("sync", "diff") else ""
    names = words[1:] if verb else words
    if len(names) > 1 or (verb and not names):
        raise UsageError("sources takes one name", hint="holdfast sources sync NAME")
    store = ListStore(call.settings.artifacts, wiring.storage(call.settings).write_file)
    if verb == "sync":
        return _sync(call, store, names[0])
    if verb == "diff":
        return _diff(call, store, names[0])
    return _list(call, store, names)


def _params(call: Call, store: ListStore, name: str) -> tuple[dict[str, Any], Job | None]:
    """The params of the list of this name: those of a job that follows it, else those of the source."""
    job = _job(call, name)
    if job is not None:
        return job.params, job
    known = {**KNOWN_SOURCES, **call.settings.sites}
    if name not in known and store.versions(name):
        where = store.versions(name)[-1].source_url
        raise Refused(
            f"no job follows {name}, so that nothing says how it is read ({where})", hint=f"holdfast docs {where}"
        )
    if name not in known:
        hint = f"sources: {', '.join(call.settings.sites)}" if call.settings.sites else ""
        raise NotFound(f"there is no source or docs job {name!r}", hint=hint)
    return DocumentsRecipe(call.clock).check({**DEFAULTS, **(meant_list(name, call.settings.sites) or {})}), None


def _job(call: Call, name: str) -> Job | None:
    """The job of that name, or the one that follows the source of that name."""
    if not call.has_ledger():
        return None
    with call.existing_ledger() as ledger:
        jobs = ledger.jobs(where=JobFilter(recipe=KIND.name))
    return next((job for job in jobs if name in (job.name, job.uid, job.params.get("source"))), None)


def _jobs_by_source(call: Call) -> dict[str, list[str]]:
    """Names of the jobs that follow each list."""
    found: dict[str, list[str]] = {}
    if call.has_ledger():
        with call.existing_ledger() as ledger:
            for job in ledger.jobs(where=JobFilter(recipe=KIND.name)):
                found.setdefault(str(job.params.get("source")), []).append(job.name)
    return found


def _sync(call: Call, store: ListStore, name: str) -> int:
    params, job = _params(call, store, name)
    options = _options(call, job)
    good = last_good(store.versions(params["source"]), params["source"])
    with call.ledger() as ledger:
        access = ListAccess(
            store=store,
            open_fetcher=lambda url: wiring.list_fetcher(options, url),
            clock=call.clock,
            hosts=ledger,
            options=options,
            random=wiring.jitter,
            require_fresh=call.options.require_fresh,
            accept_jump=call.options.accept_jump,
        )
        found = synced(access, params, None)[1]
    changed = _changes(store, params, good, found.version) if found.is_new_version else None
    document = {
        "schema": "holdfast.source_sync/1",
        "source": params["source"],
        "version_id": found.version.number,
        "is_new_version": found.is_new_version,
        "csv_path": f"artifacts/{found.version.file_path}",
        "new_case_ids": list(changed.new) if changed else [],
        "changed_case_ids": list(changed.changed) if changed else [],
        "removed_case_ids": list(changed.removed) if changed else [],
        "told": found.told,
    }
    if call.globals.json:
        call.console.document(document)
        return 0
    if found.told:
        call.console.insist(found.told)
    rows = f"{found.version.row_count} rows"
    if changed is None:
        word = "not believed" if found.told else "unchanged"
        call.console.data(f"{name}: {word}; version {found.version.number} serves ({rows})\n")
    else:
        counts = f"{len(changed.new)} new, {len(changed.changed)} changed, {len(changed.removed)} removed"
        call.console.data(f"{name}: version {found.version.number}, {rows}: {counts}\n")
        if job is not None:
            call.console.say(f"To get them: holdfast docs {job.word} --mode new")
    return 0


def _options(call: Call, job: Job | None) -> Options:
    """How the list is asked for: as its job says, else as the configuration does; and what was typed for this look."""
    known = {name: value for name, value in call.settings.pace.items() if name in Options.__struct_fields__}
    options = Options(**known) if job is None else job.options
    return replace(options, allow_private=True) if call.options.allow_private else options


def _changes(store: ListStore, params: dict[str, Any], before: Version | None, after: Version) -> Any:
    """What a version changed against the good one before it."""
    shape = ListShape.of(params)
    cases = {} if before is None else cases_after({}, _entries(store, before, shape), before.number)
    return diff(cases, _entries(store, after, shape))


def _entries(store: ListStore, version: Version, shape: ListShape) -> tuple[Any, ...]:
    found: dict[str, Any] = {}
    for entry in ListFile.open(store.path(version), shape).entries():
        found.setdefault(entry.key, entry)
    return tuple(found.values())


def _diff(call: Call, store: ListStore, name: str) -> int:
    params, _ = _params(call, store, name)
    good = [version for version in store.versions(params["source"]) if version.valid]
    if not good:
        raise NotFound(f"{name} has no version yet", hint=f"holdfast sources sync {name}")
    changed = _changes(store, params, good[-2] if len(good) > 1 else None, good[-1])
    if call.globals.json:
        document = {word: list(getattr(changed, word)) for word in ("new", "changed", "removed", "returned")}
        changes = [{"key": c.key, "field": c.field, "before": c.before, "after": c.after} for c in changed.changes]
        call.console.document({"schema": "holdfast.source_diff/1", "source": params["source"],
                               "version": good[-1].number, **document, "changes": changes})  # fmt: skip
        return 0
    rows = [(word, key) for word in ("new", "removed") for key in getattr(changed, word)]
    rows += [("changed", f"{c.key}: {c.field} {c.before!r} -> {c.after!r}") for c in changed.changes]
    call.console.data(columns([("WHAT", "DOCUMENT"), *rows]) if rows else "nothing has changed\n")
    return 0


def _list(call: Call, store: ListStore, names: list[str]) -> int:
    known = {**KNOWN_SOURCES, **call.settings.sites}
    used = sorted({*call.settings.sites, *store.sources()})  # a source that is only known is no list of anybody's
    stored = set(store.sources())
    wanted = [name if name in stored else _params(call, store, name)[0]["source"] for name in names] or used
    jobs = _jobs_by_source(call)
    rows: list[dict[str, Any]] = []
    for source in wanted:
        versions = store.versions(source)
        good = last_good(versions, source)
        place = versions[-1].source_url if versions else known.get(source, {}).get("url", "")
        problem = problem_of(versions)
        rows.append({
            "source": source, "job": ", ".join(jobs.get(source, ())), "list": place,
            "versions": len(versions), "serves": good.number if good else None,
            "rows": good.row_count if good else None, "at": iso(good.fetched_at_ms) if good else None,
            "problem": problem.error_message if problem else "",
        })  # fmt: skip
    if call.globals.json:
        call.console.document({"schema": "holdfast.sources/1", "sources": rows, "next_cursor": None})
        return 0
    table = [tuple("" if row[name] is None else str(row[name]) for name in row) for row in rows]
    call.console.data(columns([("SOURCE", "JOB", "LIST", "VERSIONS", "SERVES", "ROWS", "SINCE", "PROBLEM"), *table]))
    return 0
