"""A list and a template: one job per row, all checked before the first begins, and again where it stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast as hf
from cli.commands import holdfast
from cli.schemas import validator
from holdfast.demo.serving import WorldServer

TEMPLATE = 'name = "{pond}"\nseeds = ["{url}"]\ndelay = "0s"\nmax_depth = 1\noutput = "{pond}.jsonl"\n'


def batch(folder: Path, rows: str, template: str = TEMPLATE) -> tuple[str, ...]:
    (folder / "ponds.csv").write_text(rows)
    (folder / "pond.toml").write_text(template)
    return ("run", "ponds.csv", "--template", "pond.toml")


def test_every_row_is_a_job_and_the_same_command_goes_on(tree: WorldServer, tmp_path: Path) -> None:
    seed = tree.oracle()["seeds"][0]
    words = batch(tmp_path, f'pond,url\nfrogs,{seed}\n\n"toads",{tree.url}/p/1\n')
    done = holdfast(*words, "--json", cwd=tmp_path, HOLDFAST_HTTP__ALLOW=tree.address)
    assert done.code == 0, done.err
    answer = done.json()
    validator("batch").validate(answer)
    assert [(row["line"], row["name"], row["exit_code"]) for row in answer["jobs"]] == [
        (2, "frogs", 0),
        (4, "toads", 0),
    ]
    assert (tmp_path / "frogs.jsonl").stat().st_size > 0
    assert (tmp_path / "toads.jsonl").stat().st_size > 0
    again = holdfast(*words, cwd=tmp_path, HOLDFAST_HTTP__ALLOW=tree.address)
    assert again.code == 0
    assert "frogs is complete" in again.err
    assert "toads is complete" in again.err


def test_a_list_without_rows_is_said_to_have_none(tmp_path: Path) -> None:
    done = holdfast(*batch(tmp_path, "pond,url\n\n"), "--json", cwd=tmp_path)
    assert (done.code, done.json()["jobs"]) == (0, [])
    assert "ponds.csv has no rows behind its first line" in done.err


def test_a_job_that_is_refused_does_not_stop_the_next(tree: WorldServer, tmp_path: Path) -> None:
    seed = tree.oracle()["seeds"][0]
    holdfast("crawl", seed, "--name", "frogs", "--start-paused", cwd=tmp_path, HOLDFAST_HTTP__ALLOW=tree.address)
    holdfast("cancel", "frogs", cwd=tmp_path)
    words = batch(tmp_path, f"pond,url\nfrogs,{seed}\ntoads,{seed}\n", TEMPLATE.replace("max_depth = 1\n", ""))
    done = holdfast(*words, "--json", cwd=tmp_path, HOLDFAST_HTTP__ALLOW=tree.address)
    assert (done.code, [row["exit_code"] for row in done.json()["jobs"]]) == (6, [6, 0]), done.err
    assert "ponds.csv:2: frogs was cancelled for good" in done.err


@pytest.mark.parametrize(
    ("line", "cell", "sentence"),
    [
        ('header = ["X-Key: {x}"]', "env:HOME", "header: a cell may not name a secret"),
        ('header = ["{x}"]', "Authorization: file:/etc/hostname", "header: a cell may not name a secret"),
        ('header = ["X-Key: en{x}"]', "v:HOME", "header: a cell may not name a secret"),
        ('proxy = "{x}"', "file:/etc/hostname", "proxy: a cell may not name a secret"),
        ('model_key = "{x}"', "env:AWS_SECRET_ACCESS_KEY", "model_key: a cell may not name a secret"),
        ('model_key = "{x}"', "file:/etc/hostname", "model_key: a cell may not name a secret"),
        ('header = ["X-Key: env:{x}"]', "HOME", "header: a cell may not choose an environment variable"),
        ('model_key = "env:AWS_{x}"', "SECRET_ACCESS_KEY", "model_key: a cell may not choose an environment variable"),
        ('header = ["X-Key: file:{x}"]', "/etc/hostname", "header: a cell may not lead out of"),
        ('header = ["X-Key: file:out/{x}"]', "../evil.py", "header: a cell may not lead out of"),
        ('header = ["{x}: file:out/key"]', "X-Key: file:/etc/hostname", "header: a cell may not lead out of"),
        ('model_key = "file:{x}"', "/etc/hostname", "model_key: a cell may not lead out of"),
        ('model_key = "file:{x}"', "link/key", "model_key: a cell may not lead out of"),
        ('output = "{x}"', "../out.jsonl", "output: a cell may not lead out of"),
        ('output = "out/{x}.jsonl"', "../frogs", "output: a cell may not lead out of"),
        ('output = "{x}"', "/tmp/out.jsonl", "output: a cell may not lead out of"),
        ('output = "link/{x}"', "../out.jsonl", "output: a cell may not lead out of"),
        ('output = "{x}"', "~/out.jsonl", "output: a cell may not lead out of"),
        ('output = "{x}"', "link/out.jsonl", "output: a cell may not lead out of"),
        ('seeds_file = "{x}"', "../secret.txt", "seeds_file: a cell may not lead out of"),
        ('kind = "{x}"', "evil.py", "kind: a cell may not name the code of a recipe"),
    ],
)
def test_a_cell_reaches_nothing_beyond_its_job(line: str, cell: str, sentence: str, tmp_path: Path) -> None:
    """A list is data from elsewhere: it may not read secrets or files, run code, or write outside."""
    (tmp_path / "here" / "out").mkdir(parents=True)
    (tmp_path / "here" / "link").symlink_to(tmp_path)
    (tmp_path / "here" / "evil.py").write_text("raise SystemExit('run')")
    words = batch(tmp_path / "here", f"url,x\nhttps://marsh.test/,{cell}\n", f'seeds = ["{{url}}"]\n{line}\n')
    done = holdfast(*words, cwd=tmp_path / "here")
    assert (done.code, f"ponds.csv:2: {sentence}" in done.err) == (2, True), done.err
    assert not (tmp_path / "here" / "holdfast-data").exists()
    with pytest.raises(hf.BadParams, match=sentence):
        hf.batch(tmp_path / "here" / "ponds.csv", tmp_path / "here" / "pond.toml", data=tmp_path / "data")


def test_what_the_template_itself_names_is_allowed(tree: WorldServer, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "key").write_text("frog")
    (tmp_path / "here" / "FROG.key").write_text("newt")
    template = (
        'seeds = ["{url}"]\nheader = ["X-A: env:FROG", "X-B: file:../key", "X-C: file:{x}.key"]\nmax_depth = 0\n'
        'output = "../{x}.jsonl"\n'
    )
    words = batch(tmp_path / "here", f"url,x\n{tree.oracle()['seeds'][0]},FROG\n", template)
    done = holdfast(*words, cwd=tmp_path / "here", FROG="green", HOLDFAST_HTTP__ALLOW=tree.address)
    assert done.code == 0, done.err
    assert (tmp_path / "FROG.jsonl").stat().st_size > 0


BAD_ROWS = """pond,url
newts,http://{address}/p/1
frogs,banana
toads,ftp://marsh.test/
eels,http://127.0.0.1:1/
carps,http://{address}/p/2
pikes,banana
"""


def test_all_bad_rows_are_named_at_once_and_no_job_is_made_or_changed(tree: WorldServer, tmp_path: Path) -> None:
    allowed = {"HOLDFAST_HTTP__ALLOW": tree.address}
    words = batch(tmp_path, BAD_ROWS.format(address=tree.address))
    first = holdfast(*words, cwd=tmp_path, **allowed)
    assert first.code == 2
    assert first.err.splitlines() == [
        "4 rows cannot be used, and nothing was begun:",
        "  ponds.csv:3,7: 'banana' is not a URL; the name of a job must stand alone",
        "  ponds.csv:4: 'ftp://marsh.test/' is not an http or https URL (holdfast crawl https://docs.example.dev)",
        "  ponds.csv:5: 127.0.0.1 is a private address; refused. To allow: --allow-private",
    ]
    assert not (tmp_path / "holdfast-data").exists()
    holdfast("crawl", f"{tree.url}/p/1", "--name", "newts", "--start-paused", cwd=tmp_path, **allowed)
    events = holdfast("events", "newts", "--json", cwd=tmp_path).json()["events"]
    assert holdfast(*words, cwd=tmp_path, **allowed).err == first.err
    assert holdfast("events", "newts", "--json", cwd=tmp_path).json()["events"] == events
    assert [job["name"] for job in holdfast("jobs", "--json", cwd=tmp_path).json()["jobs"]] == ["newts"]


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ('kind = "cases"\nname = "{pond}"\nrange = ["{url}"]\nurl = "https://x.test/{{number}}"\n', "ponds.csv:2: "),
        ('kind = "pond.py"\nname = "{pond}"\nparams = { url = "{url}" }\n', "pond.py"),
        ('kind = "documents"\nname = "{pond}"\nlist = "{url}"\n', "ponds.csv:2: there is no list 'banana'"),
        ('name = "{pond}"\nseeds = ["marsh.test"]\noutput = "{url}/a.jsonl"\n', "there is no folder"),
    ],
)
def test_every_kind_of_job_is_checked_first(template: str, sentence: str, tmp_path: Path) -> None:
    done = holdfast(*batch(tmp_path, "pond,url\nfrogs,banana\n", template), cwd=tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert sentence in done.err
    assert done.err.endswith("; nothing was begun\n")
    assert not (tmp_path / "holdfast-data").exists()


@pytest.mark.parametrize(
    ("rows", "template", "sentence"),
    [
        ("pond,url\nfrogs\n", TEMPLATE, "ponds.csv:2: it has 1 cells, not 2"),
        ("pond,pond\nfrogs,x\n", TEMPLATE, "must name the columns, each once"),
        ("", TEMPLATE, "must name the columns, each once"),
        ("pond,url\nfrogs,marsh.test\nfrogs,pond.test\n", TEMPLATE, "is that of line 2 too"),
        (
            "pond,url\na,marsh.test\nb,marsh.test\n",
            "seeds = ['{url}']\ninclude = ['/{pond}/*']",
            "is the job of line 2 too",
        ),
        ("pond,url\nbig frogs,marsh.test\n", TEMPLATE, "'big frogs' cannot be a job's name"),
        ("pond,address\nfrogs,marsh.test\n", TEMPLATE, "has a placeholder that is not a column of the list"),
        ('pond,url\n"frogs,marsh.test\n', TEMPLATE, "is not CSV"),
        ("pond,url\nfrogs,marsh.test\n", "dely = 3", "did you mean delay?"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_no_job_begins(
    rows: str, template: str, sentence: str, tmp_path: Path
) -> None:
    done = holdfast(*batch(tmp_path, rows, template), cwd=tmp_path)
    assert done.code == 2
    assert sentence in done.err
    assert not (tmp_path / "holdfast-data").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "ponds.csv"), "what is to be made of its rows? (--template FILE.toml)"),
        (("run", "ponds.csv", "--template", "newt.toml"), "there is no file newt.toml"),
        (("run", "newts.csv", "--template", "pond.toml"), "no list newts.csv"),
        (("run", "ponds.csv", "--template", "pond.toml", "-o", "a.jsonl"), "--output is one, and the jobs are many"),
        (("run", "ponds.csv", "--template", "pond.toml", "--name", "a"), "--name is one, and the jobs are many"),
        (("run", "pond.toml", "--template", "pond.toml"), "--template goes with a CSV list"),
    ],
)
def test_a_mistake_is_one_sentence(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    batch(tmp_path, "pond,url\nfrogs,marsh.test\n")
    done = holdfast(*words, cwd=tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert sentence in done.err
