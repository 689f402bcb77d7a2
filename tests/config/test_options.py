"""An option of a job is one row: what people type, write in files, set and say in Python is made from it."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import get_type_hints

import pytest

import holdfast as installed
from cli.commands import Done, environment, holdfast
from holdfast.client.options import PRESET, CrawlOptions, PaceOptions, python_options
from holdfast.config.options import OPTIONS
from holdfast.config.table import SETTINGS
from holdfast.model.job import Options
from holdfast.model.option import INPUT, PACE, Option
from holdfast.recipes import catalogue

# Fields of `Options` that nobody gives as an option: what the program keeps with a job, or fills in for a fetcher.
INTERNAL = {
    "jitter", "private_headers", "own", "recipe_source", "recipe_sha256", "batch", "output", "output_form",
}  # fmt: skip

ROW = """
    Option("ripple", duration(1, 60), "how long a ripple lasts", "--ripple", part=PACE, field="ripple_s", metavar="DUR",
           help="how long a ripple lasts (2s)", configured=Configured(key="pond.ripple")),
    Option("mode","""
OF_A_KIND = """
OPTIONS = (Option("weed", whole(1, 9), "how much weed", "--weed", metavar="N", help="how much weed there is"),
"""


def every_row() -> list[Option]:
    return [*OPTIONS, *(row for kind in catalogue.every_kind() for row in kind.options)]


def test_every_field_of_a_jobs_options_has_a_row_or_is_internal() -> None:
    fields = set(Options.__struct_fields__)
    assert {row.field for row in every_row() if row.field} == fields - INTERNAL
    assert fields >= INTERNAL


def test_rows_agree_with_themselves() -> None:
    for row in every_row():
        assert not row.field or row.part == PACE, row.name
        assert not row.help or row.flag.startswith("--"), row.name
        assert row.meaning, row.name
    for kind in catalogue.every_kind():
        assert all(row.part == INPUT for row in kind.input_keys)
        flags = [row.flag for row in (*OPTIONS, *kind.options) if row.flag]
        assert len(set(flags)) == len(flags), kind.name


def test_typed_dicts_of_python_are_the_rows() -> None:
    """They are written out for editors and type checkers, which read source only."""
    common = {row.python_name: row.type.python for row in OPTIONS if row.part == PACE and row.python_name}
    assert get_type_hints(PaceOptions) == common
    site = {name: row.type.python for name, row in python_options(catalogue.kind("site")).items()}
    assert get_type_hints(CrawlOptions) == {**site, PRESET: str}


def test_defaults_of_jobs_in_settings_are_the_rows() -> None:
    configured = {row.configured.key: row for row in OPTIONS if row.configured is not None}
    assert {setting.key: setting.pace for setting in SETTINGS if setting.pace} == {
        key: row.field for key, row in configured.items()
    }
    assert all(setting.option == configured[setting.key].flag for setting in SETTINGS if setting.pace)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with one row more, one field more where it is kept, and one option of one kind."""
    source = tmp_path_factory.mktemp("source")
    package = source / "holdfast"
    assert installed.__file__ is not None
    shutil.copytree(Path(installed.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    insert(package / "config/options.py", '\n    Option("mode",', ROW)
    insert(
        package / "model/job.py", "    jitter: float = 0.2\n", "    jitter: float = 0.2\n    ripple_s: float = 2.0\n"
    )
    insert(package / "recipes/cases/options.py", "\nOPTIONS = (\n", OF_A_KIND)
    return source


def insert(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1, path
    path.write_text(text.replace(before, after))


def command(source: Path, folder: Path, *words: str, **env: str) -> Done:
    return holdfast(*words, cwd=folder, PYTHONPATH=str(source), **env)


def kept(folder: Path, name: str, column: str = "options") -> dict[str, object]:
    """The options that the ledger has with this job, or its params."""
    with closing(sqlite3.connect(folder / "holdfast-data/ledger.db")) as ledger:
        ((text,),) = ledger.execute(f"SELECT {column} FROM job WHERE name = ?", (name,)).fetchall()
    found: dict[str, object] = json.loads(text)
    return found


def python(source: Path, folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    asked: Sequence[str] = [sys.executable, "-c", f"import holdfast as hf\n{code}"]
    env = environment(PYTHONPATH=str(source))
    return subprocess.run(asked, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_a_row_more_is_an_argument_with_its_range(source: Path, tmp_path: Path) -> None:
    run = partial(command, source, tmp_path)
    for name in ("crawl", "cases", "run"):
        assert re.search(r"--ripple DUR +how long a ripple lasts \(2s\)", run(name, "--help").out)
    refused = run("crawl", "https://marsh.test", "--ripple", "2h", "--start-paused")
    assert refused.code == 2
    assert refused.err == "--ripple: must be from 1s to 60s, not 2h (holdfast crawl --help)\n"
    assert run("crawl", "https://marsh.test", "--ripple", "5s", "--start-paused", "--name", "marsh").code == 0
    assert kept(tmp_path, "marsh")["ripple_s"] == 5.0


def test_a_row_more_is_a_key_of_job_files_and_a_setting(source: Path, tmp_path: Path) -> None:
    run = partial(command, source, tmp_path)
    (tmp_path / "pond.toml").write_text(
        'seeds = ["https://pond.test/"]\nname = "pond"\nripple = "7s"\nstart_paused = true\n'
    )
    done = run("run", "pond.toml")
    assert (done.code, kept(tmp_path, "pond")["ripple_s"]) == (0, 7.0), done.err
    (tmp_path / "pond.toml").write_text('seeds = ["https://pond.test/"]\nripple = "2h"\n')
    assert "ripple: must be from 1s to 60s" in run("run", "pond.toml").err
    (tmp_path / "holdfast.toml").write_text('pond.ripple = "9s"\n')
    assert run("config", "get", "pond.ripple").out == "9s\n"
    assert run("crawl", "https://lake.test", "--start-paused", "--name", "lake").code == 0
    assert kept(tmp_path, "lake")["ripple_s"] == 9.0
    assert "HOLDFAST_POND__RIPPLE: must be from 1s" in run("config", "show", HOLDFAST_POND__RIPPLE="2h").err


def test_a_row_more_is_an_option_of_python(source: Path, tmp_path: Path) -> None:
    done = python(source, tmp_path, "hf.crawl('https://marsh.test', name='marsh', ripple='5s')")
    assert (done.stderr, kept(tmp_path, "marsh")["ripple_s"]) == ("", 5.0)
    refused = python(source, tmp_path, "hf.crawl('https://marsh.test', ripple=3600)")
    assert "BadParams: ripple: must be from 1s to 60s, not 3600" in refused.stderr


def test_an_option_of_one_kind_is_one_row_of_its_kind(source: Path, tmp_path: Path) -> None:
    run = partial(command, source, tmp_path)
    assert re.search(r"--weed N +how much weed there is", run("cases", "--help").out)
    assert "--weed" not in run("crawl", "--help").out
    (tmp_path / "pond.toml").write_text(
        'kind = "cases"\nrange = ["IMM-1-25"]\nurl = "https://pond.test/{number}"\nweed = 12\n'
    )
    assert "weed: must be from 1 to 9, not 12" in run("run", "pond.toml").err
    (tmp_path / "site.toml").write_text('seeds = ["https://pond.test/"]\nweed = 2\n')
    assert "a job of kind 'site' has no weed" in run("run", "site.toml").err
    (tmp_path / "pond.toml").write_text((tmp_path / "pond.toml").read_text().replace("12", "3\nstart_paused = true"))
    assert run("run", "pond.toml", "--name", "filed").code == 0
    words = ("cases", "IMM-2-25", "--url", "https://pond.test/{number}", "--weed", "4", "--start-paused")
    assert run(*words, "--name", "typed").code == 0
    code = "hf.Client().start('cases', 'IMM-3-25', url='https://pond.test/{number}', weed=2, name='said')"
    assert python(source, tmp_path, code).stderr == ""
    assert [kept(tmp_path, name, "params").get("weed") for name in ("filed", "typed", "said")] == [3, 4, 2]
