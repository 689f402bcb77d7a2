"""A folder of images: a file keeps its name, and the manifest says which URL it is of, whoever goes on with the job."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.bench import Bench, sqlite_bench
from engine.desk import MemoryBlobs
from holdfast.blobs.storage import FolderStorage
from holdfast.clock import ManualClock
from holdfast.model.job import Job
from holdfast.recipes.images import facts
from holdfast.views.exports import images_zip
from holdfast.views.exports.folder import write_folder
from holdfast.views.exports.image_files import FileNames
from holdfast.views.results import Results
from views.images_ledger import ImagesLedger, content_of


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    yield made
    made.close()


class Exported:
    """A job whose images lie in the data folder, and the folder that it goes to."""

    def __init__(self, pets: ImagesLedger, folder: Path) -> None:
        self.pets, self.folder = pets, folder / "set"
        self.folder.mkdir()
        names = ("", "segments", "artifacts", "snapshots")
        self.storage = FolderStorage(*(folder / "data" / name for name in names), software="test")

    def __call__(self, job: Job | None = None) -> dict[str, str]:
        """URL -> file, as the manifest has it; each file has the bytes of its URL."""
        for url, path in self.pets.kept().values():
            file = self.storage.artifacts / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content_of(url))
        nothing: Any = None
        job = job or self.pets.bench.job(self.pets.job.id)
        write_folder(Results(self.pets.bench.ledger, MemoryBlobs(), job, nothing), self.storage, self.folder)
        rows = [json.loads(line) for line in (self.folder / "manifest.jsonl").read_text().splitlines()]
        named = {row["url"]: row["file"] for row in rows}
        assert {url: (self.folder / file).read_bytes() for url, file in named.items()} == {
            url: content_of(url) for url in named
        }
        assert sorted(named.values()) == sorted(
            str(path.relative_to(self.folder)) for path in self.folder.glob("*/*") if path.is_file()
        )
        return named


def test_a_file_keeps_its_name_and_its_url_over_deaths_and_exports(bench: Bench, tmp_path: Path) -> None:
    """Defect lines 2 and 10 of the engines world: the set grows, and nothing in it is written anew."""
    pets = ImagesLedger(bench, per_keyword=60)
    exported = Exported(pets, tmp_path)
    before: dict[str, str] = {}
    sizes = []
    while len(before) < 2 * 60:
        pets.die()
        pets.work(5)
        files = {name: (exported.folder / name).stat().st_ino for name in before.values()}
        named = exported()
        assert before.items() <= named.items()
        assert {name: (exported.folder / name).stat().st_ino for name in files} == files
        before = named
        sizes.append(len(named))
    assert len(set(sizes)) > 3, "it grew several times"


def test_an_image_that_is_thrown_out_takes_no_name_of_another_with_it(bench: Bench, tmp_path: Path) -> None:
    """Defect line 2: its file is gone, and every other one is called as before."""
    pets = ImagesLedger(bench)
    pets.work()
    exported = Exported(pets, tmp_path)
    before = exported()
    rows = bench.targets(pets.job.id)
    first = next(row for row in rows if row.type == facts.IMAGE and (row.name or "").startswith("image 000001 cat"))
    bench.ledger.label(pets.job.id, [first.id], "rejected", actor="ann")
    after = exported()
    assert {url: file for url, file in before.items() if url not in after} == {
        "https://i.test/cat/0.jpg": "cat/0001.jpg"
    }
    assert after.items() < before.items()


def test_a_keyword_that_is_added_later_renames_no_file(bench: Bench, tmp_path: Path) -> None:
    """Defect line 2: `what:` comes before `what?` in every order but that of the job, and both would be `what_`."""
    pets = ImagesLedger(bench, keywords=("what?", "what:"))
    pets.work()
    exported = Exported(pets, tmp_path)
    assert {file.partition("/")[0] for url, file in exported().items() if "what?" in url} == {"what_"}
    assert FileNames(["what?", "what:", "What_"]).folder("What_").startswith("What_~")
    assert FileNames(["what?"]).folder("what?") == FileNames(["what?", "what:"]).folder("what?") == "what_"


def test_the_manifest_that_is_to_come_lies_beside_the_images(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not among temporary files, which are often in memory."""
    pets = ImagesLedger(bench, per_keyword=3)
    pets.work()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    exported = Exported(pets, tmp_path)
    count = len(exported())
    zipped: list[bytes] = []
    nothing: Any = None
    results = Results(bench.ledger, MemoryBlobs(), bench.job(pets.job.id), nothing)
    assert images_zip.write_zip(results, exported.storage, zipped.append) == count > 0
