"""Attacks on the computer itself: hostile steps, snapshots, settings, lists, and a system that gives little."""

from __future__ import annotations

import os
import shutil
import stat
from functools import partial

from bench.attack import Attack, nothing
from bench.attack_snapshot import LENGTHY, Deceit, completed, deceived, many_rows, named, wishing
from bench.attack_stage import Ended, Pages, Stage, counted, html, links

STRANGER = 65_534
WAIT_S = 90
ODD_ADDRESSES = {  # and a part that nobody may see
    "postgresql://pond.test/d?pass%77ord=croak": "croak",
    "postgresql://frog:se/cr?et#@pond.test/d": "cr?et",
    "host=pond.test password = 'a croak' user=frog": "croak",
    "postgresql://pond.test:1/d?SSLPassword=c@roak": "roak",
}
HIDDEN = "a frog that nobody may see"
RECIPE = """
import multiprocessing, os, time
from holdfast.recipe import Recipe, record, target
pond = Recipe("pond")

@pond.plan
def plan(params):
    for n in range({pages}):
        yield target(f"http://marsh.test/{{n}}", type="page")

@pond.step("page")
async def step(here, fetch):
    await fetch(here.url)
    if here.url.endswith("/3"):
        {does}
    yield record(frogs=1)
"""
EXITS = "os._exit(0)"
FORKS = 'multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,)).start()'
STANDS_STILL = "time.sleep(600)"


def pond() -> Pages:
    paths = [f"/{n}" for n in range(60)]
    return {"/": links(paths), **dict.fromkeys(paths, html(b"<p>a frog</p>"))}


def stepped(stage: Stage, does: str, processes: str, **environ: str) -> Ended:
    words = ("--processes", processes) if processes != "1" else ()
    took = stage.run(RECIPE.format(pages=20, does=does), *words, cap_s=WAIT_S, **environ)
    ended = f"exit code {took.code}" if took.in_time else f"not ended after {WAIT_S} s"
    return Ended(f"{ended}; {counted(stage.job())}")


def few_descriptors(stage: Stage) -> Ended:
    begin = ("timeout", "-s", "KILL", str(WAIT_S), "bash", "-c", 'ulimit -n 18; exec "$@"', "limited")
    words = ["crawl", "http://marsh.test/", "--name", "pond", "--delay", "0", *stage.hosts("marsh.test")]
    done = stage.plain(*words, "--concurrency", "16", "--per-host", "16", before=begin)
    killed = done.returncode in (-9, 137)
    ended = f"not ended after {WAIT_S} s" if killed else f"exit code {done.returncode}"
    return Ended(f"{ended}; {counted(stage.job())}")


def stranger_s_settings(stage: Stage) -> Ended:
    """Root in a folder of its own, below one that belongs to somebody else."""
    above, below = stage.folder / "above", stage.folder / "above" / "below"
    below.mkdir(parents=True)
    (above / "evil.py").write_text(f"open({str(stage.folder / 'run')!r}, 'w')\n")
    (above / "holdfast.toml").write_text('[job.pond]\nkind = "evil.py"\n')
    for path in (above, above / "evil.py", above / "holdfast.toml"):
        os.chown(path, STRANGER, STRANGER)
    done = stage.plain("run", "pond", cwd=below)
    ran = (stage.folder / "run").exists()
    return Ended(f"{'obeyed: its code ran' if ran else 'not obeyed'}, exit code {done.returncode}")


def modes(stage: Stage) -> Ended:
    stage.crawl()
    data = stage.folder / "holdfast-data"
    files = {stat.S_IMODE(path.stat().st_mode) for path in data.rglob("*") if path.is_file()}
    return Ended(
        f"folder {stat.S_IMODE(data.stat().st_mode):04o}, files {', '.join(f'{mode:04o}' for mode in sorted(files))}"
    )


def over_a_ledger(stage: Stage) -> Ended:
    stage.crawl()
    other = stage.folder / "other"
    shutil.copytree(stage.folder / "holdfast-data", other)
    before = (other / "ledger.db").read_bytes()
    done = stage.plain("export", "pond", "-o", "other/ledger.db", "--format", "jsonl")
    kept = (other / "ledger.db").read_bytes() == before
    return Ended(f"{'refused' if kept else 'the ledger is overwritten'}, exit code {done.returncode}")


def cells(stage: Stage, cell: str, line: str) -> Ended:
    inside = stage.folder / "inside"
    inside.mkdir()
    (inside / "list.csv").write_text(f"url,x\nhttp://{stage.site.address}/,{cell}\n")
    (stage.folder / "secret").write_text(HIDDEN)
    (inside / "job.toml").write_text(f'kind = "site"\nseeds = ["{{url}}"]\nmax_depth = 0\ndelay = "0s"\n{line}\n')
    environ = {"HOLDFAST_HTTP__ALLOW": stage.site.address, "TOKEN": HIDDEN}
    done = stage.plain("run", "list.csv", "--template", "job.toml", cwd=inside, **environ)
    sent = any(HIDDEN in head for _, _, head in stage.heads)
    written = (stage.folder / "out.jsonl").exists()
    what = "the secret is sent" if sent else "written outside" if written else "refused"
    return Ended(f"{what}, exit code {done.returncode}")


def address_shown(stage: Stage) -> Ended:
    leaked = 0
    for address, part in ODD_ADDRESSES.items():
        leaked += part in stage.plain("config", "show", HOLDFAST_DATABASE_URL=address).stdout
    return Ended(f"a part of the password is shown of {leaked} of {len(ODD_ADDRESSES)}")


def looked_at(stage: Stage) -> Ended:
    """A ledger of the schema before, as the tests of that checkout make it."""
    stage.crawl()
    file = stage.folder / "holdfast-data" / "ledger.db"
    script = (
        "import sqlite3, sys\n"
        "from crash.suites.migrations import BACK\n"
        "from holdfast.ledger.schema import SCHEMA_VERSION\n"
        "file = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for statement in BACK[SCHEMA_VERSION]: file.execute(statement)\n"
        "file.execute(f'UPDATE ledger SET schema_version = {SCHEMA_VERSION - 1}')\n"
    )
    stage.script(script, str(file))
    version = (
        "import sqlite3, sys\n"
        "print(sqlite3.connect(sys.argv[1]).execute('SELECT schema_version FROM ledger').fetchone()[0])"
    )
    before = stage.script(version, str(file))
    done = stage.plain("status")
    after = stage.script(version, str(file))
    return Ended(f"{'left as it is' if before == after else 'the ledger is migrated'}, exit code {done.returncode}")


def killed_restore(stage: Stage) -> Ended:
    """Is what a killed restore left named by `doctor`?"""
    stage.crawl()
    stage.plain("snapshot", "pond", "-o", "pond.tar")
    other = stage.folder / "other"
    other.mkdir()
    done = stage.plain("restore", "../pond.tar", "--trust", cwd=other, HOLDFAST_FAULT="restore.before_commit:1:kill")
    if done.returncode == 2:
        done = stage.plain("restore", "../pond.tar", cwd=other, HOLDFAST_FAULT="restore.before_commit:1:kill")
    left = [path for path in (other / "holdfast-data" / "segments").glob("*") if path.is_dir()]
    told = stage.plain("doctor", "--json", cwd=other).stdout
    named = bool(left) and left[0].name in told
    return Ended(f"killed: {done.returncode == -9}, left {len(left)} folder; {'named' if named else 'not named'}")


def sealed_folder(stage: Stage) -> Ended:
    """A disk in memory that is sealed after a kill has left a -wal there."""
    disk = stage.folder / "disk"
    disk.mkdir()
    stage.system("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk))
    try:
        words = ["crawl", "http://marsh.test/", "--name", "pond", "--delay", "0", *stage.hosts("marsh.test")]
        stage.plain(*words, cwd=disk, HOLDFAST_FAULT="settle.after_commit:3:kill")
        stage.system("mount", "-o", "remount,ro", str(disk))
        done = stage.plain("resume", "pond", cwd=disk)
    finally:
        stage.system("umount", "-l", str(disk))
    return Ended(f"{'a traceback' if unexpected(done.stderr) else 'a sentence'}, exit code {done.returncode}")


def unexpected(said: str) -> bool:
    return "Traceback" in said or "Unexpected" in said


def restored(stage: Stage, deceit: Deceit) -> Ended:
    stage.crawl("--max-pages", "57")
    stage.plain("snapshot", "pond", "-o", "pond.tar")
    file = stage.folder / "pond.tar"
    file.write_bytes(deceived(file.read_bytes(), deceit))
    other = stage.folder / "other"
    other.mkdir()
    took = stage.holdfast("restore", str(file), cwd=other)
    said = "restored" if took.code == 0 else f"refused, exit code {took.code}" if took.in_time else "not ended"
    return Ended(said, took if deceit in LENGTHY else None)


CELLS = "test_a_cell_reaches_nothing_beyond_its_job"
KEPT_OUT = "test_what_a_job_wants_beyond_public_pages_is_said_and_needs_a_word"
SMALL = "test_a_small_file_that_unpacks_to_very_much_is_refused_before_it_costs_memory"
HEADER_OF_CELL = 'header = ["X-A: {x}"]'

LOCAL = (
    Attack(13, "a step that keeps the event loop standing still, two processes, a lease of 2 s",
           "test_a_page_that_keeps_the_loop_standing_still_is_poison_and_the_rest_is_done_once", pond,
           partial(stepped, does=STANDS_STILL, processes="2", HOLDFAST_LEASE="2s")),
    Attack(14, "`holdfast.toml` of another user in a folder above, with recipe code",
           "test_a_command_in_a_strangers_folder_ends_with_2_and_runs_none_of_its_code", nothing, stranger_s_settings),
    Attack(14, "who can read the data folder", "test_a_new_data_folder_and_all_that_is_put_into_it_is_the_owners_alone",
           pond, modes),
    Attack(15, "a snapshot with `X: file:/path` and `allow_private`", KEPT_OUT, pond, partial(restored,
           deceit=wishing)),
    Attack(15, "a snapshot whose job is named `$(touch frog)`", "test_a_name_that_no_job_can_have_is_refused", pond,
           partial(restored, deceit=named)),
    Attack(15, "a snapshot that unpacks to 270 MB of rows", SMALL, pond, partial(restored, deceit=many_rows)),
    Attack(15, "a snapshot that is completed with 4 pages pending",
           "test_rows_that_break_a_law_are_refused_before_the_commit", pond, partial(restored, deceit=completed)),
    Attack(16, "60 pages under `ulimit -n 18`",
           "test_a_limit_under_which_nothing_can_be_fetched_is_said_and_the_job_goes_on_without_it", pond,
           few_descriptors),
    *(Attack(16, f"`os._exit(0)` in a step, --processes {processes}",
             "test_a_step_that_ends_its_process_with_exit_code_0_has_killed_its_worker" if processes == "2" else "",
           pond,
             partial(stepped, does=EXITS, processes=processes)) for processes in ("1", "2")),
    Attack(16, "a step that forks a child of 600 s", "test_a_command_ends_though_a_step_has_left_a_process_running",
           pond,
           partial(stepped, does=FORKS, processes="1")),
    Attack(16, "`export -o` onto the ledger of another data folder",
           "test_results_never_land_in_another_data_folder", pond,
           over_a_ledger),
    Attack(16, "a cell of a batch list that is `env:TOKEN`", CELLS, pond, partial(cells, cell="env:TOKEN",
           line=HEADER_OF_CELL)),
    Attack(16, "a cell of a batch list that is `file:../secret`", CELLS, pond,
           partial(cells, cell="file:../secret", line=HEADER_OF_CELL)),
    Attack(16, "a cell of a batch list that is an output outside", CELLS, pond,
           partial(cells, cell="../out.jsonl", line='output = "{x}"')),
    Attack(16, "`config show` of an address with an odd password", "test_no_part_of_a_password_is_shown", nothing,
           address_shown),
    Attack(16, "`status` of a ledger of the schema before",
           "test_a_look_at_an_older_ledger_says_what_to_do_and_leaves_it_as_it_is",
           pond, looked_at),
    Attack(16, "what a killed restore left, and `doctor`",
           "test_what_a_killed_restore_left_is_named_and_a_repair_removes_it",
           pond, killed_restore),
    Attack(16, "`resume` on a sealed disk with a -wal",
           "test_who_would_work_a_job_where_nothing_can_be_written_is_told_so",
           pond, sealed_folder),
)  # fmt: skip
