"""A folder of images is written by one job alone, and whatever stops it, the same command completes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

import pytest

import holdfast as hf
from cli.image_jobs import QUICK, configure, run
from holdfast.demo.serving import WorldServer
from holdfast.views.exports.folder_owner import MARK

WORDS = ("images", "cat", "--per-keyword", "3", "--name", "cats", *QUICK)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldServer]:
    log = tmp_path_factory.mktemp("engines") / "requests.jsonl"
    with WorldServer("engines", log_path=log, pages=60) as server:
        server.set_faults(retry_after_s=0)
        yield server


@pytest.fixture(scope="module")
def cats(world: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cats")
    configure(folder, world)
    done = run(folder, *WORDS, "-o", "whole/")
    assert done.code == 0, done.err
    return folder


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_of_somebody_else_is_refused_and_stays(cats: Path) -> None:
    """Also one that has a manifest of the same form; a start command says it before it makes a job."""
    folder = cats / "music"
    folder.mkdir()
    (folder / "a.wav").write_bytes(b"music")
    line = {"file": "a.wav", "sha256": sha256(b"music").hexdigest(), "bytes": 5}
    (folder / "manifest.jsonl").write_text(json.dumps(line) + "\n")
    before = files_in(folder)
    for words in (("export", "cats"), ("images", "dodo", "--name", "dodos", *QUICK)):
        done = run(cats, *words, "-o", "music/", *(("--format", "files") if words[0] == "export" else ()))
        assert (done.code, "music is not empty" in done.err) == (2, True), done.err
        assert files_in(folder) == before
    assert [job["name"] for job in run(cats, "jobs", "--json").json()["jobs"]] == ["cats"]


def test_a_folder_of_another_data_folder_is_refused_and_stays(cats: Path) -> None:
    """Though the job has the same name, and also where this data folder wrote there before."""
    other = ("--data", "other-data")
    assert run(cats, *WORDS, *other).code == 0
    for first, second in (((), other), (other, ())):
        rmtree(cats / "shared", ignore_errors=True)
        assert run(cats, "export", "cats", "-o", "shared/", *first).code == 0
        before = files_in(cats / "shared")
        dodos = ("images", "dodo", "--name", "dodos", *QUICK)
        for words in (("export", "cats"), WORDS, dodos):
            done = run(cats, *words, "-o", "shared/", *second)
            assert (done.code, "of a job of another data folder, cats" in done.err) == (2, True), done.err
        assert files_in(cats / "shared") == before


@pytest.mark.parametrize("number", [1, 2, 3, 5, 7, 9])
def test_an_export_that_is_killed_is_completed_by_the_same_command(cats: Path, number: int) -> None:
    """It writes the mark, a note, the journal, three images, and three tables."""
    name = f"killed-{number}/"
    fault = {"HOLDFAST_FAULT": f"export.before_rename:{number}:kill"}
    assert run(cats, "export", "cats", "-o", name, **fault).code not in (0, 2)
    assert not (cats / name / "manifest.jsonl").exists()
    done = run(cats, *WORDS, "-o", name)
    assert done.code == 0, done.err
    assert files_in(cats / name) == files_in(cats / "whole")


def test_a_job_that_is_begun_anew_writes_into_the_folder_of_the_first(world: WorldServer, tmp_path: Path) -> None:
    configure(tmp_path, world)
    assert run(tmp_path, *WORDS, "-o", "set/").code == 0
    before = json.loads((tmp_path / "set" / MARK).read_text())
    done = run(tmp_path, *WORDS, "--new", "-o", "set/")
    assert done.code == 0, done.err
    after = json.loads((tmp_path / "set" / MARK).read_text())
    assert (before["job"], before["uid"] != after["uid"]) == (after["job"], True)


def test_python_writes_shards_in_parts_as_the_command_does(cats: Path) -> None:
    words = ("export", "cats", "-o", "typed/", "--format", "webdataset", "--shard", "1", "--split", "50/50")
    assert run(cats, *words).code == 0
    job = hf.job("cats", data=cats / "holdfast-data")
    assert job.export(f"{cats}/said/", format="webdataset", shard=1, split="50/50") == 3
    assert (files_in(cats / "said"), len(files_in(cats / "said"))) == (files_in(cats / "typed"), 3)
    for wrong in ({"shard": 0}, {"split": "50/60"}):
        with pytest.raises(hf.BadParams, match=r"must be from 1 to|not a division of 100"):
            job.export(f"{cats}/wrong/", format="webdataset", **wrong)  # type: ignore[arg-type]
