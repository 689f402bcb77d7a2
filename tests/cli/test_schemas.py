"""JSON output fits the schemas that are shipped, and the identity holds at every instant of a crawl (C5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cli.commands import Running, crawl_words, holdfast
from cli.marsh import marsh
from cli.schemas import SCHEMAS, validator
from holdfast.cli.main import main
from holdfast.demo.serving import WorldServer
from waiting import wait_until

SAMPLES, SHARES = 1000, 2
BY_ITSELF = 10  # every tenth look is a process of its own; the others call the same command in this one
MOVED_MIN = 50  # different counts in a share: every tenth look saw another one


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A crawl of two runs with a page of every fate: (folder, address)."""
    folder = tmp_path_factory.mktemp("schemas")
    with marsh() as address:
        words = [
            "crawl",
            f"http://{address}/",
            "--allow",
            address,
            "--delay",
            "0",
            "--name",
            "frogs",
            "--max-depth",
            "2",
        ]
        assert holdfast(*words, "--exclude", "/tags/*", cwd=folder).code == 0
        crawl = Running(
            "crawl", f"http://{address}/patience", "--allow", address, "--delay", "0", "--name", "toads", cwd=folder
        )
        try:
            wait_until(lambda: is_waiting(folder, address), 30, "a page waits")
            yield folder, address
        finally:
            crawl.stop()


def is_waiting(folder: Path, address: str) -> bool:
    done = holdfast("explain", "toads", f"http://{address}/busy", "--json=verdict", cwd=folder)
    return done.code == 0 and bool(done.json()["verdict"] == "waiting")


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.stem)
def test_every_schema_is_one(path: Path) -> None:
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:holdfast:schema:{path.stem}/1"


def test_every_answer_has_a_schema_that_some_test_holds_it_to() -> None:
    """C5: what the commands write as `holdfast.NAME/1` or list under a noun, and nothing else."""
    package, tests = SCHEMAS.parent, Path(__file__).parents[1]
    # Apart from nouns of kinds and of forms.
    sources = "".join(path.read_text() for path in package.rglob("*.py") if "recipes" not in path.parts)
    sources = re.sub(r"\bForm\([^)]*\)", "", sources)
    sources += (package / "recipes/site/report/document.py").read_text()
    told = set(re.findall(r'"holdfast\.([a-z_]+)/1"|\.listing\(\s*"([a-z]+)"|noun="([a-z]+)"', sources))
    named = {name for names in told for name in names if name}
    assert named | {"problem"} == {path.stem for path in SCHEMAS.glob("*.json")}
    held = "".join(path.read_text() for path in tests.rglob("test_*.py"))
    assert {name for name in named if f'validator("{name}")' not in held and f'("{name}", (' not in held} == set()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("job", ("status", "frogs")),
        ("job", ("status", "toads")),
        ("jobs", ("status",)),
        ("jobs", ("jobs", "--status", "completed,in_progress")),
        ("targets", ("targets", "frogs")),
        ("targets", ("targets", "toads", "--limit", "1")),
        ("errors", ("errors", "frogs")),
        ("events", ("events",)),
        ("checkpoints", ("checkpoints", "frogs")),
        ("checkpoint", ("checkpoints", "frogs", "--show", "1")),
        ("explain", ("explain", "frogs", "{site}/frog")),
        ("explain", ("explain", "frogs", "{site}/gone")),
        ("explain", ("explain", "frogs", "{site}/never")),
        ("explain", ("explain", "toads", "{site}/busy")),
        ("explain", ("explain", "frogs", "https://pond.test/newt")),
        ("frontier", ("frontier", "toads")),
        ("frontier", ("frontier", "toads", "--by", "pattern")),
        ("breakdown", ("status", "frogs", "--by", "disposition")),
        ("verify", ("verify", "frogs")),
        ("export", ("export", "frogs", "-o", "frogs.csv")),
        ("export", ("export", "frogs", "-o", "frogs.warc.gz")),
        ("export", ("export", "frogs", "-o", "frogs/")),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)
def test_what_a_command_answers_fits_its_schema(name: str, words: tuple[str, ...], site: tuple[Path, str]) -> None:
    """C5."""
    folder, address = site
    done = holdfast(*(word.replace("{site}", f"http://{address}") for word in words), "--json", cwd=folder)
    assert done.code == 0, done.err
    answer = done.json()
    validator(name).validate(answer)
    assert answer["schema"] == f"holdfast.{name}/1"


def test_an_error_fits_its_schema(site: tuple[Path, str]) -> None:
    done = holdfast("status", "newts", "--json", cwd=site[0])
    assert done.code == 5
    validator("problem").validate(done.problem())
    refused = holdfast("pause", "frogs", "--json", cwd=site[0])
    assert refused.code == 6
    validator("problem").validate(refused.problem())


def test_a_schema_refuses_what_is_wrong(site: tuple[Path, str]) -> None:
    answer = holdfast("status", "frogs", "--json", cwd=site[0]).json()
    for wrong in ({**answer, "status": "happy"}, {**answer, "mood": "fine"}, {**answer, "counts": {}}):
        assert not validator("job").is_valid(wrong)


@pytest.fixture
def endless_tree(tmp_path: Path) -> Iterator[WorldServer]:
    """Two minutes of pages, however fast the computer: four at a time, each after 60 ms."""
    with WorldServer("tree", pages=8000, delay_ms=60, log_path=tmp_path / "requests.jsonl") as world:
        yield world


@pytest.mark.parametrize("share", range(SHARES))
def test_the_identity_holds_in_a_thousand_samples_of_a_running_crawl(
    share: int, endless_tree: WorldServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """C5: each by the command, and at each the job was running. In shares, so that processes share them."""
    crawl = Running(*crawl_words(endless_tree, "--per-host", "4"), cwd=tmp_path)
    words = ("status", "frogs", "--json", "--data", str(tmp_path / "holdfast-data"))
    checked, seen = validator("job"), []
    try:
        crawl.wait_for(" crawling succeeded=")
        for number in range(SAMPLES // SHARES):
            if number % BY_ITSELF == 0:
                document = holdfast(*words, cwd=tmp_path).json()
            else:
                assert main(words) == 0
                document = json.loads(capsys.readouterr().out)
            checked.validate(document)
            assert_balanced(document)
            assert (document["status"], crawl.is_over) == ("in_progress", False)
            seen.append(document["counts"]["succeeded"])
    finally:
        crawl.stop()
    assert seen == sorted(seen)
    assert len(set(seen)) > MOVED_MIN, "the crawl stood still while it was looked at"


def assert_balanced(document: dict[str, Any]) -> None:
    counts = document["counts"]
    assert counts["discovered"] == sum(number for name, number in counts.items() if name != "discovered")
    assert sum(document["failed_by"].values()) == counts["failed"]
    assert sum(document["skipped_by"].values()) == counts["skipped"]
    for name, number in counts.items():
        assert sum(parts[name] for parts in document["counts_by_type"].values()) == number
