"""`holdfast docs CSV|URL|NAME`: every document that a list names, and next month only the new ones."""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.start import job_options, recipe_jobs
from holdfast.cli.start.outputs import FILES, is_folder
from holdfast.clock import SystemClock
from holdfast.control.documents import (
    TRIGGERS,
    ListAccess,
    followed_list,
    grow,
    limited,
    meant_list,
    synced,
)
from holdfast.control.list_store import ListStore
from holdfast.control.list_sync import told_of
from holdfast.control.reopen import rescan
from holdfast.control.submit import JobRequest
from holdfast.control.webhook import NEW_LIMIT_MAX, WEBHOOK, answer, bounded, clamped, log_clamped
from holdfast.errors import UsageError
from holdfast.model.job import Job, Options
from holdfast.model.spelling import count_of
from holdfast.ports import Ledger
from holdfast.recipes.documents.columns import read_columns
from holdfast.recipes.documents.kind import KIND
from holdfast.recipes.documents.list_file import ListFile, ListShape, sound
from holdfast.recipes.documents.options import HEADING
from holdfast.recipes.documents.recipe import DocumentsRecipe
from holdfast.recipes.documents.table import ListRefused

EPILOG = (
    "The list is a CSV file or its URL. --columns says which of its columns is what: `url` has the address of the\n"
    "file, `id` names it. The same command later looks at the list again and goes on; --mode new also of a complete\n"
    "job. Files lie in DATA/artifacts/pdfs and files; -o FOLDER/ or FILE.zip also copies them there."
)
ADDRESSES_LOOKED_AT = 20
MODE_HELP = (
    "what to do with a completed job: new gets new and changed rows and what failed, full too, and all with --refetch "
    "(resume)"
)


def arguments(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("what", nargs="*", metavar="CSV|URL|NAME", help="a list, a source's name, or a job's name")
    recipe_jobs.arguments(parser, KIND, mode_help=MODE_HELP)
    job_options.headed(parser, HEADING).add_argument(
        "--trigger",
        choices=("cli", *TRIGGERS),
        default="cli",
        help=f"what started it, as its history says; webhook: --mode new, and at most {NEW_LIMIT_MAX} documents",
    )


def run(call: Call) -> int:
    call = _meant(call)
    if call.options.limit and call.options.max_pages:
        raise UsageError("--limit and --max-pages are two words for one thing here; leave --max-pages out")
    if call.options.trigger == WEBHOOK:
        _refuse_more(call)
    if call.options.to is None and call.options.output and is_folder(call.options.output):
        call.options.to = FILES
    if call.options.trigger == WEBHOOK and not call.options.dry_run:
        return _triggered(call)
    return recipe_jobs.start(call, KIND, lambda ledger: _asked(call, ledger, writes=not call.options.dry_run))


def _refuse_more(call: Call) -> None:
    """NOT-05: a webhook asks for what is new."""
    if call.options.mode not in (None, "new") or call.options.refetch:
        raise UsageError("a webhook starts a run for new documents only", hint="--trigger webhook --mode new")
    call.options.mode = "new"


def _triggered(call: Call) -> int:
    """NOT-06: a bounded number of new documents, and the run in four numbers."""
    asked, call.options.limit = call.options.limit, bounded(call.options.limit)
    if said := clamped(asked):
        call.console.say(said)
    made: list[JobRequest] = []

    def request(ledger: Ledger | None) -> JobRequest:
        made.append(_asked(call, ledger, writes=True))
        return made[-1]

    code = recipe_jobs.start(call, KIND, request)
    with call.ledger() as ledger:
        job = made[-1].known(ledger)
        if job is not None:
            log_clamped(wiring.journal(call.settings, job), asked)
            storage = wiring.storage(call.settings)
            told = answer(ledger, job, storage.artifacts, storage.write_file)
            numbers = ", ".join(f"{count} {name}" for name, count in told["summary"].items())
            call.console.say(f"{WEBHOOK}: {numbers} ({told['run_id']}, version {told['csv_version_id']} of the list)")
    return code


def check(call: Call, ledger: Ledger | None) -> str:
    """Raise what `run` would find wrong with what is asked for; nothing is written. No ledger: no jobs yet."""
    call = _meant(call)
    return recipe_jobs.check(call, _asked(call, ledger, writes=False), ledger)


def _meant(call: Call) -> Call:
    """The call, with what holdfast.toml says of the job that it names."""
    if call.settings.jobs:
        from holdfast.cli.start.job_files import configured

        call = configured(call)
    if len(call.options.what) > 1:
        raise UsageError("docs takes one list; several lists are several jobs")
    if not call.options.what and call.options.name is None:
        raise UsageError("docs needs a list, or the name of a job", hint="holdfast docs list.csv --columns url=Link")
    return call


def _asked(call: Call, ledger: Ledger | None, *, writes: bool) -> JobRequest:
    recipe = DocumentsRecipe(SystemClock())
    named, given = _given(call, ledger)
    params = recipe.check({**(named.params if named else {}), **given})
    request = _request(call, recipe, params, named)
    known = None if ledger is None or call.options.new else request.known(ledger)
    if known is not None:
        params = recipe.check({**recipe_jobs.of_kind(known, KIND).params, **given})
        request = _request(call, recipe, params, known)
    if not writes and call.options.dry_run and "://" in params["list"] and not params["versions"]:
        raise UsageError(
            "--dry-run fetches nothing, so it cannot read a list from a URL before the job has it",
            hint="save the list as a file, or --start-paused: the list is read and no document is fetched",
        )
    if not writes and call.options.dry_run:
        params = _as_listed(call, params, known)
    if not writes or ledger is None or not _looks(call, known):
        return _request(call, recipe, params, known or named, ledger if writes else None)
    if known is not None:
        recipe_jobs.refuse_other_params(call, known, params)
    options = request.options(known or named)  # started over, a job keeps what was not typed anew
    if known is None:
        recipe_jobs.refuse_private(options, [params["list"]])
    after, found = synced(_access(call, ledger, options, is_first=known is None), params, known)
    if found.told:
        call.console.insist(found.told)
    if known is None:
        return _request(call, recipe, after, named)
    more = after["planned"] - params["planned"]
    if after != params:
        call.console.say(f"{known.name}: its list has changed; {count_of(more, 'document')} more")
    known = _grown(call, ledger, known, after)
    return _request(call, recipe, known.params, known, ledger)


def _refuse_private_files(options: Options, listed: ListFile) -> None:
    recipe_jobs.refuse_private(options, [entry.url for entry in islice(listed.entries(), ADDRESSES_LOOKED_AT)])


def _as_listed(call: Call, params: dict[str, Any], known: Job | None) -> dict[str, Any]:
    """For a plan that is only shown: with the list as it is now, where that is a file, and with what it leaves out.

    A job that is started over plans nothing but the newest version.
    """
    if known is None and params["versions"]:
        params = {**params, "versions": params["versions"][-1:], "planned": 0}
    if "://" in params["list"]:
        call.console.say(f"{params['list']} is not asked for: this is the plan of the versions that are held.")
        return params
    try:
        body = Path(params["list"]).read_bytes()
        sounded = sound(ListFile.open(Path(params["list"]), ListShape.of(params)))
    except (OSError, ListRefused):
        return params  # the plan says what is wrong, or is that of the versions that are held
    if said := told_of(params["list"], sounded):
        call.console.insist(said)
    if params["versions"] and params["versions"][-1].endswith(f"_{sha256(body).hexdigest()[:12]}.csv"):
        return params
    earlier = params["versions"] if known else []
    return {**params, "versions": [*earlier, params["list"]], "planned": 0}


def _looks(call: Call, known: Job | None) -> bool:
    """Whether the list is looked at: of a complete or cancelled job only where it is to be scanned again."""
    if call.options.mode == "resume" and known is not None:
        return False
    scans = call.options.mode is not None or call.options.refetch
    return known is None or known.status not in ("completed", "cancelled") or (scans and known.status == "completed")


def _given(call: Call, ledger: Ledger | None) -> tuple[Job | None, dict[str, Any]]:
    """(the job whose name was typed, the params that were typed): a file, a source or a URL goes before a name."""
    options, named = call.options, None
    word = options.what[0] if options.what else options.name
    given = meant_list(word, call.settings.sites, must=False) if options.what else None
    if given is None:
        named = recipe_jobs.named_job(ledger, word)
        followed = {} if named else followed_list(ledger, word, call.options.name)
        given = meant_list(word, call.settings.sites) or {} if followed is None else followed
        if named is not None:
            recipe_jobs.of_kind(named, KIND)
    typed = job_options.read_params(options, KIND)
    if "columns" in typed:
        typed["columns"] = read_columns(typed["columns"])
    return named, {**given, **typed}


def _request(
    call: Call, recipe: DocumentsRecipe, params: dict[str, Any], known: Job | None, ledger: Ledger | None = None
) -> JobRequest:
    """--limit is a page limit of this run: so many more than there are. Without it an earlier one is over."""
    asked = recipe_jobs.asked_for(call, recipe, params, known)
    if call.options.limit is None:
        is_over = known is not None and known.options.max_pages is not None
        return replace(asked, pace={"max_pages": None, **asked.pace}) if is_over else asked
    pages = call.options.limit if ledger is None else limited(ledger, known, call.options.limit)
    return replace(asked, pace={**asked.pace, "max_pages": pages})


def _access(call: Call, ledger: Ledger, options: Options, *, is_first: bool) -> ListAccess:
    """`is_first`: a job is to be made of the list."""
    refuse = {"refuse": partial(_refuse_private_files, options)} if is_first else {}
    return ListAccess(
        store=ListStore(call.settings.artifacts, wiring.storage(call.settings).write_file),
        open_fetcher=lambda url: wiring.list_fetcher(options, url),
        clock=call.clock,
        hosts=ledger,
        options=options,
        random=wiring.jitter,
        require_fresh=bool(call.options.require_fresh),
        accept_jump=bool(call.options.accept_jump),
        **refuse,
    )


def _grown(call: Call, ledger: Ledger, known: Job, params: dict[str, Any]) -> Job:
    mode = call.options.mode or "full"
    if call.options.refetch and known.status == "completed":
        known = rescan(ledger, known, mode="full", actor="cli", because="held documents again")
    return grow(ledger, known, params, mode=mode, artifacts=call.settings.artifacts, actor="cli")
