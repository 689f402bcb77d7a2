"""Jobs that `holdfast.toml` describes are started by their name, and what is typed wins."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cli.commands import holdfast, ledger_in
from holdfast.demo.serving import WorldServer
from holdfast.model.job import Options

SECRET = "pond-7f3a-lily"  # grepped for


def files_with(text: str, folder: Path) -> list[str]:
    """By grep: a ledger that is open here must not be opened as a file."""
    found = subprocess.run(["grep", "-rlaF", text, str(folder)], capture_output=True, text=True)
    assert found.returncode in (0, 1), found.stderr
    return found.stdout.splitlines()


def options_of(folder: Path, name: str = "frogs") -> Options:
    with ledger_in(folder) as ledger:
        return ledger.job(name).options


def test_a_configured_job_is_crawled_by_its_name_and_again_goes_on(tree: WorldServer, tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text(
        f'[job.frogs]\nseeds = {tree.oracle()["seeds"]}\nallow = ["{tree.address}"]\ndelay = "0s"\n'
        'output = "frogs.jsonl"\n'
    )
    below = tmp_path / "below"
    below.mkdir()
    done = holdfast("crawl", "frogs", "--data", "../holdfast-data", cwd=below)
    assert done.code == 0, done.err
    assert len((tmp_path / "frogs.jsonl").read_text().splitlines()) == 60, "relative to the file that says so"
    again = holdfast("crawl", "frogs", "--data", "../holdfast-data", cwd=below)
    assert "frogs is complete: 60 done" in again.err


def test_a_job_file_is_run_by_the_command_of_its_kind(tree: WorldServer, tmp_path: Path) -> None:
    (tmp_path / "frogs.toml").write_text(
        f'name = "frogs"\nkind = "site"\nseeds = {tree.oracle()["seeds"]}\nhttp.allow = ["{tree.address}"]\n'
        'delay = "1s"\n'
    )
    done = holdfast("run", "frogs.toml", "--delay", "0s", "--max-attempts", "7", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "60 succeeded" in done.err
    found = options_of(tmp_path)
    assert (found.delay_ms, found.max_attempts, found.allow) == (0, 7, (tree.address,))


def test_a_recipe_of_ones_own_is_run_from_a_file_and_by_its_name_in_another(tmp_path: Path) -> None:
    (tmp_path / "pond").mkdir()
    (tmp_path / "pond" / "lily.py").write_text(
        "from holdfast.recipe import Recipe, record, target\nlily = Recipe('lily')\n"
        "@lily.plan\ndef plan(params):\n    yield target('https://pond.test/' + params['leaf'], type='leaf')\n"
        "@lily.step('leaf')\nasync def leaf(here, fetch):\n    yield record(leaf=here.url)\n"
    )
    job = 'kind = "lily.py"\nparams = { leaf = "green" }\n'
    (tmp_path / "pond" / "lily.toml").write_text(f'name = "lily"\n{job}')
    (tmp_path / "pond" / "holdfast.toml").write_text(f'data = "../holdfast-data"\n[job.lily]\n{job}')
    done = holdfast("run", "pond/lily.toml", cwd=tmp_path)
    assert (done.code, "1 succeeded" in done.err) == (0, True), done.err
    again = holdfast("run", "lily", cwd=tmp_path / "pond")
    assert (again.code, "lily is complete" in again.err) == (0, True), again.err


def test_a_job_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = holdfast("run", "frogs.toml", cwd=tmp_path)
    assert (done.code, done.err) == (2, "There is no job file frogs.toml\n")


def test_typed_wins_over_the_environment_and_that_over_the_job_and_that_over_the_rest(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text(
        'max_attempts = 9\nper_host = 9\n[job.frogs]\nseeds = ["https://marsh.test/"]\n'
        'max_attempts = 4\ndelay = "4s"\ntimeout = "4s"\nhttp.idle_timeout = "4s"\nhttp.connect_timeout = "4s"\n'
    )
    words = ("crawl", "frogs", "--start-paused", "--timeout", "2s")
    env = {"HOLDFAST_DELAY": "3s", "HOLDFAST_HTTP__TIMEOUT": "3s", "HOLDFAST_HTTP__IDLE_TIMEOUT": "3s"}
    assert holdfast(*words, cwd=tmp_path, **env).code == 0
    found = options_of(tmp_path)
    assert (found.timeout_s, found.delay_ms, found.idle_timeout_s) == (2.0, 3000, 3.0)
    assert (found.max_attempts, found.connect_timeout_s, found.per_host) == (4, 4.0, 9)


def test_a_job_whose_file_changed_its_pace_is_amended_and_one_with_another_scope_refused(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text('[job.frogs]\nseeds = ["https://marsh.test/"]\ndelay = "4s"\nmax_depth = 3\n')
    assert holdfast("crawl", "frogs", "--start-paused", cwd=tmp_path).code == 0
    file.write_text('[job.frogs]\nseeds = ["https://marsh.test/"]\ndelay = "5s"\nmax_depth = 3\n')
    assert "frogs: delay 4s -> 5s" in holdfast("crawl", "frogs", "--start-paused", cwd=tmp_path).err
    file.write_text('[job.frogs]\nseeds = ["https://marsh.test/"]\ndelay = "5s"\nmax_depth = 4\n')
    done = holdfast("crawl", "frogs", "--start-paused", cwd=tmp_path)
    assert (done.code, "max_depth: 3, now 4" in done.err) == (6, True)


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        ('seeds = ["https://marsh.test/"]\ndely = "2s"', "did you mean delay?"),
        ('seeds = ["https://marsh.test/"]\ndelay = "2h"', "holdfast.toml: job.frogs: delay: must be from 0s to 1h"),
        ('seeds = ["https://marsh.test/"]\nscope = "galaxy"', "scope: 'galaxy' is none of host, domain, prefix, any"),
        ('seeds = ["https://marsh.test/"]\nheader = ["Cookie: pond"]', "stored in the clear"),
        ('kind = "documents"\nlist = "a.csv"', "frogs is a job of kind 'documents' (holdfast docs frogs)"),
    ],
)
def test_a_job_that_cannot_be_used_is_refused_and_nothing_is_made(job: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text(f"[job.frogs]\n{job}\n")
    done = holdfast("crawl", "frogs", cwd=tmp_path)
    assert done.code == 2
    assert sentence in done.err
    assert "pond" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["holdfast.toml"]


def test_a_secret_is_nowhere_in_the_data_folder_nor_in_what_is_said(tree: WorldServer, tmp_path: Path) -> None:
    """SEC-03: a secret of a job file is named, read when the job runs, and kept nowhere."""
    (tmp_path / "key").write_text(f"{SECRET}\n")
    (tmp_path / "holdfast.toml").write_text(
        f'[job.frogs]\nseeds = {tree.oracle()["seeds"]}\nallow = ["{tree.address}"]\ndelay = "0s"\n'
        'header = ["Authorization: env:FROG_TOKEN", "X-Api-Key: file:key"]\n'
    )
    done = holdfast("crawl", "frogs", "-v", "--json", cwd=tmp_path, FROG_TOKEN=f"Bearer {SECRET}")
    shown = holdfast("config", "show", "--origin", cwd=tmp_path, FROG_TOKEN=SECRET, HOLDFAST_TOKEN=SECRET)
    status = holdfast("status", "frogs", "--json", cwd=tmp_path)
    assert (done.code, shown.code, status.code) == (0, 0, 0)
    assert SECRET not in done.out + done.err + shown.out + shown.err + status.out
    assert files_with(SECRET, tmp_path / "holdfast-data") == []
    assert "ledger.db" in " ".join(files_with("FROG_TOKEN", tmp_path / "holdfast-data"))
    assert options_of(tmp_path).headers == (
        ("Authorization", "env:FROG_TOKEN"), ("X-Api-Key", f"file:{tmp_path / 'key'}"),
    )  # fmt: skip


def test_a_proxy_with_a_password_is_kept_by_reference_wherever_it_is_set(tmp_path: Path) -> None:
    clear = f"http://frog:{SECRET}@proxy.test:3128"
    file = tmp_path / "holdfast.toml"
    for refused in (f'proxy = "{clear}"\n', f'[job.frogs]\nseeds = ["https://marsh.test/"]\nproxy = "{clear}"\n'):
        file.write_text(refused)
        done = holdfast("crawl", "frogs", cwd=tmp_path)
        assert (done.code, SECRET in done.err) == (2, False)
    file.write_text('proxy = "env:FROG_PROXY"\n[job.frogs]\nseeds = ["https://marsh.test/"]\n')
    done = holdfast("crawl", "frogs", "--start-paused", cwd=tmp_path, FROG_PROXY=clear)
    assert done.code == 0, done.err
    assert options_of(tmp_path).proxy == "env:FROG_PROXY"
    assert files_with(SECRET, tmp_path / "holdfast-data") == []


def test_cases_are_found_by_the_name_of_their_source_and_of_their_job(tmp_path: Path) -> None:
    """CAS-10."""
    (tmp_path / "holdfast.toml").write_text(
        'sources.court = { url = "https://court.test/{prefix}/{year}/{number}" }\n'
        '[job.gaps]\nkind = "cases"\nrange = "IMM-1-25..IMM-9-25"\nurl = "court"\ndelay = "3s"\n'
    )
    assert holdfast("cases", "gaps", "--start-paused", cwd=tmp_path).code == 0
    assert holdfast("cases", "IMM-1-25..IMM-9-25", "--url", "court", "--start-paused", cwd=tmp_path).code == 0
    with ledger_in(tmp_path) as ledger:
        jobs = {job.name: job for job in ledger.jobs()}
    assert {job.params["url"] for job in jobs.values()} == {"https://court.test/{prefix}/{year}/{number}"}
    assert (len(jobs), jobs["gaps"].options.delay_ms) == (2, 3000)


@pytest.mark.parametrize("option", [("--dry-run",), ("--param", "pond=north")])
def test_an_option_that_the_kind_of_job_does_not_have_is_refused(tmp_path: Path, option: tuple[str, ...]) -> None:
    """A dry run above all: left out of hearing, it would be a crawl."""
    (tmp_path / "pond.toml").write_text('name = "pond"\nseeds = ["https://marsh.test/"]\n')
    done = holdfast("run", "pond.toml", *option, "--start-paused", cwd=tmp_path)
    assert (done.code, f"{option[0]} is not for a job of kind 'site'" in done.err) == (2, True), done.err
    assert not (tmp_path / "holdfast-data").exists()
