"""`--mode new`: a complete job is asked only for what is new or changed since (ux 3.2, 3.3), as a user types it."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import holdfast as hf
from cli.commands import Done, holdfast, ledger_in
from cli.polite_origin import HTML, Answer, Origin, Visit

PAGES = 40
NOTHING = (None, None)
GONE = Answer(404)


class Marsh:
    """A site that honours conditional requests. Of three pages one has an ETag, one a weak one, one a date."""

    def __init__(self) -> None:
        self.listed: list[str] = []  # in its sitemap
        self.texts = {f"/frog/{n}": "" for n in range(1, PAGES)}
        self.origin = Origin(self.answer)
        self._seen = 0

    def answer(self, path: str) -> Answer:
        if path == "/sitemap.xml":
            rows = "".join(f"<url><loc>{self.origin.url}{path}</loc></url>" for path in self.listed)
            return Answer(200, f"<urlset>{rows}</urlset>".encode(), {"content-type": "text/xml", "etag": '"same"'})
        if path == "/":
            return self._page(path, "".join(f'<a href="/frog/{n}">x</a>' for n in range(1, PAGES)))
        return self._page(path, self.texts[path]) if path in self.texts else GONE

    def _page(self, path: str, text: str) -> Answer:
        body = f"<title>{path}</title>{text}".encode()
        digest = sha256(body).hexdigest()
        minute = f"{int(digest[:4], 16) % 60:02}:{int(digest[4:8], 16) % 60:02}"
        date = f"Tue, 17 Nov 2026 02:{minute} GMT"
        number = int(path.rpartition("/")[2] or 0)
        validator = [("etag", f'"{digest[:12]}"'), ("etag", f'W/"{digest[:12]}"'), ("last-modified", date)][number % 3]
        return Answer(200, body, {"content-type": HTML, **dict([validator])})

    def read_events(self) -> list[Visit]:
        """Requests for pages since this was last asked."""
        visits = [visit for visit in self.origin.visits[self._seen :] if visit.path != "/robots.txt"]
        self._seen = len(self.origin.visits)
        return visits


@pytest.fixture
def marsh() -> Iterator[Marsh]:
    made = Marsh()
    with made.origin:
        yield made


def crawl(marsh: Marsh, folder: Path, *words: str, **env: str) -> Done:
    fixed = ("--allow", marsh.origin.address, "--delay", "0", "--name", "frogs")
    return holdfast("crawl", marsh.origin.url, *fixed, *words, cwd=folder, **env)


def export(folder: Path, job: str = "frogs") -> list[str]:
    return sorted(holdfast("export", job, "-o", "-", "--format", "jsonl", cwd=folder).out.splitlines())


def stored_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.warc.gz"))


def dispositions(folder: Path) -> Counter[tuple[str, str | None]]:
    rows = holdfast("targets", "frogs", "--json", cwd=folder).json()["targets"]
    return Counter((row["status"], row["disposition"]) for row in rows)


def is_sound(folder: Path) -> bool:
    return holdfast("verify", "frogs", "--deep", cwd=folder).code == 0


def changes(folder: Path, first: str, second: str) -> dict[str, list[str]]:
    told = holdfast("diff", "frogs", first, second, "--json", cwd=folder).json()
    return {
        kind: sorted(row["url"].partition("/frog")[2] for row in told[kind]) for kind in ("added", "removed", "changed")
    }


def test_where_nothing_changed_every_answer_is_304_and_nothing_is_stored_again(marsh: Marsh, tmp_path: Path) -> None:
    assert crawl(marsh, tmp_path).code == 0
    assert {visit.conditions for visit in marsh.read_events()} == {NOTHING}
    before, size = export(tmp_path), stored_bytes(tmp_path)
    done = holdfast("crawl", "frogs", "--mode", "new", cwd=tmp_path)
    assert done.code == 0, done.err
    visits = marsh.read_events()
    assert sorted(visit.path for visit in visits) == sorted(["/", *marsh.texts])
    assert {visit.status for visit in visits} == {304}
    assert all(visit.conditions != NOTHING for visit in visits)
    assert (export(tmp_path), stored_bytes(tmp_path)) == (before, size)
    assert dispositions(tmp_path) == {("succeeded", "unchanged"): PAGES}
    assert is_sound(tmp_path)
    assert changes(tmp_path, "R-1", "R-2") == {"added": [], "removed": [], "changed": []}
    assert f"unchanged: {PAGES} pages" in done.err
    assert f"unchanged: {PAGES} pages" in holdfast("status", "frogs", cwd=tmp_path).out
    told = holdfast("explain", "frogs", "/frog/3", "--json", cwd=tmp_path).json()
    assert (told["verdict"], told["disposition"]) == ("fetched", "unchanged")
    assert "has not changed" in told["because"]


def test_exactly_what_changed_is_new_or_gone_differs(marsh: Marsh, tmp_path: Path) -> None:
    """Three changed, one new, one gone; the export is that of a crawl of today, without what is gone."""
    assert crawl(marsh, tmp_path).code == 0
    marsh.read_events()
    for n in (3, 4, 5):
        marsh.texts[f"/frog/{n}"] = "<p>toads"
    marsh.texts["/frog/4"] += '<a href="/frog/new/1">'
    marsh.texts["/frog/new/1"] = "a new one"
    del marsh.texts["/frog/9"]
    done = holdfast("crawl", "frogs", "--mode", "new", cwd=tmp_path)
    assert done.code == 0, done.err
    by_status = {status: sorted(v.path for v in visits) for status, visits in _by_status(marsh.read_events()).items()}
    fetched = ["/frog/3", "/frog/4", "/frog/5", "/frog/new/1"]
    assert by_status == {
        200: fetched,
        404: ["/frog/9"],
        304: sorted(path for path in ["/", *marsh.texts] if path not in fetched),
    }
    differing = changes(tmp_path, "R-1", "R-2")
    assert differing == {"added": ["/new/1"], "removed": ["/9"], "changed": ["/3", "/4", "/5"]}
    assert is_sound(tmp_path)
    afresh = tmp_path / "afresh"
    afresh.mkdir()
    assert crawl(marsh, afresh).code == 0
    assert _contents(export(tmp_path)) == _contents(export(afresh))


def test_what_two_runs_differ_in_stays_as_it_was_after_a_later_run(marsh: Marsh, tmp_path: Path) -> None:
    assert crawl(marsh, tmp_path).code == 0
    gone = marsh.texts.pop("/frog/9")
    assert holdfast("crawl", "frogs", "--mode", "new", cwd=tmp_path).code == 0
    differing = holdfast("diff", "frogs", "R-1", "R-2", "--jsonl", cwd=tmp_path).out
    assert changes(tmp_path, "R-1", "R-2") == {"added": [], "removed": ["/9"], "changed": []}
    assert holdfast("resume", "frogs", "--strategy", "none", cwd=tmp_path).code == 0
    assert holdfast("diff", "frogs", "R-1", "R-2", "--jsonl", cwd=tmp_path).out == differing
    marsh.texts["/frog/9"] = gone
    assert holdfast("crawl", "frogs", "--mode", "full", cwd=tmp_path).code == 0
    assert holdfast("diff", "frogs", "R-1", "R-2", "--jsonl", cwd=tmp_path).out == differing
    assert changes(tmp_path, "R-1", "R-4") == {"added": [], "removed": [], "changed": []}


def test_a_page_that_only_a_sitemap_names_is_found_though_no_page_changed(marsh: Marsh, tmp_path: Path) -> None:
    """Lists are read whole by every scan: what they name may be new, whatever they say of themselves."""
    marsh.listed = ["/frog/1"]
    assert crawl(marsh, tmp_path, "--sitemap", "auto").code == 0
    marsh.read_events()
    marsh.listed, marsh.texts["/frog/new/1"] = ["/frog/1", "/frog/new/1"], "a new one"
    done = holdfast("crawl", "frogs", "--mode", "new", cwd=tmp_path)
    assert done.code == 0, done.err
    assert {visit.path for visit in marsh.read_events() if visit.status == 200} == {"/sitemap.xml", "/frog/new/1"}
    assert changes(tmp_path, "R-1", "R-2") == {"added": ["/new/1"], "removed": [], "changed": []}
    assert is_sound(tmp_path)


def test_in_another_scope_every_page_is_read_again_unchanged_or_not(marsh: Marsh, tmp_path: Path) -> None:
    """What a page links to was judged by the scope of then: a page that is not read again would keep it left out."""
    marsh.texts["/frog/7"] = (
        f'<a href="http://localhost:{marsh.origin.address.rpartition(":")[2]}/frog/8">elsewhere</a>'
    )
    assert crawl(marsh, tmp_path).code == 0
    marsh.read_events()
    done = crawl(marsh, tmp_path, "--scope", "any", "--update", "--mode", "new", "--allow-private")
    assert "Another scope" in done.err
    assert done.code == 0, done.err
    assert [visit.status for visit in marsh.read_events()] == [200] * (PAGES + 1)


def test_a_full_scan_asks_for_everything_plainly_and_a_new_one_after_it_does_not(marsh: Marsh, tmp_path: Path) -> None:
    assert crawl(marsh, tmp_path).code == 0
    marsh.read_events()
    for mode, status in (("new", 304), ("full", 200), ("new", 304)):
        assert holdfast("crawl", "frogs", "--mode", mode, cwd=tmp_path).code == 0
        visits = marsh.read_events()
        assert len(visits) == PAGES
        assert {(visit.status, visit.conditions == NOTHING) for visit in visits} == {(status, mode == "full")}
    assert is_sound(tmp_path)


@pytest.mark.parametrize(
    "place", ["settle.after_commit:2:kill", "settle.before_commit:3:kill", "claim.after_commit:1:kill"]
)
def test_killed_half_way_it_goes_on_as_it_was_asked_for(marsh: Marsh, tmp_path: Path, place: str) -> None:
    """kill -9, then `resume`: each page once but what was in hand, and nothing that is settled again."""
    assert crawl(marsh, tmp_path, "--concurrency", "4").code == 0
    before = export(tmp_path)
    marsh.read_events()
    killed = holdfast("crawl", "frogs", "--mode", "new", cwd=tmp_path, HOLDFAST_FAULT=place)
    assert killed.code == -signal.SIGKILL, killed.err
    settled = {row["url"] for row in _settled(tmp_path)}
    first = marsh.read_events()
    assert export(tmp_path) == before
    assert holdfast("resume", "frogs", cwd=tmp_path).code == 0
    second = marsh.read_events()
    assert {visit.status for visit in first + second} == {304}
    assert {visit.path for visit in first + second} == {"/", *marsh.texts}
    assert not {marsh.origin.url + visit.path for visit in second} & settled
    assert len({visit.path for visit in second}) == len(second)
    assert export(tmp_path) == before
    assert is_sound(tmp_path)
    with ledger_in(tmp_path) as ledger:
        assert [run.mode for run in ledger.runs(ledger.job("frogs").id)] == ["full", "new", "resume"]


def test_a_page_that_lost_its_bytes_is_fetched_whole(marsh: Marsh, tmp_path: Path) -> None:
    """Of an unchanged page an earlier run has the bytes: they are missed, and no 304 stands in for them."""
    assert crawl(marsh, tmp_path).code == 0
    before = _contents(export(tmp_path))
    assert holdfast("crawl", "frogs", "--mode", "new", cwd=tmp_path).code == 0
    for segment in tmp_path.rglob("*.warc.gz"):
        segment.unlink()
    assert holdfast("verify", "frogs", cwd=tmp_path).code != 0
    assert f"Put {PAGES} pages of frogs back" in holdfast("doctor", "--repair", cwd=tmp_path).err
    marsh.read_events()
    assert holdfast("resume", "frogs", cwd=tmp_path).code == 0
    assert {(visit.status, visit.conditions) for visit in marsh.read_events()} == {(200, NOTHING)}
    assert _contents(export(tmp_path)) == before
    assert is_sound(tmp_path)


def test_what_was_found_unchanged_is_in_a_snapshot(marsh: Marsh, tmp_path: Path) -> None:
    assert crawl(marsh, tmp_path).code == 0
    assert holdfast("crawl", "frogs", "--mode", "new", cwd=tmp_path).code == 0
    assert holdfast("snapshot", "frogs", "-o", "frogs.snapshot", cwd=tmp_path).code == 0
    there = tmp_path / "there"
    there.mkdir()
    assert holdfast("restore", "../frogs.snapshot", "--trust", cwd=there).code == 0
    assert _contents(export(there)) == _contents(export(tmp_path))
    assert is_sound(there)
    marsh.read_events()
    done = holdfast("crawl", "frogs", "--mode", "new", cwd=there)
    assert done.code == 0, done.err
    assert {visit.status for visit in marsh.read_events()} == {304}


def test_a_program_scans_for_what_is_new_or_changed(marsh: Marsh, tmp_path: Path) -> None:
    with hf.Client(data=tmp_path) as client:
        job = client.crawl(marsh.origin.url, allow=[marsh.origin.address], delay=0)
        job.run()
        marsh.read_events()
        marsh.texts["/frog/7"] = "toads"
        run = job.run(mode="new")
        assert (run.mode, job.counts.succeeded) == ("new", PAGES)
        assert {visit.path for visit in marsh.read_events() if visit.status == 200} == {"/frog/7"}
        assert [row.url.rpartition("/")[2] for row in job.diff("R-1", "R-2")] == ["7"]
        assert job.verify() == []


def _by_status(visits: list[Visit]) -> dict[int, list[Visit]]:
    return {status: [v for v in visits if v.status == status] for status in {v.status for v in visits}}


def _contents(lines: list[str]) -> set[tuple[str, str, int]]:
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return {(row["url"], row["sha256"], row["links"]) for row in rows}


def _settled(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = holdfast("targets", "frogs", "--json", cwd=folder).json()["targets"]
    return [row for row in rows if row["status"] == "succeeded"]
