"""A new kind of job is one folder, one row of the catalogue and one command module: no other file knows of it.

The program is copied, the toy is put into the copy, and the copy is used as people use it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import holdfast as installed
from cli.commands import Done, environment, holdfast
from holdfast.testing.fake_web import FakeWeb

KIND = '''
"""Jobs that look words up."""

from holdfast.model.option import INPUT, Option
from holdfast.model.value_types import TEXT, TEXTS
from holdfast.recipe.kind import Kind


def _recipe(clock):
    from holdfast.recipes.words.recipe import WordsRecipe

    return WordsRecipe(clock)


def _result(row):
    return {"url": row.url, "word": row.name, "bytes": row.size}


KIND = Kind(
    name="words", recipe=_recipe, command="words", noun="word", inputs="words",
    input_keys=(Option("words", TEXTS, "the words to look up", part=INPUT),),
    options=(Option("base", TEXT, "where words are looked up", "--base", metavar="URL", help="where words are found"),),
    given=lambda inputs, options: {**options, "words": list(inputs)},
    scope=("words",), pace={"delay_ms": 0}, breakdowns={"word": "chunk"},
    result=_result, columns=("url", "word", "bytes"), streams=("jsonl", "csv"),
    place=lambda name: (-len(name), name), notes=lambda ledger, job, counts: [f"looked up: {counts.succeeded}"],
)
'''
RECIPE = '''
"""One page per word, and one chunk."""

from hashlib import sha256

from holdfast.errors import BadParams
from holdfast.model.job import ONE_PHASE
from holdfast.model.keys import seed_address
from holdfast.model.outcome import Body, Done, Record


class WordsRecipe:
    name, seeks, names_targets, compares = "words", True, True, False

    def __init__(self, clock):
        self._clock = clock

    def check(self, params):
        if not params.get("words") or not params.get("base"):
            raise BadParams("words needs words and --base")
        return {"words": list(params["words"]), "base": seed_address(params["base"]).url}

    def identity(self, params):
        return f"words:{params['base']}"

    def default_name(self, params):
        return "words"

    def chunking(self, params):
        return "key"

    def chunks(self, params):
        return tuple(params["words"])

    def first_urls(self, params):
        return (params["base"],)

    def planned_total(self, params):
        return len(params["words"])

    def phases(self, params):
        return ONE_PHASE

    def in_levels(self, params):
        return False

    def plan(self, context, start=0):
        for word in context.params["words"][start:]:
            address = seed_address(context.params["base"] + word)
            yield context.named(address, type="word", name=word, chunk=word)

    async def step(self, here, fetch, context):
        answer = await fetch(here.url)
        digest = sha256(answer.body).digest()
        now = self._clock.wall_ms()
        body = Body(here.url, answer.status, answer.headers, answer.body, digest, "text/html", now)
        return Done("word", body=body, records=(Record("word", b"{}"),), status_code=answer.status)
'''
COMMAND = '''
"""`holdfast words WORD... --base URL`."""

from holdfast.cli.start import recipe_jobs
from holdfast.clock import SystemClock
from holdfast.recipes.words.kind import KIND
from holdfast.recipes.words.recipe import WordsRecipe


def arguments(parser):
    parser.add_argument("what", nargs="*", metavar="WORD", help="a word to look up")
    recipe_jobs.arguments(parser, KIND)


def run(call):
    return recipe_jobs.start(call, KIND, lambda ledger: _asked(call))


def check(call, ledger):
    return recipe_jobs.check(call, _asked(call), ledger)


def _asked(call):
    recipe = WordsRecipe(SystemClock())
    params = recipe.check({"words": call.options.what, "base": call.options.base})
    return recipe_jobs.asked_for(call, recipe, params, None)
'''
ROW = """    CatalogueEntry("words", "words", "words WORD...", "look words up", ("holdfast words frog toad",)),
)  # fmt: skip
NAMES ="""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program that has the toy."""
    source = tmp_path_factory.mktemp("source")
    package = source / "holdfast"
    assert installed.__file__ is not None
    shutil.copytree(Path(installed.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "recipes/words").mkdir()
    (package / "recipes/words/__init__.py").write_text("")
    (package / "recipes/words/kind.py").write_text(KIND)
    (package / "recipes/words/recipe.py").write_text(RECIPE)
    (package / "cli/commands/words.py").write_text(COMMAND)
    catalogue = package / "recipes/catalogue.py"
    before = catalogue.read_text()
    catalogue.write_text(before.replace(")  # fmt: skip\nNAMES =", ROW))
    assert catalogue.read_text() != before
    return source


@pytest.fixture
def web() -> Iterator[FakeWeb]:
    with FakeWeb(lambda path: f"<h1>{path}</h1>") as web:
        yield web


def command(source: Path, folder: Path, *words: str) -> Done:
    return holdfast(*words, cwd=folder, PYTHONPATH=str(source))


def lines(done: Done) -> list[dict[str, object]]:
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_a_toy_kind_is_among_the_commands_in_help_and_in_completion(source: Path, tmp_path: Path) -> None:
    run = partial(command, source, tmp_path)
    assert "words WORD..." in run("--help").out
    assert "--base URL" in run("words", "--help").out
    assert "look words up" in run("completion", "zsh").out
    assert re.search(r"words\) words='[^']*--base ", run("completion", "bash").out)


def test_jobs_of_a_toy_kind_are_worked_and_shown_by_their_named_chunks(
    source: Path, tmp_path: Path, web: FakeWeb
) -> None:
    run = partial(command, source, tmp_path)
    done = run("words", "frog", "salamander", "--base", f"{web.url}/", *web.options, "-o", "words.csv")
    assert done.code == 0, done.err
    assert "looked up: 2" in done.err
    assert "Wrote 2 words to words.csv" in done.err
    assert (tmp_path / "words.csv").read_text().splitlines()[0] == "url,word,bytes"
    exported = lines(run("export", "words", "-o", "-"))
    assert [row["word"] for row in exported] == ["salamander", "frog"]  # by their places, the longest first
    assert all(list(row) == ["url", "word", "bytes"] for row in exported)
    assert {row["key"]: row["chunk"] for row in lines(run("targets", "words", "--jsonl"))} == {
        "frog": "frog",
        "salamander": "salamander",
    }
    for by in ("chunk", "word"):
        split = run("status", "words", "--by", by, "--json").json()
        assert [(row["group"], row["succeeded"]) for row in split["groups"]] == [("frog", 1), ("salamander", 1)]
    assert run("status", "words", "--json=kind,planned_total").json() == {"kind": "words", "planned_total": 2}
    assert run("verify", "words").code == 0


def test_a_word_that_is_added_is_a_chunk_more(source: Path, tmp_path: Path, web: FakeWeb) -> None:
    run = partial(command, source, tmp_path)
    more = ("--base", f"{web.url}/", *web.options)
    assert run("words", "frog", "toad", *more, "--start-paused").code == 0
    refused = run("words", "newt", "toad", "frog", *more)
    assert (refused.code, "words: frog toad, now newt toad frog" in refused.err) == (6, True)
    done = run("words", "newt", "toad", "frog", *more, "--update")
    assert done.code == 0, done.err
    split = run("status", "words", "--by", "chunk", "--json").json()
    assert {row["group"]: row["succeeded"] for row in split["groups"]} == {"frog": 1, "toad": 1, "newt": 1}
    assert run("verify", "words").code == 0


def test_job_files_and_python_know_a_toy_kind(source: Path, tmp_path: Path, web: FakeWeb) -> None:
    pace = f"allow = {json.dumps([web.url.partition('://')[2]])}\n"
    (tmp_path / "job.toml").write_text(
        f'name = "ponds"\nkind = "words"\nwords = ["frog"]\nbase = "{web.url}/"\n' + pace
    )
    run = partial(command, source, tmp_path)
    done = run("run", "job.toml")
    assert done.code == 0, done.err
    assert [row["word"] for row in lines(run("export", "ponds", "-o", "-"))] == ["frog"]
    code = (
        "import sys, holdfast as hf\n"
        "client = hf.Client(data='holdfast-data')\n"
        "job = client.start('words', 'newt', 'frog', base=sys.argv[1], allow=[sys.argv[2]])\n"
        "job.run()\n"
        "job.export('out.jsonl')\n"
        "print(job.kind, [row['chunk'] for row in job.targets()])\n"
    )
    asked = [sys.executable, "-c", code, f"{web.url}/", web.url.partition("://")[2]]
    env = environment(PYTHONPATH=str(source))
    python = subprocess.run(asked, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert python.stdout == "words ['frog', 'newt']\n", python.stderr
    exported = [json.loads(line)["word"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert exported == ["frog", "newt"]
