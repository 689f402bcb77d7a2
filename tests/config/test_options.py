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
from holdfast.client.option_types import CrawlOptions, PaceOptions
from holdfast.client.options import PRESET, python_options
from holdfast.config.building import BROWSER
from holdfast.config.options import OPTIONS
from holdfast.config.table import SETTINGS
from holdfast.fetch.browser.limits import BrowserLimits
from holdfast.model.job import Options
from holdfast.model.option import INPUT, PACE, Option
from holdfast.recipes import catalogue
from holdfast.testing.fake_web import FakeWeb
from tidy.source_tree import ROOT

ROW = """
    Option("ripple", duration(1, 60), "how long a ripple lasts", "--ripple", part=PACE, metavar="DUR",
           stored=StoredField("ripple_s", float, 2.0, harmless=True),
           help="how long a ripple lasts (2s)", configured=Configured(key="pond.ripple")),
    Option("tide", whole(0, 9), "how high the tide is", "--tide", part=PACE, metavar="N",
           stored=StoredField("tide", int, 0, told="takes the tide of this shore: {}"), help="how high the tide is"),
    Option("shout", FLAG, "tell the pond", "--shout", part=COMMAND, help="tell the pond when it is done"),
    Option("mode","""
OF_A_KIND = """
from holdfast.model import option as _option, value_types as _types
OPTIONS = (
    Option("tap", _types.REFERENCE, "the key of the tap", "--tap", part=_option.PACE,
           stored=_option.StoredField("tap_key", str, ""), metavar="REF", help="the key of the tap"),
    Option("weed", _types.whole(1, 9), "how much weed", "--weed", metavar="N", help="how much weed there is"),
    Option("wilt", _types.duration(1, 60), "until it wilts", "--wilts-after", metavar="DUR", help="until it wilts"),
    Option("herbs", _types.TEXTS, "which herbs", "--herb-list", joined=True, metavar="LIST", help="which herbs"),
"""


def every_row() -> list[Option]:
    return [*OPTIONS, *(row for kind in catalogue.every_kind() for row in kind.options)]


def test_every_row_that_says_how_it_is_stored_is_a_field_of_a_jobs_options() -> None:
    stored = {row.stored.field: row.stored for row in every_row() if row.stored is not None}
    assert stored.keys() == set(Options.__struct_fields__)
    assert {name: getattr(Options(), name) for name in stored} == {name: row.default for name, row in stored.items()}
    assert {name: row.type for name, row in stored.items()} == get_type_hints(Options)


def test_rows_agree_with_themselves() -> None:
    for row in every_row():
        assert row.stored is None or row.part == PACE, row.name
        assert not row.help or row.flag.startswith("--"), row.name
        assert row.meaning, row.name
    for kind in catalogue.every_kind():
        assert all(row.part == INPUT for row in kind.input_keys)
        flags = [row.flag for row in (*OPTIONS, *kind.options) if row.flag]
        assert len(set(flags)) == len(flags), kind.name


def test_what_several_kinds_call_alike_is_one_key() -> None:
    """Job files read it by the row of the first of them: by its type, as a path or as the name of a secret."""
    found: dict[str, tuple[object, ...]] = {}
    for row in every_row():
        if row.is_key:
            said = (row.type.word, row.flag, row.joined, row.is_path, row.type.reference_behind)
            assert found.setdefault(row.name, said) == said, row.name


def test_typed_dicts_of_python_are_the_rows() -> None:
    """They are source, because editors and type checkers run nothing."""
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


def test_defaults_of_the_browser_in_settings_are_those_of_the_browser() -> None:
    """Settings hand over only what somebody set: what they show of the others stands in a table of its own."""
    shown = {row.field.removeprefix(BROWSER): row.default for row in SETTINGS if row.field.startswith(BROWSER)}
    assert shown == {name: getattr(BrowserLimits(), name) for name in shown}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with rows of its own, of all kinds and of one, and what is generated from them."""
    source = tmp_path_factory.mktemp("source")
    package = source / "holdfast"
    assert installed.__file__ is not None
    shutil.copytree(Path(installed.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    insert(package / "config/options.py", '\n    Option("mode",', ROW)
    for kind in catalogue.NAMES:
        insert(package / f"recipes/{kind}/options.py", "\nOPTIONS = (\n", OF_A_KIND)
    words = [sys.executable, str(ROOT / "docs/make.py"), "--sources"]
    made = subprocess.run(words, cwd=source, env=environment(PYTHONPATH=str(source)), capture_output=True, text=True)
    assert (made.returncode, made.stdout.count("wrote ")) == (0, 2), made.stderr
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


def weeds(folder: Path, name: str) -> tuple[object, ...]:
    """What a job has of the options that every kind has more in the copy."""
    params = kept(folder, name, "params")
    return tuple(params.get(option) for option in ("weed", "wilt", "herbs"))


def python(source: Path, folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    asked: Sequence[str] = [sys.executable, "-c", f"import holdfast as hf\n{code}"]
    env = environment(PYTHONPATH=str(source))
    return subprocess.run(asked, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_a_row_more_is_an_argument_with_its_range(source: Path, tmp_path: Path) -> None:
    run = partial(command, source, tmp_path)
    for name in ("crawl", "cases", "run"):
        shown = run(name, "--help").out
        assert re.search(r"--ripple DUR +how long a ripple lasts \(2s\)", shown)
        assert re.search(r"--shout +tell the pond when it is done", shown)
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


def test_a_row_more_is_there_for_type_checkers(source: Path, tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(
        "from holdfast.client import PaceOptions\nfrom holdfast.model.job import Options\n"
        "given: PaceOptions = {'ripple': '5s', 'tide': 2}\nkept: float = Options(tide=2).ripple_s\n"
        "wrong: PaceOptions = {'tide': '5s'}\nalso_wrong = Options(tide='high')\n"
    )
    words = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "use.py"]
    env = environment(MYPYPATH=str(source))
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert re.findall(r"use.py:(\d+): error", done.stdout) == ["5", "6"], done.stdout


def test_a_row_more_is_stored_with_its_job_and_there_when_it_goes_on(source: Path, tmp_path: Path) -> None:
    run = partial(command, source, tmp_path)
    with FakeWeb(lambda path: f"<h1>{path}</h1><a href='/frog'>frog</a>") as web:
        words = ("crawl", f"{web.url}/", *web.options, "--name", "pond")
        assert run(*words, "--ripple", "5s", "--tide", "3", "--start-paused").code == 0
        done = run("crawl", "pond", "--delay", "1ms")
    assert done.code == 0, done.err
    now = kept(tmp_path, "pond")
    assert (now["ripple_s"], now["tide"], now["delay_ms"]) == (5.0, 3, 1)


def test_a_row_says_whether_a_job_from_elsewhere_may_bring_its_value(source: Path, tmp_path: Path) -> None:
    for name, words in {"ripple": ("--ripple", "5s"), "tide": ("--tide", "3")}.items():
        here, there = tmp_path / name, tmp_path / f"{name}-there"
        here.mkdir()
        there.mkdir()
        started = command(source, here, "crawl", "https://pond.test", "--name", "pond", *words, "--start-paused")
        assert started.code == 0, started.err
        assert command(source, here, "snapshot", "pond", "-o", "../pond.tar").code == 0
        restored = command(source, there, "restore", "../pond.tar")
        assert ("tide: takes the tide of this shore: 3" in restored.err) == (name == "tide"), restored.err
        assert (restored.code == 0) == (name == "ripple"), restored.err
        (tmp_path / "pond.tar").unlink()


def test_an_option_of_one_kind_is_one_row_of_its_kind(source: Path, tmp_path: Path) -> None:
    run = partial(command, source, tmp_path)
    (tmp_path / "list.csv").write_text("url,title\nhttps://pond.test/a.pdf,Frogs\n")
    begun = {
        "site": ("crawl", "https://pond.test"),
        "cases": ("cases", "IMM-2-25", "--url", "https://pond.test/{number}"),
        "documents": ("docs", "list.csv"),
        "images": ("images", "frog"),
    }
    assert begun.keys() == set(catalogue.NAMES)
    for kind, words in begun.items():
        assert re.search(r"--weed N +how much weed there is", run(words[0], "--help").out), kind
        assert "--weed: must be from 1 to 9, not 12" in run(*words, "--weed", "12", "--start-paused").err, kind
        more = ("--weed", "4", "--wilts-after", "2s", "--herb-list", "mint, dill")
        done = run(*words, *more, "--start-paused", "--name", kind)
        assert (done.code, weeds(tmp_path, kind)) == (0, (4, 2.0, ["mint", "dill"])), done.err
        assert run(words[0], kind, "--delay", "2s", "--start-paused").code == 0, kind
        assert weeds(tmp_path, kind) == (4, 2.0, ["mint", "dill"]), kind
    assert "--weed" not in run("run", "--help").out


def test_an_option_of_one_kind_is_a_key_of_its_job_files_and_an_option_of_python(source: Path, tmp_path: Path) -> None:
    run = partial(command, source, tmp_path)
    begun = {
        "site": ('seeds = ["https://pond.test"]', "'https://pond.test/frog'"),
        "cases": ('range = ["IMM-1-25"]\nurl = "https://pond.test/{number}"', "'IMM-3-25', url='https://pond.test/{number}'"),
        "documents": ('list = "list.csv"', "'again.csv'"),
        "images": ('keywords = ["frog"]', "'toad'"),
    }  # fmt: skip
    assert begun.keys() == set(catalogue.NAMES)
    for name in ("list.csv", "again.csv"):
        (tmp_path / name).write_text("url,title\nhttps://pond.test/a.pdf,Frogs\n")
    for kind, (keys, _) in begun.items():
        (tmp_path / "pond.toml").write_text(f'kind = "{kind}"\n{keys}\nstart_paused = true\nweed = 12\n')
        assert "weed: must be from 1 to 9, not 12" in run("run", "pond.toml").err, kind
        right = (tmp_path / "pond.toml").read_text().replace("12", '3\nwilt = "2s"\nherbs = ["mint", "dill"]')
        (tmp_path / "pond.toml").write_text(right)
        done = run("run", "pond.toml", "--name", f"{kind}-filed")
        assert (done.code, weeds(tmp_path, f"{kind}-filed")) == (0, (3, 2.0, ["mint", "dill"])), done.err
    more = "weed=2, wilt='2s', herbs=['mint', 'dill']"
    code = [f"client.start('{kind}', {inputs}, {more}, name='{kind}-said')" for kind, (_, inputs) in begun.items()]
    assert python(source, tmp_path, "\n".join(["client = hf.Client()", *code])).stderr == ""
    assert [weeds(tmp_path, f"{kind}-said") for kind in begun] == [(2, 2.0, ["mint", "dill"])] * len(begun)
    for kind, (_, inputs) in begun.items():
        refused = python(source, tmp_path, f"hf.Client().start('{kind}', {inputs}, weed=99)")
        assert "BadParams: weed: must be from 1 to 9, not 99" in refused.stderr, kind


def test_a_row_says_that_its_value_may_name_a_secret(source: Path, tmp_path: Path) -> None:
    run = partial(command, source, tmp_path)
    (tmp_path / "list.csv").write_text("url,key\nhttps://pond.test,env:HOME\n")
    (tmp_path / "pond.toml").write_text('seeds = ["{url}"]\ntap = "{key}"\nstart_paused = true\n')
    refused = run("run", "list.csv", "--template", "pond.toml")
    assert (refused.code, "tap: a cell may not name a secret" in refused.err) == (2, True), refused.err
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "pond.toml").write_text(
        'name = "pond"\nseeds = ["https://pond.test"]\ntap = "file:key"\nstart_paused = true\n'
    )
    missing = run("run", "one/pond.toml")
    assert (missing.code, f"--tap: {tmp_path / 'one' / 'key'} cannot be read" in missing.err) == (2, True), missing.err
    (tmp_path / "one" / "key").write_text("drop")
    assert run("run", "one/pond.toml").code == 0
    assert kept(tmp_path, "pond")["tap_key"] == f"file:{tmp_path / 'one' / 'key'}"
    code = "from holdfast.config.headers import with_secrets\njob = hf.Client().job('pond')._row()"
    asked = python(source, tmp_path, f"{code}\nassert with_secrets(job).options.tap_key == 'drop'")
    assert asked.stderr == ""


def test_an_option_of_one_kind_is_not_one_of_others(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('seeds = ["https://pond.test/"]\nsafe_stop = 2\n')
    assert "a job of kind 'site' has no safe_stop" in holdfast("run", "site.toml", cwd=tmp_path).err
