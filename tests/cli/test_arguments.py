"""Global options work before and after every command, and a mistake is one sentence with a suggestion (C14)."""

from __future__ import annotations

import pytest

from holdfast.cli.arguments import Globals, take_globals
from holdfast.cli.main import main
from holdfast.errors import UsageError


@pytest.mark.parametrize(
    "argv",
    [
        ["--data", "marsh", "--json", "status", "frogs"],
        ["status", "frogs", "--json", "--data=marsh"],
        ["status", "--data", "marsh", "frogs", "--json"],
    ],
)
def test_global_options_are_taken_out_wherever_they_stand(argv: list[str]) -> None:
    assert take_globals(argv) == (Globals(data="marsh", fields="*"), ["status", "frogs"])


def test_json_takes_fields_only_by_an_equals_sign() -> None:
    assert take_globals(["--json=id,status", "status"]) == (Globals(fields="id,status"), ["status"])
    assert take_globals(["--json", "status"]) == (Globals(fields="*"), ["status"])


def test_short_switches_may_be_joined() -> None:
    assert take_globals(["-qy", "status", "-v"]) == (Globals(quiet=True, yes=True, verbose=True), ["status"])


def test_what_stands_behind_two_dashes_is_left_alone() -> None:
    assert take_globals(["crawl", "--", "--json"]) == (Globals(), ["crawl", "--", "--json"])


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--data"], "--data needs a value"),
        (["--data="], "--data needs a value"),
        (["--json="], "--json= needs field names"),
        (["--json", "--jsonl"], "choose one of them"),
        (["status", "\udcff"], "not valid UTF-8"),
    ],
)
def test_a_global_option_that_cannot_be_used_is_said(argv: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        take_globals(argv)


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["crwl"], "There is no command 'crwl'; did you mean crawl?"),
        (["ls"], "There is no command 'ls'; did you mean status?"),
        (["version"], "There is no command 'version'; did you mean --version?"),
        (["rm", "frogs"], "nothing removes a job yet: `holdfast cancel JOB` stops it for good"),
        (["crawl", "x.test", "--depth", "3"], "has no option --depth; did you mean --max-depth?"),
        (["--dta", "x", "status"], "There is no option --dta; did you mean --data?"),
        (["crawl", "x.test", "--dely", "2s"], "has no option --dely; did you mean --delay?"),
        (["crawl", "x.test", "--delay"], "--delay: needs a value"),
        (["status", "frogs", "toads"], "does not know what to do with 'toads'"),
        (["pause"], "needs JOB"),
        (["crawl"], "needs a URL, or the name of a job"),
        (["crawl", "x.test", "--concurrency", "0"], "--concurrency: must be from 1 to 256, not 0"),
        (["crawl", "x.test", "--delay", "2 days"], "'2 days' is not a duration"),
        (["crawl", "x.test", "--max-bytes", "9PB"], "'9PB' is not a size"),
        (["crawl", "x.test", "--scope", "galaxy"], "--scope: invalid choice: 'galaxy'"),
        (["crawl", "x.test", "--header", "frog"], "is not a header"),
        (["crawl", "x.test", "--name", "a b"], "cannot be a job's name"),
        (["crawl", "x.test", "--name", "J-7f3a"], "cannot be a job's name: it looks like a job's id"),
        (["crawl", "x.test", "-o", "out.frog"], "the suffix names no form"),
        (["crawl", "x.test", "--to", "jsonl"], "needs a file to write to"),
        (["crawl", "x.test", "-o", "-", "--json"], "stdout can carry one thing"),
        (["resume", "frogs", "--all"], "leave out JOB or --all"),
        (["export", "frogs"], "needs a file: -o FILE.jsonl"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    argv: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


def test_options_and_urls_may_be_mixed(capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["crawl", "marsh.test", "--name", "wet", "pond.test", "--start-paused", "--json=name,status"]) == 0
    assert capsys.readouterr().out == '{"name":"wet","status":"pending"}\n'
