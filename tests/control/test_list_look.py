"""How a list is asked for, and what is kept of looks that failed (DOC-02 to DOC-04, decision 0100)."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Thread
from types import SimpleNamespace
from typing import Any, BinaryIO

import pytest

import holdfast as hf
from conformance.bench import memory_bench
from holdfast.cli.main import main
from holdfast.clock import ManualClock
from holdfast.control import list_store
from holdfast.control.list_look import Got, from_file, from_url
from holdfast.control.list_store import ListStore
from holdfast.control.list_sync import sync
from holdfast.control.list_turns import HostTurns
from holdfast.errors import FetchError, ListUnavailable
from holdfast.model.exchange import Headers, Request, Response
from holdfast.model.host import Turn, Visited
from holdfast.model.job import Options
from holdfast.ports import Hosts
from holdfast.recipes.documents.list_file import ListShape
from holdfast.recipes.documents.versions import Version, last_good
from holdfast.testing.fake_web import Answer, FakeWeb

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


def looked(server: Server, clock: ManualClock, ledger: Hosts | None = None, **rules: Any) -> Got:
    """Without a ledger, every host has its turn at once."""
    at_once: Any = SimpleNamespace(turn=lambda *_, **__: Turn(True, 0), tell=lambda *_: None, hosts=lambda **_: [])
    turns = HostTurns(ledger or at_once, Options(delay_ms=rules.pop("delay_ms", 0), jitter=0), clock, Random(1))
    return from_url(URL, lambda: server, clock, turns, **rules)(None)  # type: ignore[arg-type, return-value]


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
    assert got.error == f"the list cannot be fetched: HTTP {status}"
    assert server.asked.count(URL) == times
    assert clock.monotonic_ms() - began == waited_s * 1000


def next_turn_ms(ledger: Hosts) -> int:
    """In how many milliseconds the lists' host may be asked again, by anybody."""
    return ledger.turn("lists.test", None, ticket="", delay_ms=0, per_host=1, patience_ms=0).wait_ms


def test_a_list_takes_a_turn_of_its_host_as_pages_do() -> None:
    clock = ManualClock()
    ledger = memory_bench(clock).ledger
    ledger.turn("lists.test", None, ticket="", delay_ms=5_000, per_host=1, patience_ms=0)
    began = clock.monotonic_ms()
    assert looked(Server(), clock, ledger, delay_ms=2_000).body == LIST
    assert clock.monotonic_ms() - began == 7_000  # after the one before it, and again between robots.txt and the list
    assert next_turn_ms(ledger) == 2_000
    ledger.configure_host("lists.test", delay_ms=50_000)
    assert looked(Server(), clock, ledger, ignore_robots=True).body == LIST
    assert looked(Server(), clock, ledger, ignore_robots=True).body == LIST  # its pace is waited for, however long


class WorkedHost(ManualClock):
    """Meanwhile a job works the lists' host: it claims its next page at the moment at which the host may be asked."""

    ledger: Hosts

    async def wait(self, seconds: float) -> None:
        await super().wait(seconds)
        self.ledger.turn("lists.test", None, ticket="", delay_ms=2_000, per_host=1, patience_ms=0)


def test_a_list_gets_its_turn_at_a_host_that_a_job_works_without_a_pause() -> None:
    clock = WorkedHost()
    clock.ledger = memory_bench(clock).ledger
    clock.ledger.turn("lists.test", None, ticket="", delay_ms=2_000, per_host=1, patience_ms=0)
    began = clock.monotonic_ms()
    got = looked(Server(), clock, clock.ledger, delay_ms=2_000)
    assert (got.body, got.error) == (LIST, "")
    assert clock.monotonic_ms() - began == 4_000


def test_a_host_that_asks_for_patience_gets_it_from_lists_too_and_they_are_told_of_it() -> None:
    clock = ManualClock()
    ledger, server = memory_bench(clock).ledger, Server(list=(429, (("retry-after", "3600"),), b""))
    assert "HTTP 429" in looked(server, clock, ledger).error
    assert next_turn_ms(ledger) == 3_600_000
    again = looked(server, clock, ledger)
    assert again.is_away
    assert "lists.test is left alone until" in again.told
    assert server.asked.count(URL) == 1
    clock.advance(3_590)
    assert looked(Server(), clock, ledger).body == LIST


def test_every_command_that_looks_at_a_list_takes_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with FakeWeb({"/list.csv": Answer(status=503, headers={"Retry-After": "3600"})}) as web:
        place = f"{web.url}/list.csv"
        (tmp_path / "holdfast.toml").write_text(
            f'http.allow = ["{web.address}"]\nsources.mine = {{ url = "{place}" }}\n'
        )
        assert main(["docs", place, *web.options]) == 8
        assert "HTTP 503, which asks for 3600 s of patience" in capsys.readouterr().err
        for words in (["docs", place, *web.options], ["sources", "sync", "mine"]):
            assert main(words) == 8
            assert f"{web.address} is left alone until" in capsys.readouterr().err
        with pytest.raises(ListUnavailable, match="is left alone until"):
            hf.Client(data=tmp_path / "holdfast-data").docs(place, allow=[web.address])
        assert web.asked == ["/list.csv"]


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


class Silent(Server):
    """Every try ends with the same failure, and tells another duration and port of it."""

    code = "network_error"

    async def fetch(self, request: Request) -> Response:
        self.asked.append(request.url)
        tries = len(self.asked)
        raise FetchError(self.code, f"Failed to connect to 192.0.2.1 port {tries} after {tries} ms")


def test_the_same_silence_is_one_version_however_long_each_try_lasted(tmp_path: Path) -> None:
    """DOC-03."""
    store, clock, server = store_in(tmp_path / "artifacts"), ManualClock(), Silent()

    def look(said: str) -> list[str]:
        with pytest.raises(ListUnavailable, match=said):
            sync(store, "mine", URL, ListShape({}), lambda _good: looked(server, clock), clock)
        return [version.error_message for version in store.versions("mine")]

    refused = "the list cannot be fetched: the connection was refused, reset or cut (network_error)"
    assert look("port 3 after 3 ms") == [refused]
    assert look("port 6 after 6 ms") == [refused]
    server.code = "network_timeout"
    late = "the list cannot be fetched: a deadline passed (network_timeout)"
    assert look("port 9 after 9 ms") == [refused, late]


def test_a_host_that_wants_to_be_left_alone_is_one_version_until_it_does_no_more(tmp_path: Path) -> None:
    """DOC-03: the time that is told differs at each look."""
    store, clock = store_in(tmp_path / "artifacts"), ManualClock()
    ledger, server = memory_bench(clock).ledger, Server(list=(429, (("retry-after", "3600"),), b""))

    def look(said: str) -> int:
        with pytest.raises(ListUnavailable, match=said):
            sync(store, "mine", URL, ListShape({}), lambda _good: looked(server, clock, ledger), clock)
        return len(store.versions("mine"))

    assert look("HTTP 429, which asks for 3600 s of patience") == 1
    assert look("lists.test is left alone until") == 2
    ledger.tell("lists.test", Visited(hold_ms=7_200_000))
    assert look("lists.test is left alone until") == 2


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
