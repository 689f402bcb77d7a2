"""How a list is asked for, and what is kept of looks that failed (DOC-02 to DOC-04, decision 0100)."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import BinaryIO

import pytest

from holdfast.cli.main import main
from holdfast.clock import ManualClock
from holdfast.control import list_store
from holdfast.control.list_look import Got, from_file, from_url
from holdfast.control.list_store import ListStore
from holdfast.control.list_sync import sync
from holdfast.errors import ListUnavailable
from holdfast.model.exchange import Headers, Request, Response
from holdfast.recipes.documents.list_file import ListShape
from holdfast.recipes.documents.versions import Version, last_good

URL, ROBOTS = "https://lists.test/list.csv", "https://lists.test/robots.txt"
LIST = b"url,id\nhttps://lists.test/1.pdf,A1\n"


class Server:
    """Fulfils `ports.Fetcher` as far as it goes: (status, headers) by URL; a list where nothing is said."""

    def __init__(self, **answers: tuple[int, Headers, bytes]) -> None:
        self.asked: list[str] = []
        self._answers = {URL: answers.get("list", (200, (), LIST)), ROBOTS: answers.get("robots", (404, (), b""))}

    async def fetch(self, request: Request) -> Response:
        self.asked.append(request.url)
        status, headers, body = self._answers[request.url]
        return Response(url=request.url, status=status, headers=headers, body=body)

    async def close(self) -> None:
        """Nothing is open."""


def looked(server: Server, clock: ManualClock, **rules: bool) -> Got:
    return from_url(URL, lambda: server, clock, **rules)(None)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("status", "headers", "times", "waited_s"),
    [
        (404, (), 1, 0),
        (403, (), 1, 0),
        (503, (), 3, 3),
        (429, (("retry-after", "7"),), 3, 14),
        (503, (("retry-after", "3600"),), 1, 0),
    ],
)
def test_a_list_is_asked_for_again_only_where_it_helps_and_when_the_host_says(
    status: int, headers: Headers, times: int, waited_s: int
) -> None:
    server, clock = Server(list=(status, headers, b"")), ManualClock()
    began = clock.monotonic_ms()
    got = looked(server, clock)
    assert got.is_away
    assert f"HTTP {status}" in got.error
    assert server.asked.count(URL) == times
    assert clock.monotonic_ms() - began == waited_s * 1000


def test_robots_txt_holds_for_a_list_as_for_a_seed() -> None:
    server = Server(robots=(200, (), b"User-agent: *\nDisallow: /list\n"))
    got = looked(server, ManualClock())
    assert got.is_away
    assert "robots.txt of https://lists.test forbids it (Disallow: /list)" in got.error
    assert server.asked == [ROBOTS]
    assert looked(server, ManualClock(), ignore_robots=True).body == LIST
    down = Server(robots=(503, (), b""))
    assert "robots.txt of https://lists.test: HTTP 503" in looked(down, ManualClock()).error
    assert URL not in down.asked


def test_a_first_list_that_is_not_given_is_an_invalid_version_and_makes_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """ux 3.5: no valid list is 8."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("holdfast.control.list_look.WAIT_S", 0.0)
    words = ["docs", "http://127.0.0.1:9/list.csv", "--allow-private", "--ignore-robots"]
    assert main(words) == 8
    assert "the list cannot be fetched" in capsys.readouterr().err
    assert main(words) == 8  # the same silence is no version more
    assert main(["jobs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == []
    (index,) = (tmp_path / "holdfast-data" / "artifacts" / "csv").glob("*.versions.json")
    (version,) = json.loads(index.read_bytes())
    assert (version["valid"], version["number"]) == (False, 1)
    assert "the list cannot be fetched" in version["error_message"]


def store_in(folder: Path) -> ListStore:
    def write_file(path: Path, write: Callable[[BinaryIO], None]) -> None:
        file = io.BytesIO()
        write(file)
        path.write_bytes(file.getvalue())

    return ListStore(folder, write_file)


def test_bad_bytes_that_stay_are_one_version_and_bad_ones_never_displace_the_last_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DOC-03."""
    monkeypatch.setattr(list_store, "VERSIONS_KEPT", 3)
    store, clock, path = store_in(tmp_path / "artifacts"), ManualClock(), tmp_path / "mine.csv"

    def look(content: bytes, *, require_fresh: bool = False) -> list[Version]:
        path.write_bytes(content)
        clock.advance(60)
        sync(store, "mine", str(path), ListShape({}), from_file(path), clock, require_fresh=require_fresh)
        return store.versions("mine")

    look(LIST)
    for _ in range(3):
        versions = look(b"<html>Login")
    assert [version.valid for version in versions] == [True, False]
    assert len(list((tmp_path / "artifacts" / "csv").glob("*.csv"))) == 2
    with pytest.raises(ListUnavailable):
        look(b"<html>Login", require_fresh=True)
    for n in range(4):
        versions = look(b"<html>%d" % n)
    good = last_good(versions, "mine")
    assert good is not None
    assert [version.number for version in versions] == [1, 5, 6]


def test_sources_that_are_looked_at_side_by_side_share_no_number(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    (tmp_path / "csv").mkdir()

    def add(source: str) -> None:
        for _ in range(20):
            store.add(Version(0, source, "", 0, valid=False))

    threads = [Thread(target=add, args=(source,)) for source in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = [version.number for source in ("one", "two") for version in store.versions(source)]
    assert sorted(numbers) == list(range(1, 41))
