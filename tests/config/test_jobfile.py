"""A job in a file: every option as a key, checked with a suggestion, and turned into the words of its command."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.commands.table import command
from holdfast.cli.start.job_files import _parser_of
from holdfast.config.job_keys import job_keys
from holdfast.config.jobfile import description, filled, job_in, read_job_file, words
from holdfast.errors import BadParams

FOLDER = Path("/marsh")
# What a person says once, when giving the command: no matter of the job.
ONLY_TYPED = {"--name", "--new", "--update", "--detach", "--dry-run", "--help"}


def read(toml: str) -> Any:
    return description("frogs", tomllib.loads(toml), where="job.frogs", folder=FOLDER)


def test_a_job_is_read_as_a_description() -> None:
    found = read(
        'kind = "site"\nseeds = ["https://marsh.test/"]\ninclude = ["/a/*"]\ndelay = "2s"\nhttp.idle_timeout = 5'
    )
    assert (found.kind, found.command, found.name, found.inputs) == ("site", "crawl", "frogs", ("https://marsh.test/",))
    assert found.options == {"include": ["/a/*"], "delay": "2s"}
    assert found.pace == {"idle_timeout_s": 5.0}


def test_a_description_is_words_that_the_command_reads() -> None:
    found = read(
        'seeds = "https://marsh.test/"\ninclude = ["/a/*", "-b"]\nmax_depth = 3\ncookies = true\n'
        "allow_private = false\n"
        'resolve = { "a.test" = "127.0.0.1:1" }\nheader = ["X-Key: file:key"]\noutput = "o.jsonl"\nfail_on = "5%"'
    )
    assert words(found) == [
        "https://marsh.test/", "--name=frogs", "--include=/a/*", "--include=-b", "--max-depth=3", "--cookies",
        "--resolve=a.test=127.0.0.1:1", "--header=X-Key: file:/marsh/key", "--output=/marsh/o.jsonl", "--fail-on=5%",
    ]  # fmt: skip
    options = _parser_of("crawl").read(words(found))
    assert (options.include, options.max_depth, options.cookies) == (["/a/*", "-b"], 3, True)


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ('kind = "cases"\nrange = "IMM-1-25..IMM-9-25"\nurl = "https://c.test/{number}"',
         ["IMM-1-25..IMM-9-25", "--name=frogs", "--url=https://c.test/{number}"]),
        ('kind = "cases"\nrange = "IMM-1-25..IMM-9-25"\nurl = "https://c.test/{number}"\nmax_pages = 3',
         ["IMM-1-25..IMM-9-25", "--name=frogs", "--url=https://c.test/{number}", "--max-pages=3"]),
        ('kind = "documents"\nlist = "https://c.test/j.csv"\ncolumns = { id = "Actions", title = "T" }\nnotify = ["a"]',
         ["https://c.test/j.csv", "--name=frogs", "--columns=id=Actions,title=T"]),
        ('kind = "images"\nkeywords = ["cat", "red panda"]\nengines = ["a", "b"]',
         ["cat", "red panda", "--name=frogs", "--engines=a,b"]),
        ('kind = "images"\nurls = "birds.csv"\ncolumns = { url = "Link" }\nsave_columns = ["nsfw"]',
         ["--name=frogs", "--from=/marsh/birds.csv", "--columns=url=Link", "--save-columns=nsfw"]),
        ('kind = "forum.py"\nparams = { start = "https://f.test/", depth = 3 }',
         ["/marsh/forum.py", "--name=frogs", "--param=start=https://f.test/", "--param=depth=3"]),
        ('kind = "marsh.forum:forum"', ["marsh.forum:forum", "--name=frogs"]),
    ],
)  # fmt: skip
def test_every_kind_has_its_command(toml: str, expected: list[str]) -> None:
    assert words(read(toml)) == expected


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ("dely = '2s'", "job.frogs: a job has no key 'dely'; did you mean delay?"),
        ("delay = '2 days'", "job.frogs: delay: '2 days' is not a duration"),
        ("http.timeot = 3", "a job has no key 'http.timeot'; did you mean http.timeout?"),
        ("http.timeout = -3", "http.timeout: '-3' is not a duration"),
        ("data = 'x'", "data cannot be set for one job"),
        ("kind = 'sites'", "there is no kind 'sites'; did you mean site?"),
        ("kind = 3", "kind must be a text"),
        ("name = 3", "name must be a text"),
        ("per_keyword = 3", "a job of kind 'site' has no per_keyword"),
        ("include = 3", "include: 3 is not a list of texts"),
        ("cookies = 'maybe'", "cookies: 'maybe' is neither true nor false"),
        ("kind = 'a.py'\nparams = 3", "params: 3 is not a table"),
        ("max_pages = -1", "max_pages: must be from 1"),
        ("header = ['Authorization: Bearer pond']", "Authorization would be stored in the clear"),
        ("proxy = 'http://frog:pond@p.test:1'", "stored in the clear"),
    ],
)
def test_what_a_job_cannot_ask_for_is_refused_by_its_key(toml: str, sentence: str) -> None:
    """CFG-01."""
    with pytest.raises(BadParams) as refused:
        read(toml)
    assert sentence in refused.value.message
    assert "pond" not in refused.value.message


def test_a_file_with_a_secret_lies_beside_the_job_file() -> None:
    found = read('header = ["X-Key: file:a", "X-B: b"]\nproxy = "file:~/b"\nmodel_key = "file:c.txt"').options
    assert found["header"] == ["X-Key: file:/marsh/a", "X-B: b"]
    assert (found["proxy"], found["model_key"]) == (f"file:{Path.home()}/b", "file:/marsh/c.txt")
    assert read('model_key = "env:KEY"').options == {"model_key": "env:KEY"}


def test_where_a_job_begins_cannot_be_taken_for_an_option() -> None:
    with pytest.raises(BadParams, match="cannot be where a job begins"):
        words(read('seeds = ["--new"]'))


def test_a_job_file_has_the_same_keys_at_its_top_or_as_its_only_job(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('name = "frogs"\nseeds = ["https://marsh.test/"]\n')
    (tmp_path / "b.toml").write_text('[job.frogs]\nseeds = ["https://marsh.test/"]\n')
    assert words(read_job_file(tmp_path / "a.toml")) == words(read_job_file(tmp_path / "b.toml"))
    with pytest.raises(BadParams, match="describes one job"):
        job_in({"job": {"frogs": {}, "toads": {}}}, tmp_path / "c.toml")


def test_a_template_is_filled_from_a_row_of_a_list() -> None:
    table = {"name": "{company}", "seeds": ["https://{host}/"], "max_depth": 2}
    row = {"company": "acme", "host": "acme.test"}
    assert filled(table, row, where="t.toml") == {"name": "acme", "seeds": ["https://acme.test/"], "max_depth": 2}
    with pytest.raises(BadParams, match="not a column of the list"):
        filled({"seeds": "https://{url}/"}, row, where="t.toml")


def test_every_option_of_the_start_commands_is_a_key_of_a_job_file() -> None:
    known = {row.option.flag for row in job_keys().values()} | ONLY_TYPED
    missing = [
        f"{name} {option}"
        for name in ("crawl", "cases")
        if command(name) is not None
        for option in _parser_of(name)._option_string_actions
        if option.startswith("--") and option not in known
    ]
    assert missing == [], "give each a row in config/options.py or in its Kind, or a name among ONLY_TYPED"
