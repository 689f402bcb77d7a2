"""A documents job that is carried to another place takes the versions of its list along."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import asdict, replace

from documents.collecting import Collector
from documents.shelf import Shelf, serving
from holdfast import wiring
from holdfast.clock import ManualClock
from holdfast.config import Settings
from holdfast.control.list_copies import OfferedVersions, index_path
from holdfast.control.list_store import ListStore
from holdfast.control.restore import RestoreOptions, restore
from holdfast.control.snapshot_file import opened_snapshot, restore_snapshot
from holdfast.demo.judgments.pdf import write_pdf
from holdfast.errors import PlanFailed, Refused
from holdfast.model.artifact import below
from holdfast.ports import Query
from holdfast.recipe import Context
from holdfast.recipes.documents.recipe import DocumentsRecipe
from holdfast.recipes.documents.versions import Version

QUICK = ("--delay", "0", "--per-host", "8", "--allow-private")
COLUMNS = ("--columns", "url=Link,id=Number,title=Title")
TOLD = ("collection", "counts", "versions", "runs", "missing", "failed", "documents")


def publish(shelf: Shelf, numbers: range, title: str = "As it was") -> None:
    lines = "".join(f"{shelf.url}/{n}.pdf,A-{n},{title if n == 3 else 'A title'}\n" for n in numbers)
    (shelf.root / "list.csv").write_text(f"Link,Number,Title\n{lines}")


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_a_restored_job_knows_every_version_of_its_list(
    tmp_path: Path, backend: str, request: pytest.FixtureRequest
) -> None:
    """SNP-05, DOC-03, DOC-06: the report, `sources diff` and `--mode new` say elsewhere what they said here, and a
    version that the job had not taken up yet is taken up there, although its list is gone from the web."""
    with serving(tmp_path / "www") as shelf:
        for n in range(8):
            (shelf.root / f"{n}.pdf").write_bytes(write_pdf(f"Document {n}", ["It says so."] * 20))
        here = Collector(tmp_path / "here")
        publish(shelf, range(4))
        here.run("docs", f"{shelf.url}/list.csv", *COLUMNS, *QUICK)
        publish(shelf, range(1, 6), title="Corrected")
        here.run("docs", "list", "--mode", "new", "--limit", "1", expect=13)
        publish(shelf, range(1, 8), title="Corrected")
        here.run("sources", "sync", "list", "--allow-private")
        here.run("snapshot", "list", "-o", "list.tar")
        (shelf.root / "list.csv").unlink()

        there = Collector(
            tmp_path / "there", database=request.getfixturevalue("pg_schema_url") if backend == "postgres" else ""
        )
        shutil.copy(here.folder / "list.tar", there.folder)
        there.run("restore", "list.tar", "--trust")
        shutil.move(here.folder, tmp_path / "gone")  # nothing of it is needed
        here = Collector(tmp_path / "gone")
        told, known = (json.loads(each.run("report", "list", "--format", "json").stdout) for each in (there, here))
        assert {name: told[name] for name in TOLD} == {name: known[name] for name in TOLD}
        assert [version["new"] for version in told["versions"]] == [4, 2]
        for words in (("sources", "diff", "list"), ("sources", "list")):
            assert there.json(*words) == here.json(*words)
        assert there.json("sources", "diff", "list")["new"] == ["A-6", "A-7"]

        asked = len(shelf.asked)
        told_last = there.run("docs", "list", "--mode", "new").stderr
        assert "the last good list serves (7 rows, version 3)" in told_last
        assert set(there.held("list")) == {f"A-{n}" for n in range(8)}
        fetched = [path for path in shelf.asked[asked:] if path.endswith(".pdf")]
        assert len(fetched) == len(set(fetched)) == 3  # one of v2, two of v3: what is held is not asked for again
        assert "every check holds" in there.run("verify", "list", "--deep").stdout


def test_a_folder_that_follows_the_list_already_keeps_its_own_versions(tmp_path: Path) -> None:
    """An older list that comes with a snapshot never serves in the place of a newer one."""
    with serving(tmp_path / "www") as shelf:
        (shelf.root / "0.pdf").write_bytes(write_pdf("Document", ["It says so."] * 20))
        here, there = Collector(tmp_path / "here"), Collector(tmp_path / "there")
        publish(shelf, range(1))
        here.run("docs", f"{shelf.url}/list.csv", *COLUMNS, *QUICK)
        here.run("snapshot", "list", "-o", str(there.folder / "list.tar"))
        publish(shelf, range(2))
        there.run("docs", f"{shelf.url}/list.csv", *COLUMNS, *QUICK, "--start-paused")
        before = there.json("sources", "list")
        there.run("restore", "list.tar", "--trust", "--name", "earlier")
        [source] = before["sources"]
        assert there.json("sources", "list") == {**before, "sources": [{**source, "job": "list, earlier"}]}
        report = json.loads(there.run("report", "earlier", "--format", "json").stdout)
        assert [version["documents"] for version in report["versions"]] == [1]


def test_a_followed_source_takes_newer_lists_of_a_snapshot_by_a_word_and_after_the_commit(tmp_path: Path) -> None:
    """SEC-06, SEC-10: jobs that were here before are not worked by lists that somebody sent."""
    with serving(tmp_path / "www") as shelf:
        here, there = Collector(tmp_path / "here"), Collector(tmp_path / "there")
        publish(shelf, range(1))
        there.run("docs", f"{shelf.url}/list.csv", *COLUMNS, *QUICK, "--start-paused")
        publish(shelf, range(2))
        here.run("docs", f"{shelf.url}/list.csv", *COLUMNS, *QUICK, "--start-paused", "--name", "sent")
        tar = there.folder / "sent.tar"
        here.run("snapshot", "sent", "-o", str(tar))
    settings = Settings(data=there.folder / "holdfast-data")
    storage = wiring.storage(settings)
    lists = ListStore(settings.artifacts, storage.write_file)
    [source] = lists.sources()
    before = lists.versions(source)

    def judge(query: Query, job: int) -> list[str]:
        return ["rows that somebody spoiled"]

    with opened_snapshot(storage, tar) as snapshot, closing(wiring.open_ledger(settings)) as ledger:
        with pytest.raises(Refused, match=f"\n  list: adds 1 newer to the lists of {source}, which is followed here"):
            restore_snapshot(storage, ledger, snapshot, RestoreOptions("sent"))
        trusted = RestoreOptions("sent", trust=True)
        with pytest.raises(Refused, match="rows that somebody spoiled"):
            restore(ledger, storage.shelf, snapshot, trusted, judge, storage.files, lists)
        assert lists.versions(source) == before
        restore_snapshot(storage, ledger, snapshot, trusted)
    assert [(version.number, version.row_count) for version in lists.versions(source)] == [(1, 1), (2, 2)]


LIST = b"Link\nhttps://e.example/1.pdf\nhttps://e.example/2.pdf\n"
NOW_MS = 1_800_000_000_000
DECEITS: dict[str, tuple[dict[str, object], bool]] = {
    "none": ({}, True),
    "leads_out": ({"file_path": "../secret.csv"}, False),
    "another source": ({"source": "unreported_judgments"}, False),
    "another file's hash": ({"sha256": "ab" * 32}, False),
    "what the server says": ({"etag": '"for ever"', "last_modified": "Fri, 31 Dec 2100 00:00:00 GMT"}, True),
    "the number of rows": ({"row_count": 1_000_000}, True),
    "the future": ({"fetched_at_ms": 1 << 62}, True),
    "the last number": ({"number": (1 << 64) - 1}, True),
}


def list_store(folder: Path) -> ListStore:
    (folder / "csv").mkdir(parents=True)
    for path in (folder / "csv" / "mine_1.csv", folder.parent / "secret.csv"):
        path.write_bytes(LIST)
    return ListStore(folder, lambda path, write: path.write_bytes(written(write)))


def written(write: Callable[..., None]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


@pytest.mark.parametrize("name", DECEITS)
def test_of_an_index_from_elsewhere_only_what_the_lists_bear_out_is_believed(tmp_path: Path, name: str) -> None:
    """SEC-06, of a snapshot as data: no line of it names a file elsewhere, speaks for another source, or says what
    would keep other jobs from ever seeing a new list."""
    false, is_kept = DECEITS[name]
    digest = sha256(LIST).hexdigest()
    true = Version(7, "mine", digest, 2, valid=True, fetched_at_ms=NOW_MS, file_path="csv/mine_1.csv")
    index = msgspec.json.encode([asdict(true) | false])
    store, params = list_store(tmp_path / "artifacts"), {"list": "https://e.example/l.csv", "source": "mine"}
    offered = OfferedVersions.of("documents", params, [(index_path("mine"), b"", [index])], NOW_MS)
    assert offered is not None
    offered.learn(store, {"csv/mine_1.csv": digest}, trust=False)
    number = 1 if name == "the last number" else 7
    assert store.versions("mine") == [replace(true, number=number)] * is_kept
    assert store.versions("unreported_judgments") == []


def test_no_other_kind_of_job_and_no_job_of_another_source_speaks_for_a_list() -> None:
    index = [(index_path("mine"), b"", [b"[]"])]
    assert OfferedVersions.of("site", {"source": "mine"}, index, NOW_MS) is None
    assert OfferedVersions.of("documents", {"source": "other"}, index, NOW_MS) is None


@pytest.mark.parametrize("where", [lambda path: {"versions": [f"../{path.name}"]}, lambda path: {"list": str(path)}])
def test_a_job_whose_list_leads_out_of_the_folder_is_not_planned(
    tmp_path: Path, where: Callable[[Path], dict[str, object]]
) -> None:
    """A restored job is data, too."""
    (tmp_path / "secret.csv").write_text("Link\nhttps://e.example/1.pdf\n")
    recipe = DocumentsRecipe(ManualClock())
    params = recipe.check({"list": "list.csv", "planned": 1, **where(tmp_path / "secret.csv")})
    context = Context(params=params, salt=b"s" * 16, chunking="key", kept=partial(below, tmp_path / "artifacts"))
    with pytest.raises(PlanFailed, match="cannot be the path"):
        next(iter(recipe.plan(context)))


def test_a_file_that_was_spoiled_and_fetched_again_is_no_reason_to_refuse_a_snapshot(tmp_path: Path) -> None:
    """SNP-05: the bytes of the earlier fetch will never come back; what the job has now is in the snapshot."""
    with serving(tmp_path / "www") as shelf:
        for n in range(2):
            (shelf.root / f"{n}.pdf").write_bytes(write_pdf(f"Document {n}", ["It says so."] * 20))
        here, there = Collector(tmp_path / "here"), Collector(tmp_path / "there")
        publish(shelf, range(2))
        here.run("docs", f"{shelf.url}/list.csv", *COLUMNS, *QUICK)
        spoiled = next((here.folder / "holdfast-data").rglob("A-1.pdf"))
        spoiled.write_bytes(spoiled.read_bytes().replace(b"It says so", b"It says no"))
        here.run("doctor", "--deep", "--repair")
        here.run("snapshot", "list", "-o", "put-back.tar")
        here.run("resume", "list")
        here.run("snapshot", "list", "-o", "list.tar")
        shutil.copy(here.folder / "list.tar", there.folder)
        there.run("restore", "list.tar", "--trust")
        there.run("verify", "list", "--deep")
        assert there.held("list") == here.held("list")
