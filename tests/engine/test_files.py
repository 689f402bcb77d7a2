"""Downloads to files through the guarded path: resumed, restarted, refused, kept (D6, PER-15, DOC-19, DOC-20)."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, cast

import msgspec
import pytest

from files_web import FilesWeb, Rules, bytes_of, hash_of
from holdfast.blobs.artifacts import ArtifactFiles, StoredFiles
from holdfast.blobs.partial import HELD_BYTES_MAX, NOTE_BYTES
from holdfast.blobs.publish import Disk
from holdfast.clock import SystemClock
from holdfast.engine.bodies import named
from holdfast.engine.execute import Executor, Finished
from holdfast.engine.fetchers import Fetchers
from holdfast.engine.fetching import Fetching, StepFetch
from holdfast.engine.pace import Pace
from holdfast.engine.robots import RobotsBook
from holdfast.errors import BadParams, Corrupt, DiskFull, FetchError, LedgerUnavailable, NotFound
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.fetcher import HttpFetcher
from holdfast.model.artifact import (
    Artifact,
    FetchedFile,
    Keep,
    check_keep,
    content_path,
    versioned,
)
from holdfast.model.exchange import Budget, Request
from holdfast.model.host import Turn
from holdfast.model.job import Options
from holdfast.model.outcome import Done
from holdfast.model.target import Claimed

SIZE = 3_000_000
BUDGET = Budget(idle_s=10.0, total_s=10.0, body_bytes_max=100_000)


class Turns:
    """A ledger that gives every turn at once."""

    async def insist(self, _call: object) -> Turn:
        return Turn(True, 0)


class Place:
    """A folder, a site, and attempts at one target of it."""

    def __init__(self, root: Path, web: FilesWeb, *, boot: str = "b1", disk: Disk | None = None) -> None:
        self.root, self.web, self.boot, self.disk = root, web, boot, disk or Disk()
        self.budget = BUDGET

    def attempt(self, step: Callable[[StepFetch], Awaitable[Any]], *, continues: bool = True) -> Any:
        async def play() -> Any:
            clock, none = SystemClock(), None
            nothing: Any = none
            files = self.files = ArtifactFiles(self.root, "J-1", self.boot, disk=self.disk)
            fetchers = Fetchers(lambda _: HttpFetcher(
                Guard(allow=(self.web.address,)), self.budget, "test", concurrency=4, clock=clock,
            ))  # fmt: skip
            turns: Any = Turns()
            book = RobotsBook(nothing, clock, Random(1), ignoring=True)
            options = Options(detect_blocks=False)
            job = Fetching(
                fetchers, book, turns, clock, options, Random(1), Pace(delay_ms=0, jitter=0.0), nothing, files=files
            )
            claimed = Claimed(1, 1, 1, b"k" * 16, f"{self.web.url}/", self.web.address, "page", 0, None, 0, 1, 0)
            fetch = StepFetch(job, claimed)
            try:
                return await step(fetch)
            finally:
                await fetch.close(continues=continues)
                await fetchers.close()
                files.close()

        return asyncio.run(play())

    def fetch(self, path: str = "", **more: Any) -> FetchedFile:
        async def step(fetch: StepFetch) -> FetchedFile:
            return await one(fetch, self.web, path, **more)

        return self.attempt(step)

    def keep(self, path: str = "", role: str = "pdf", name: str = "") -> Artifact:
        async def step(fetch: StepFetch) -> Artifact:
            [kept] = self.kept(fetch, Keep(await one(fetch, self.web, path), role, name))
            return kept

        return self.attempt(step, continues=False)

    def kept(self, fetch: StepFetch, *wanted: Keep) -> list[Artifact]:
        """As the commit of a target does it."""
        kept = self.files.keep(fetch.taken(wanted))
        assert all(isinstance(each, Artifact) for each in kept)
        return cast("list[Artifact]", kept)

    @property
    def left(self) -> list[str]:
        folder = self.root / ".partial"
        return sorted(path.suffix for path in folder.iterdir()) if folder.exists() else []


async def one(fetch: StepFetch, web: FilesWeb, path: str = "", **more: Any) -> FetchedFile:
    """Each in the turn of its claim: no ledger is asked."""
    fetch._unused = True
    return await fetch.file(Request(f"{web.url}{path or f'/f/frog/{SIZE}'}"), **more)


@pytest.fixture
def web() -> Any:
    with FilesWeb() as site:
        yield site


@pytest.fixture
def place(tmp_path: Path, web: FilesWeb) -> Place:
    return Place(tmp_path / "artifacts", web)


def cut_off(place: Place, at: int = 1_000_000) -> None:
    place.web.rules.cut, place.web.rules.cuts = at, 1
    with pytest.raises(FetchError) as failed:
        place.fetch()
    assert failed.value.code == "body_incomplete"


def test_a_file_is_kept_by_its_hash_and_nothing_of_it_is_left_beside(place: Place) -> None:
    kept = place.keep()
    digest = hash_of("frog", SIZE)
    assert kept == Artifact(
        "pdf", content_path(digest), SIZE, digest, "application/pdf", f"{place.web.url}/f/frog/{SIZE}"
    )
    assert sha256((place.root / kept.path).read_bytes()).digest() == digest
    assert place.left == []
    assert place.keep() == kept


def test_a_file_may_be_larger_and_slower_than_any_page(place: Place) -> None:
    """The idle deadline decides: more bytes than a page may have, more seconds than a page may take."""
    place.budget = msgspec.structs.replace(BUDGET, total_s=1.0)
    place.web.rules.per_s = 1_500_000
    assert place.fetch().sha256 == hash_of("frog", SIZE)


def test_a_file_that_stands_still_is_ended(place: Place) -> None:
    place.budget = msgspec.structs.replace(BUDGET, idle_s=1.0)
    place.web.rules.stall_at = 1_000_000
    with pytest.raises(FetchError, match="idle"):
        place.fetch()


def test_a_file_may_have_a_total_deadline(place: Place) -> None:
    place.web.rules.per_s = 500_000
    with pytest.raises(FetchError, match=r"total: not complete after 0\.5 s"):
        place.fetch(total_s=0.5)


def test_a_download_that_was_cut_off_is_continued_by_the_next_try(place: Place) -> None:
    """D6: continue only with If-Range."""
    cut_off(place)
    assert place.left == [".json", ".part"]
    fetched = place.fetch()
    assert (fetched.status, fetched.size, fetched.sha256) == (206, SIZE, hash_of("frog", SIZE))
    first, second = place.web.of("/f/")
    assert (first.range, second.range, second.if_range) == ("", "bytes=1000000-", '"frog-1"')
    assert second.sent == SIZE - 1_000_000
    assert fetched.resumed_at == 1_000_000


def test_another_version_is_fetched_from_its_first_byte(place: Place) -> None:
    cut_off(place)
    place.web.rules.version = 2
    fetched = place.fetch()
    assert (fetched.status, fetched.sha256, fetched.resumed_at) == (200, hash_of("frog", SIZE, 2), 0)


@pytest.mark.parametrize("rules", [Rules(etag=False), Rules(weak=True)], ids=["none", "weak"])
def test_without_a_strong_validator_nothing_is_continued(place: Place, rules: Rules) -> None:
    place.web.rules = rules
    cut_off(place)
    assert place.left == []
    assert place.fetch().sha256 == hash_of("frog", SIZE)
    assert [ask.range for ask in place.web.of("/f/")] == ["", ""]


def test_an_old_last_modified_is_a_strong_validator(place: Place) -> None:
    place.web.rules = Rules(etag=False, modified="Tue, 03 Nov 2020 08:00:00 GMT")
    cut_off(place)
    assert place.fetch().sha256 == hash_of("frog", SIZE)
    assert place.web.of("/f/")[1].if_range == "Tue, 03 Nov 2020 08:00:00 GMT"


def test_another_part_than_was_asked_for_begins_anew(place: Place) -> None:
    cut_off(place)
    place.web.rules.wrong_range = True
    fetched = place.fetch()
    assert fetched.sha256 == hash_of("frog", SIZE)
    assert [ask.range for ask in place.web.of("/f/")] == ["", "bytes=1000000-", ""]


def test_a_server_that_knows_no_rest_is_asked_for_all_of_it(place: Place) -> None:
    """416: the file is shorter now than what lies here."""
    cut_off(place)
    [part] = (place.root / ".partial").glob("*.part")
    note = part.with_suffix(".json")
    note.write_text(note.read_text().replace(f'"total":{SIZE}', '"total":null'))
    with part.open("ab") as file:
        file.truncate(SIZE + 10)
    fetched = place.fetch()
    assert (fetched.status, fetched.sha256) == (200, hash_of("frog", SIZE))


def test_a_file_that_is_there_in_whole_is_asked_for_its_last_byte(place: Place) -> None:
    """A target of three files whose third was cut off does not fetch the first two again."""
    assert place.fetch().status == 200
    fetched = place.fetch()
    assert (fetched.status, fetched.sha256) == (206, hash_of("frog", SIZE))
    assert [ask.sent for ask in place.web.of("/f/")] == [SIZE, 1]


def test_after_a_power_cut_only_what_was_synced_is_trusted(place: Place) -> None:
    cut_off(place, 2_000_000)
    [note] = (place.root / ".partial").glob("*.json")
    synced = msgspec.json.decode(note.read_bytes())["synced"]
    assert NOTE_BYTES <= synced < 2_000_000
    place.boot = "b2"
    assert place.fetch().sha256 == hash_of("frog", SIZE)
    assert place.web.of("/f/")[1].range == f"bytes={synced}-"


def test_a_signed_url_that_changes_continues_the_same_file(place: Place) -> None:
    """DOC-18."""
    place.web.rules.cut, place.web.rules.cuts = 1_000_000, 1
    with pytest.raises(FetchError):
        place.fetch(f"/f/frog/{SIZE}?signature=one")
    assert "signature" not in "".join(path.read_text() for path in (place.root / ".partial").glob("*.json"))
    fetched = place.fetch(f"/f/frog/{SIZE}?signature=two")
    assert (fetched.resumed_at, fetched.sha256) == (1_000_000, hash_of("frog", SIZE))


def test_a_chunked_file_that_is_cut_off_is_incomplete(place: Place) -> None:
    place.web.rules.chunked = True
    cut_off(place)
    assert place.fetch().sha256 == hash_of("frog", SIZE)


def test_an_encoded_file_is_refused(place: Place) -> None:
    place.web.rules.encoding = "gzip"
    with pytest.raises(FetchError) as failed:
        place.fetch()
    assert failed.value.code == "bad_response"
    assert place.web.of("/f/")[0].headers["accept-encoding"] == "identity"
    assert place.left == []


@pytest.mark.parametrize("chunked", [False, True])
def test_a_file_beyond_its_limit_is_refused_and_not_kept(place: Place, chunked: bool) -> None:
    place.web.rules.chunked = chunked
    with pytest.raises(FetchError) as failed:
        place.fetch(max_bytes=1_000_000)
    assert failed.value.code == "body_too_large"
    assert place.left == []


def test_an_answer_that_is_no_success_is_no_file(place: Place) -> None:
    fetched = place.fetch("/gone")
    assert (fetched.status, fetched.path, bool(fetched)) == (404, None, False)
    with pytest.raises(BadParams, match="gave no file to keep"):
        check_keep(Keep(fetched))


def test_an_empty_file_is_a_file(place: Place) -> None:
    assert place.keep("/f/none/0").size == 0


def test_two_at_once_of_one_url_do_not_share_a_file(place: Place) -> None:
    async def step(fetch: StepFetch) -> list[FetchedFile]:
        return list(await asyncio.gather(one(fetch, place.web), one(fetch, place.web)))

    async def later(fetch: StepFetch) -> list[Path | None]:
        first = asyncio.create_task(one(fetch, place.web))
        await asyncio.sleep(0.05)
        fetch._at_home = False
        both = [await first, await one(fetch, place.web)]
        return [each.path for each in both]  # the attempt's: they are gone at its end

    place.web.rules.per_s = 20_000_000
    assert len(set(place.attempt(later, continues=False))) == 2
    assert place.left == []


def full(after: int) -> Disk:
    written = 0

    def pwrite(descriptor: int, data: memoryview, at: int) -> int:
        nonlocal written
        written += len(data)
        if written > after:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.pwrite(descriptor, data, at)

    return Disk(pwrite=pwrite)


def test_a_disk_that_fills_while_a_file_comes_in_says_so_and_publishes_nothing(place: Place) -> None:
    """D2, DOC-23."""
    place.disk = full(1_000_000)
    with pytest.raises(DiskFull):
        place.keep()
    assert [path for path in place.root.rglob("*") if path.is_file()] == []
    place.disk = Disk()
    assert place.keep().sha256 == hash_of("frog", SIZE)


def test_a_target_that_met_a_full_disk_keeps_its_attempt_and_pauses_the_job(place: Place) -> None:
    """D2: given back, not failed."""
    place.disk = full(1_000_000)

    class Step:
        async def step(self, here: Claimed, fetch: StepFetch, context: object) -> Done:
            return Done("record", files=(Keep(await one(fetch, place.web), "pdf"),))

    async def work(fetch: StepFetch) -> Finished:
        recipe: Any = Step()
        context: Any = None
        executor = Executor(recipe, context, fetch._job, SystemClock(), max_attempts=3, random=Random(1))
        return await executor.work(fetch._claimed)

    finished = place.attempt(work)
    assert (finished.verdict.move, finished.pauses_job, finished.verdict.artifacts) == ("hand_back", "disk_full", ())


def test_a_file_is_durable_before_it_has_its_name_and_the_name_before_any_row(place: Place) -> None:
    """F1: fsync of the file, rename, fsync of the folder."""
    said: list[str] = []

    def fsync(descriptor: int) -> None:
        named = os.readlink(f"/proc/self/fd/{descriptor}")
        there = any((place.root / "sha256").rglob("*/*")) if (place.root / "sha256").exists() else False
        said.append(f"{Path(named).suffix or Path(named).name} {'named' if there else 'unnamed'}")
        os.fsync(descriptor)

    place.disk = Disk(fsync=fsync)
    kept = place.keep()
    folder = Path(kept.path).parent.name
    assert ".part unnamed" in said
    assert said[-1] == f"{folder} named"


class Watched:
    """A disk that tells in which order the group's files and folders were synced, and how many had names by then."""

    def __init__(self, root: Path) -> None:
        self.root, self.refuses = root, ""
        self.said: list[tuple[str, int]] = []
        self.synced_bytes: list[int] = []  # of each file when it was synced
        self.disk = Disk(fsync=self.fsync)
        self._lock = threading.Lock()

    def fsync(self, descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        with self._lock:
            named = len(list((self.root / "pdfs").glob("*.pdf")))
            self.said.append((path.suffix or path.name, named))
            if path.suffix == ".part":
                self.synced_bytes.append(os.fstat(descriptor).st_size)
            if path.name == self.refuses:
                self.refuses = ""
                raise OSError(errno.EMFILE, "Too many open files")


def five_kept(place: Place) -> list[Artifact]:
    async def step(fetch: StepFetch) -> list[Artifact]:
        fetched = [await one(fetch, place.web, f"/f/frog{n}/{SMALL}") for n in range(5)]
        return place.kept(fetch, *(Keep(each, "pdf", f"pdfs/{n}.pdf") for n, each in enumerate(fetched)))

    kept: list[Artifact] = place.attempt(step, continues=False)
    return kept


SMALL = 200_000


def test_files_of_a_group_are_all_on_the_disk_before_the_first_has_a_name_and_their_folder_is_synced_once(
    place: Place,
) -> None:
    """F1, and one wait for the disk serves many files."""
    watched = Watched(place.root)
    place.disk = watched.disk
    kept = five_kept(place)
    assert [each.sha256 for each in kept] == [hash_of(f"frog{n}", SMALL) for n in range(5)]
    parts = [named for name, named in watched.said if name == ".part"]
    assert parts == [0] * 5
    assert [named for name, named in watched.said if name == "pdfs"] == [5]
    assert watched.said[-1] == ("pdfs", 5)
    assert place.left == []


@pytest.mark.parametrize("name", ["", "pdfs/7.pdf"], ids=["by_hash", "by_key"])
def test_a_group_that_was_refused_after_it_had_its_names_is_kept_when_it_is_repeated(place: Place, name: str) -> None:
    watched = Watched(place.root)
    place.disk = watched.disk
    watched.refuses = "pdfs" if name else hash_of("frog", SMALL).hex()[:2]

    async def step(fetch: StepFetch) -> object:
        taken = fetch.taken([Keep(await one(fetch, place.web, f"/f/frog/{SMALL}"), "pdf", name)])
        with pytest.raises(LedgerUnavailable):
            place.files.keep(taken)
        return place.files.keep(taken)[0]

    kept = place.attempt(step, continues=False)
    assert isinstance(kept, Artifact)
    assert kept.path == (name or content_path(kept.sha256))
    StoredFiles(place.root).check(kept.path, hash_of("frog", SMALL))
    assert [said for said, _ in watched.said].count(Path(kept.path).parent.name) == 2
    assert place.left == []


def test_a_group_whose_file_had_got_a_name_beside_another_is_kept_when_it_is_repeated(place: Place) -> None:
    """DOC-20: of a call that is repeated, the file has its versioned name already."""
    first = place.keep(f"/f/frog/{SMALL}", name="pdfs/7.pdf")
    watched = Watched(place.root)
    place.disk, watched.refuses = watched.disk, "pdfs"

    async def step(fetch: StepFetch) -> object:
        taken = fetch.taken([Keep(await one(fetch, place.web, f"/f/toad/{SMALL}"), "pdf", "pdfs/7.pdf")])
        with pytest.raises(LedgerUnavailable):
            place.files.keep(taken)
        return place.files.keep(taken)[0]

    kept = place.attempt(step, continues=False)
    assert isinstance(kept, Artifact)
    assert kept.path == versioned(first.path, hash_of("toad", SMALL))
    for each in (first, kept):
        StoredFiles(place.root).check(each.path, each.sha256)
    assert place.left == []


def test_a_small_file_is_written_at_once_and_waits_for_the_disk_only_with_its_group(place: Place) -> None:
    watched = Watched(place.root)
    sizes: list[int] = []

    def pwrite(descriptor: int, data: memoryview, at: int) -> int:
        sizes.append(len(data))
        return os.pwrite(descriptor, data, at)

    place.disk = Disk(pwrite=pwrite, fsync=watched.fsync, fdatasync=watched.fsync)
    kept = place.keep(f"/f/frog/{SMALL}", name="pdfs/1.pdf")
    assert kept.sha256 == hash_of("frog", SMALL)
    assert sizes == [SMALL]
    assert watched.synced_bytes == [SMALL]
    assert ".json" not in [said for said, _ in watched.said]
    place.fetch(f"/f/toad/{SIZE}")
    assert max(sizes) < HELD_BYTES_MAX + (1 << 17)  # so much of a file is ever in memory, and one piece more


def test_a_small_file_that_was_cut_off_is_continued_by_the_next_try(place: Place) -> None:
    """D6: its note is written when its try fails."""
    place.web.rules.cut, place.web.rules.cuts = 100_000, 1
    with pytest.raises(FetchError):
        place.fetch(f"/f/frog/{SMALL}")
    assert place.left == [".json", ".part"]
    fetched = place.fetch(f"/f/frog/{SMALL}")
    assert (fetched.resumed_at, fetched.sha256) == (100_000, hash_of("frog", SMALL))


def test_a_note_of_another_version_is_gone_before_its_bytes_are(place: Place) -> None:
    """D6: what lies there is continued only as what it is, also after a kill."""
    cut_off(place)
    place.web.rules = Rules(version=2, stall_at=600_000)
    notes: list[list[str]] = []

    async def step(fetch: StepFetch) -> None:
        download = asyncio.create_task(one(fetch, place.web))
        while not any(path.stat().st_size in range(1, 900_000) for path in (place.root / ".partial").glob("*.part")):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        notes.append(place.left)
        download.cancel()
        await asyncio.gather(download, return_exceptions=True)

    place.attempt(step)
    assert notes == [[".part"]]


def test_a_target_whose_file_cannot_have_its_name_fails_alone(place: Place) -> None:
    (place.root / "pdfs").mkdir(parents=True)
    (place.root / "pdfs" / "taken").write_bytes(b"a file, no folder")

    class Step:
        def __init__(self, name: str) -> None:
            self._name = name

        async def step(self, here: Claimed, fetch: StepFetch, context: object) -> Done:
            fetched = await one(fetch, place.web, f"/f/{self._name.replace('/', '')}/{SMALL}")
            return Done("record", files=(Keep(fetched, "pdf", self._name),))

    async def work(fetch: StepFetch) -> list[Finished]:
        context: Any = None
        worked = []
        for name in ("pdfs/taken/1.pdf", "pdfs/2.pdf"):
            recipe: Any = Step(name)
            executor = Executor(recipe, context, fetch._job, SystemClock(), max_attempts=3, random=Random(1))
            worked.append(await executor.work(fetch._claimed))
        return list(named(place.files, worked, executor.not_kept))

    first, second = place.attempt(work)
    assert (first.verdict.code, first.verdict.move, first.verdict.artifacts) == ("recipe_error", "retry", ())
    assert "pdfs/taken/1.pdf" in first.verdict.because
    assert (second.verdict.move, [each.path for each in second.verdict.artifacts]) == ("succeed", ["pdfs/2.pdf"])
    assert (first.files, second.files, place.left) == ((), (), [])


def test_a_second_request_into_the_same_file_is_what_is_kept(place: Place) -> None:
    """DOC-18: an address that was over, and its successor, are one file."""

    async def step(fetch: StepFetch) -> list[Artifact]:
        assert not await one(fetch, place.web, "/gone", into="token")
        place.web.rules.encoding = "gzip"
        with pytest.raises(FetchError):
            await one(fetch, place.web, f"/f/frog/{SMALL}", into="token")
        place.web.rules.encoding = ""
        return place.kept(fetch, Keep(await one(fetch, place.web, f"/f/frog/{SMALL}", into="token")))

    [kept] = place.attempt(step, continues=False)
    assert (kept.size, kept.sha256) == (SMALL, hash_of("frog", SMALL))
    assert (place.root / kept.path).stat().st_size == SMALL
    assert place.left == []


def test_a_file_behind_a_redirect_is_continued_by_the_next_try_under_another_address(place: Place) -> None:
    """D6, DOC-18: `into` says which file it is; the answer that leads to it leaves what lies there as it is."""

    async def step(fetch: StepFetch, status: int, address: str) -> FetchedFile:
        assert (await one(fetch, place.web, f"/go/{status}", into="token")).status == status
        return await one(fetch, place.web, address, into="token")

    place.web.rules.cut, place.web.rules.cuts = 2_000_000, 1
    with pytest.raises(FetchError):
        place.attempt(lambda fetch: step(fetch, 302, f"/f/frog/{SIZE}?signature=one"))
    assert place.left == [".json", ".part"]
    fetched = place.attempt(lambda fetch: step(fetch, 307, f"/f/frog/0{SIZE}?signature=two"))
    assert (fetched.resumed_at, fetched.size, fetched.sha256) == (2_000_000, SIZE, hash_of("frog", SIZE))
    assert [ask.range for ask in place.web.of("/f/")] == ["", "bytes=2000000-"]
    assert place.left == [".json", ".part"]


def test_what_was_left_of_a_file_that_is_gone_for_good_is_gone_too(place: Place) -> None:
    place.web.rules.cut, place.web.rules.cuts = 1_000_000, 1
    with pytest.raises(FetchError):
        place.fetch(into="token")
    assert place.left == [".json", ".part"]
    place.attempt(lambda fetch: one(fetch, place.web, "/gone", into="token"), continues=False)
    assert place.left == []


def test_a_key_that_other_bytes_have_is_never_replaced(place: Place) -> None:
    """DOC-20: the path is stable; other bytes get their hash into the name."""
    first = place.keep(name="pdfs/17.pdf")
    assert first.path == "pdfs/17.pdf"
    assert place.keep(name="pdfs/17.pdf") == first
    place.web.rules.version = 2
    second = place.keep(name="pdfs/17.pdf")
    assert second.path == versioned("pdfs/17.pdf", hash_of("frog", SIZE, 2)) != first.path
    stored = StoredFiles(place.root)
    stored.check(first.path, first.sha256)
    stored.check(second.path, second.sha256)
    assert place.left == []


def test_a_name_that_a_killed_writer_shares_with_its_file_is_not_written_to(place: Place) -> None:
    """Killed between the link and the end of the other name: the next try must not touch the published bytes."""
    cut_off(place)
    [part] = (place.root / ".partial").glob("*.part")
    published = place.root / "pdfs" / "1.pdf"
    published.parent.mkdir()
    os.link(part, published)
    before = published.read_bytes()
    place.fetch()
    assert published.read_bytes() == before


def test_bytes_that_a_step_made_are_kept_like_a_file(place: Place) -> None:
    async def step(fetch: StepFetch) -> tuple[Artifact, ...]:
        return tuple(place.kept(fetch, Keep(b"small", "thumbnail", media="image/png"), Keep(b"x", name="t/a.png")))

    small, named = place.attempt(step, continues=False)
    assert (small.path, small.size, small.media) == (content_path(sha256(b"small").digest()), 5, "image/png")
    assert (place.root / named.path).read_bytes() == b"x"
    assert place.left == []


def test_a_file_that_is_not_wanted_is_gone(place: Place) -> None:
    async def step(fetch: StepFetch) -> None:
        fetched = await one(fetch, place.web)
        assert fetched.path is not None
        assert fetched.path.read_bytes()[:32] == next(bytes_of("frog", SIZE))[:32]

    place.attempt(step, continues=False)
    assert place.left == []


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../a", "a/../b", ".a", "a/.b", "a//b", "sha256/ab/x", "a b", "x" * 200, "a\n"]
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(BadParams):
        check_keep(Keep(b"", name=name))


def test_a_stored_file_is_checked_by_its_hash(place: Place) -> None:
    kept = place.keep()
    stored = StoredFiles(place.root)
    assert stored.size(kept.path) == SIZE
    assert stored.size("../ledger.db") is None
    path = place.root / kept.path
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(Corrupt):
        stored.check(kept.path, kept.sha256)
    path.unlink()
    with pytest.raises(NotFound):
        stored.check(kept.path, kept.sha256)


def posted(place: Place, request: Request) -> bytes:
    async def step(fetch: StepFetch) -> bytes:
        body: bytes = (await fetch.send(request)).body
        return body

    return bytes(place.attempt(step))


def test_a_form_and_json_are_posted(place: Place) -> None:
    url = f"{place.web.url}/post"
    assert posted(place, Request.form(url, {"q": "frog & toad"})) == b"POST {'q': 'frog & toad'}"
    posted(place, Request.json(url, {"q": [1]}))
    form, as_json = place.web.of("/post")
    assert form.headers["content-type"] == "application/x-www-form-urlencoded"
    assert (as_json.headers["content-type"], as_json.body) == ("application/json", b'{"q":[1]}')
    assert posted(place, Request(url)) == b"GET {}"


class Forgetful:
    """Answers the first request of the first connection, and closes every connection at the next one."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.url = f"http://{self.address}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection, self.connections), daemon=True).start()

    def _answer(self, connection: socket.socket, n: int) -> None:
        with connection:
            for times in range(2):
                asked = connection.recv(65_536)
                self.asked.append(asked.partition(b" ")[0])
                if n > 1 or times:
                    return
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def close(self) -> None:
        self._socket.close()


def test_a_request_with_a_body_is_sent_once_even_where_the_connection_is_gone(tmp_path: Path) -> None:
    site: Any = Forgetful()
    place = Place(tmp_path / "artifacts", site)

    async def step(fetch: StepFetch) -> None:
        assert (await fetch(f"{site.url}/")).body == b"ok"
        fetch._unused = True
        with pytest.raises(FetchError):
            await fetch.send(Request.form(f"{site.url}/", {"pay": "1"}))

    place.attempt(step)
    site.close()
    assert site.asked.count(b"POST") == 1


def test_a_get_after_a_post_is_a_get_again(place: Place) -> None:
    async def step(fetch: StepFetch) -> list[bytes]:
        url, said = f"{place.web.url}/post", []
        for request in (
            Request.form(url, {"a": "1"}),
            Request(url),
            Request(url, method="PUT", body=b"b=2"),
            Request(url),
        ):
            fetch._unused = True
            said.append((await fetch.send(request)).body)
        return said

    assert place.attempt(step) == [b"POST {'a': '1'}", b"GET {}", b"PUT {'b': '2'}", b"GET {}"]


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
def test_a_redirect_of_a_post_is_what_the_status_says(status: int, method: str) -> None:
    asked = Request.form("http://a.test/", {"q": "1"}).redirected("http://a.test/b", status)
    assert (asked.method, bool(asked.body), bool(asked.headers)) == (method, method == "POST", method == "POST")


@pytest.mark.parametrize(
    ("there", "kept"),
    [
        ("http://a.test/b", {"Accept", "Authorization", "Cookie", "X-Customer"}),
        ("https://a.test/b", {"Accept", "Authorization", "Cookie", "X-Customer"}),
        ("http://a.test:81/b", {"Accept"}),
        ("http://b.a.test/", {"Accept"}),
        ("https://b.test/", {"Accept"}),
    ],
)
@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_to_another_origin_takes_no_credentials_along(there: str, kept: set[str], status: int) -> None:
    """H5, SEC-08: an http origin includes its https twin."""
    headers = {"Accept": "a/b", "Authorization": "Bearer S", "Cookie": "s=1", "X-Customer": "7"}
    asked = Request.json("http://a.test/", {}, tuple(headers.items())).redirected(there, status)
    assert {name for name, _ in asked.headers} == kept | ({"Content-Type"} if status == 307 else set())


def test_fetchers_are_opened_once_and_all_closed() -> None:
    opened: list[str] = []
    closed: list[str] = []

    class One:
        def __init__(self, name: str) -> None:
            self.name = name
            opened.append(name)

        async def close(self) -> None:
            closed.append(self.name)
            if self.name == "http":
                raise OSError("stuck")

    async def play() -> None:
        make: Any = One
        fetchers = Fetchers(make)
        assert opened == ["http"]
        assert fetchers.named("browser") is fetchers.named("browser")
        with pytest.raises(OSError, match="stuck"):
            await fetchers.close()

    asyncio.run(play())
    assert (opened, sorted(closed)) == (["http", "browser"], ["browser", "http"])
