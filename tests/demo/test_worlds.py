"""The worlds tell the truth about themselves: checked by a crude crawl that shares no code with them or Holdfast."""

import hashlib
import html
import http.client
import json
import os
import re
import select
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import pytest

from holdfast.demo.catalogue import make_world
from holdfast.demo.faults import Faults, fault_for, set_dial
from holdfast.demo.manual import Manual, write_manual
from holdfast.demo.serving import WorldServer
from holdfast.demo.tree import Tree
from holdfast.demo.world import BASE_MARK

DEADLINE_S = 20
ROUNDS_MAX = 5_000

ASK_AND_HANG = """
import socket, sys
line = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
line.sendall(b"GET /p/1 HTTP/1.1\\r\\nHost: marsh.test\\r\\n\\r\\n")
print("asked", flush=True)
line.recv(1)
"""
START_AND_HANG = """
import sys
from pathlib import Path
from holdfast.demo.serving import WorldServer
world = WorldServer("tree", pages=3, log_path=Path(sys.argv[1]))
print(world.pid, flush=True)
sys.stdin.read()
"""

Start = Callable[..., WorldServer]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start worlds that all stop with the test."""
    running: list[WorldServer] = []

    def start(world: str = "tree", **options: Any) -> WorldServer:
        size = {"pages": 13} if world == "tree" else {}
        log_path = tmp_path / "requests.jsonl"
        running.append(WorldServer(world, **{"log_path": log_path, "delay_ms": 0, **size, **options}))
        return running[-1]

    yield start
    for world in running:
        world.stop()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)


def get(url: str) -> tuple[int, Any, bytes]:
    try:
        with OPENER.open(url, timeout=DEADLINE_S) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def crude_crawl(seed: int, seed_url: str, base: str) -> dict[str, Any]:
    """What the oracle should say, found by asking and reading."""
    found: dict[str, Any] = {"seed": seed, "seeds": [seed_url], "pages": [], "redirects": [], "missing": []}
    binaries, external, robots = [], set(), set()
    depths, ahead = {seed_url: 0}, deque([seed_url])
    while ahead:
        url = ahead.popleft()
        status, headers, body = get(url)
        hrefs = re.findall(r'<a href="([^"]*)"', body.decode()) if "html" in headers["content-type"] else []
        links = [urldefrag(urljoin(url, html.unescape(href))).url.replace("/blob/", "/raw/") for href in hrefs]
        robots |= {link for link in links if link.startswith(f"{base}/search")}
        links = [link for link in links if link not in robots]
        if status == 301:
            links.append(urljoin(url, headers["location"]))
            found["redirects"].append({"from": url, "to": links[-1]})
        elif status == 404:
            found["missing"].append(url)
        elif "html" not in headers["content-type"]:
            binaries.append(url)
        else:
            title = re.search("<title>(.*?)</title>", body.decode())
            row = {"url": url, "status": status, "title": html.unescape(title[1]) if title else "", "bytes": len(body)}
            row |= {"sha256": hashlib.sha256(body).hexdigest(), "depth": depths[url]}
            in_scope = {link for link in links if link.startswith(base)} - {url}
            found["pages"].append(row | {"links_in_scope": len(in_scope)})
        external |= {link for link in links if not link.startswith(base)}
        for link in links:
            if link.startswith(base) and link not in depths:
                depths[link] = depths[url] + 1
                ahead.append(link)
    found["pages"].sort(key=lambda row: row["url"])
    return found | {"external": sorted(external), "binaries": sorted(binaries), "robots": sorted(robots)}


@pytest.fixture(scope="module")
def manual() -> Manual:
    return write_manual(7)


def bodies(world: Manual) -> dict[str, bytes]:
    return {where: page.body for where, page in world.library.items()}


def whole_log(world: WorldServer) -> list[dict[str, Any]]:
    """The log as the world gives it: an answer may reach us before its `sent` line reaches the file."""
    lines: list[dict[str, Any]] = json.loads(get(f"{world.url}/__world/log")[2])
    assert world.log()[: len(lines)] == lines  # the file may have grown since
    return lines


# --- what the worlds hold


def test_the_same_seed_gives_the_same_bytes(manual: Manual) -> None:
    assert bodies(write_manual(7)) == bodies(manual)
    assert Tree(seed=5).page("/p/9", "") == Tree(seed=5).page("/p/9", "")


def test_the_same_seed_gives_the_same_bytes_in_another_process(manual: Manual, start: Start) -> None:
    world = start("manual", seed=7)
    for where in ("/", "/releases?page=3", "/files/pool-map.png", "/files/tidepool-examples.zip", "/llms.txt"):
        assert get(world.url + where)[2] == manual.library[where].body


def test_another_seed_gives_another_site(manual: Manual) -> None:
    other = write_manual(8)
    assert other.library["/"].body != manual.library["/"].body
    assert other.library.keys() != manual.library.keys()
    assert Tree(seed=5).page("/p/9", "") != Tree(seed=6).page("/p/9", "")


@pytest.mark.parametrize(("name", "options"), [("tree", {"pages": 41, "seed": 3}), ("manual", {"seed": 7})])
def test_the_oracle_equals_a_crude_crawl(name: str, options: dict[str, int], start: Start) -> None:
    world = start(name, **options)
    oracle = world.oracle()
    for row in oracle["pages"]:
        row.pop("facts", None)
    assert crude_crawl(options["seed"], oracle["seeds"][0], world.url) == oracle


def test_a_tree_has_exactly_its_pages() -> None:
    oracle = Tree(pages=3_000).oracle("http://marsh.test")
    assert {row["url"] for row in oracle["pages"]} == {f"http://marsh.test/p/{i}" for i in range(3_000)}
    assert Tree(pages=3).page("/p/3", "") is None
    assert Tree(pages=9).page("/p/03", "") is None


def test_the_manual_has_600_pages_of_3_to_15_kilobytes_in_its_four_levels(manual: Manual) -> None:
    rows = manual.oracle("http://marsh.test")["pages"]
    assert len(rows) == len({row["title"] for row in rows}) == len({row["sha256"] for row in rows}) == 600
    assert all(3_000 <= row["bytes"] <= 15_000 for row in rows)
    assert {row["depth"] for row in rows} == {0, 1, 2, 3, 4}


def test_the_manual_holds_each_odd_thing(manual: Manual) -> None:
    oracle = manual.oracle("")
    assert [row["from"] for row in oracle["redirects"]] == ["/old-guide"]
    assert oracle["missing"] == ["/guide/lost-at-sea"]
    assert [Path(url).suffix for url in oracle["binaries"]] == [".png", ".png", ".zip", ".md"]
    assert {url.split("/")[2] for url in oracle["external"]} == {"example.invalid", "partner.invalid"}
    everything = b"".join(bodies(manual).values())
    assert len(set(re.findall(rb'<code class="language-(\w+)"', everything))) == 6


def test_every_manual_page_names_itself_canonical(manual: Manual) -> None:
    for where, page in manual.library.items():
        if page.is_html and page.status == 200:
            assert f'<link rel="canonical" href="{where}">'.encode() in page.body


def test_the_deep_page_is_linked_only_from_the_page_before_it(manual: Manual) -> None:
    parents = {where for where, page in manual.library.items() if "/early/deep" in page.links}
    assert parents == {"/early"}
    assert [where for where, page in manual.library.items() if "/early" in page.links and where != "/early"] == ["/"]


def test_whoever_drops_page_2_loses_what_it_lists(manual: Manual) -> None:
    second = next(where for where in manual.library if where.startswith("/field-notes/") and where.endswith("?page=2"))
    note = next(link for link in manual.library[second].links if link.count("/") == 3 and link[-1] not in "/234")
    linked_from = {where for where, page in manual.library.items() if note in page.links}
    assert linked_from <= {second, *manual.library[second].links}
    assert second.removesuffix("?page=2") not in linked_from


def test_llms_txt_and_sitemap_exist_and_are_not_linked(manual: Manual, start: Start) -> None:
    world = start("manual", seed=7)
    _, _, sitemap = get(f"{world.url}/sitemap.xml")
    assert f"<loc>{world.url}/releases?page=2</loc>".encode() in sitemap
    assert BASE_MARK not in sitemap
    assert get(f"{world.url}/llms.txt")[0] == 200
    assert not any({"/llms.txt", "/sitemap.xml"} & set(page.links) for page in manual.library.values())


def test_a_new_edition_rewrites_some_pages_adds_one_and_removes_one(start: Start) -> None:
    world = start("manual", seed=7)
    before = {row["url"]: row for row in world.oracle()["pages"]}
    assert world.advance() == 2
    after = {row["url"]: row for row in world.oracle()["pages"]}
    kept = before.keys() & after
    changed = [url for url in kept if before[url]["sha256"] != after[url]["sha256"]]
    assert (len(before.keys() - kept), after.keys() - kept) == (1, {f"{world.url}/releases/edition-2"})
    assert 10 <= len(changed) <= 60


def test_an_unchanged_page_is_not_sent_again(start: Start) -> None:
    world = start("manual", seed=7)
    _, headers, _ = get(f"{world.url}/guide/")
    for name, value in (("If-None-Match", headers["etag"]), ("If-Modified-Since", headers["last-modified"])):
        connection = http.client.HTTPConnection(world.address, timeout=DEADLINE_S)
        connection.request("GET", "/guide/", headers={name: value})
        assert connection.getresponse().status == 304
        connection.close()
    assert get(f"{world.url}/guide/")[0] == 200


def test_the_oracle_knows_headings_and_code_of_every_page(manual: Manual) -> None:
    for page in manual.library.values():
        if page.facts is None:
            continue
        text = page.body.decode()
        headings = [(int(level), html.unescape(said)) for level, said in re.findall(r"<h(\d)[^>]*>(.*?)</h", text)]
        assert page.facts["headings"] == headings
        code = re.findall(r'<code class="language-(\w+)">(.*?)</code>', text, re.DOTALL)
        assert page.facts["code"] == [(language, html.unescape(said)) for language, said in code]


def test_the_large_manual_has_its_pages_and_eighty_links_on_each() -> None:
    world = make_world("manual", pages=2_000)
    rows = world.oracle("http://marsh.test")["pages"]
    assert len(rows) == 2_000
    page = make_world("manual", pages=50_000).page("/page/49999", "")
    assert page is not None
    assert page.body.count(b"<a href=") == 80


def test_the_search_of_the_manual_has_no_end(manual: Manual) -> None:
    page = manual.page("/search", "q=tide")
    assert page is not None
    assert page.links[0] == "/search?q=tide+crab"


# --- the witness


def test_the_log_has_one_ask_and_one_sent_per_request_in_order_of_arrival(start: Start) -> None:
    world = start()
    paths = ["/p/0", "/p/1?x=1", "/nowhere", "/p/0"]
    sizes = [len(get(world.url + path)[2]) for path in paths]
    asks, sent = world.asks(), [line for line in whole_log(world) if line["kind"] == "sent"]
    assert [ask["key"] for ask in asks] == [world.url + path for path in paths]
    assert [ask["seq"] for ask in asks] == [line["seq"] for line in sent] == [1, 2, 3, 4]
    assert [line["status"] for line in sent] == [200, 404, 404, 200]
    assert [line["bytes"] for line in sent] == sizes
    assert all(line["complete"] and line["at_ns"] <= line["done_ns"] for line in sent)


def test_the_key_has_the_host_that_was_asked_for(start: Start) -> None:
    world = start()
    connection = http.client.HTTPConnection(world.address, timeout=DEADLINE_S)
    connection.request("GET", "/p/2", headers={"Host": "marsh.test"})
    assert connection.getresponse().read()
    connection.close()
    assert world.asks()[0]["key"] == "http://marsh.test/p/2"


def test_control_requests_are_never_logged(start: Start) -> None:
    world = start()
    world.set_faults(unavailable_first=1)
    world.advance()
    for order in ("ready", "oracle", "log", "no-such-order"):
        get(f"{world.url}/__world/{order}")
    assert whole_log(world) == []


def test_a_killed_clients_request_still_appears(start: Start) -> None:
    world = start(delay_ms=600_000)
    port = world.address.rpartition(":")[2]
    client = subprocess.Popen([sys.executable, "-c", ASK_AND_HANG, port], stdout=subprocess.PIPE)
    assert client.stdout is not None
    with client.stdout:
        client.stdout.readline()
        client.kill()
        client.wait()
    line = wait_for_sent(world)
    assert [ask["key"] for ask in world.asks()] == ["http://marsh.test/p/1"]
    assert (line["status"], line["bytes"], line["complete"]) == (0, 0, False)


def wait_for_sent(world: WorldServer) -> dict[str, Any]:
    # Each round goes through the world's one event loop, which is what there is to wait for.
    for _ in range(ROUNDS_MAX):
        for line in whole_log(world):
            if line["kind"] == "sent":
                return line
    raise AssertionError("the world never noted the end of the request")


def test_a_world_started_again_on_its_log_goes_on_counting(start: Start) -> None:
    first = start()
    get(f"{first.url}/p/0")
    first.stop()
    second = start(port=int(first.address.rpartition(":")[2]))
    get(f"{second.url}/p/0")
    assert [(ask["seq"], ask["key"]) for ask in second.asks()] == [(1, f"{first.url}/p/0"), (2, f"{first.url}/p/0")]


# --- the fault dial


def test_a_calm_world_has_no_faults() -> None:
    assert {fault_for(Faults(), 7, f"/p/{i}", 1) for i in range(500)} == {None}


def test_shares_are_kept_and_depend_on_seed_path_and_ask_only() -> None:
    rough = Faults(cut_share=0.2, slow_share=0.2)
    drawn = [fault_for(rough, 7, f"/p/{i}", 1) for i in range(2_000)]
    assert drawn == [fault_for(rough, 7, f"/p/{i}", 1) for i in range(2_000)]
    assert 300 < drawn.count("cut") < 500
    assert 220 < drawn.count("slow") < 420
    assert drawn != [fault_for(rough, 8, f"/p/{i}", 1) for i in range(2_000)]


def test_the_first_asks_of_a_path_get_503_and_then_it_heals(start: Start) -> None:
    world = start()
    world.set_faults(unavailable_first=2, under="/p/1")
    assert [get(f"{world.url}/p/1")[0] for _ in range(4)] == [503, 503, 200, 200]
    assert get(f"{world.url}/p/2")[0] == 200
    world.set_faults()
    assert get(f"{world.url}/p/10")[0] == 200


def test_a_cut_body_is_short_and_is_noted_as_incomplete(start: Start) -> None:
    world = start()
    world.set_faults(cut_share=1.0)
    with pytest.raises(http.client.IncompleteRead) as cut:
        get(f"{world.url}/p/0")
    line = whole_log(world)[-1]
    assert line["kind"] == "sent"
    assert (line["status"], line["bytes"], line["complete"]) == (200, len(cut.value.partial), False)


def test_a_slow_first_byte_comes_late_but_whole(start: Start) -> None:
    world = start()
    world.set_faults(slow_share=1.0, slow_ms=50)
    assert get(f"{world.url}/p/0")[0] == 200
    line = whole_log(world)[-1]
    assert line["done_ns"] - line["at_ns"] >= 50_000_000
    assert line["complete"]


@pytest.mark.parametrize("order", [{"dial": "hurricane"}, {"fog": 1}, {"cut_share": "all"}])
def test_an_unknown_fault_is_refused_with_what_is_allowed(order: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"allowed|must be"):
        set_dial(order)


def test_a_refused_order_reaches_the_caller_as_a_sentence(start: Start) -> None:
    with pytest.raises(ValueError, match="unknown fault 'fog'; allowed: unavailable_first"):
        start().set_faults(fog=1)


# --- the process


def test_a_world_dies_with_its_killed_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-c", START_AND_HANG, str(tmp_path / "requests.jsonl")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        world = os.pidfd_open(int(parent.stdout.readline()))
        try:
            parent.send_signal(signal.SIGKILL)
            ended, _, _ = select.select([world], [], [], DEADLINE_S)
        finally:
            os.close(world)
    assert ended, "the world outlived its parent"


def test_a_world_whose_parent_is_already_gone_does_not_start(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holdfast.demo.serve", "--log", str(tmp_path / "log"), "--parent", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "parent 1 is gone\n")


def test_a_stopped_world_ends_at_once_and_leaves_its_log(start: Start) -> None:
    world = start()
    get(f"{world.url}/p/0")
    world.stop()
    world.stop()
    assert len(world.asks()) == 1
    with pytest.raises(urllib.error.URLError):
        get(f"{world.url}/p/0")


def test_a_world_that_cannot_start_says_so(start: Start, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="did not start"):
        start(log_path=tmp_path / "no-such-folder" / "log")


# --- what every world has


@pytest.mark.parametrize("name", ["rough", "storm"])
def test_a_dial_hurts_the_same_asks_each_time(name: str) -> None:
    faults = set_dial({"dial": name})
    drawn = [fault_for(faults, 7, f"/p/{i}", 1) for i in range(2_000)]
    assert drawn == [fault_for(faults, 7, f"/p/{i}", 1) for i in range(2_000)]
    assert {"unavailable", "limited", "slow", "cut", None} == set(drawn)


def test_in_rough_weather_the_third_ask_is_answered() -> None:
    rough = set_dial({"dial": "rough"})
    assert {fault_for(rough, 7, f"/p/{i}", 3) for i in range(2_000)} == {None}


def test_a_storm_has_outages() -> None:
    storm = set_dial({"dial": "storm", "shares_until": 0})
    assert [fault_for(storm, 7, "/p/1", 9, nth_of_all=n) for n in (359, 360, 399, 400)] == [
        None, "unavailable", "unavailable", None,
    ]  # fmt: skip


def test_the_clock_of_a_world_is_set_forward(start: Start) -> None:
    world = start()
    assert world.advance_clock(3600) - world.advance_clock(1) < 0
    with pytest.raises(ValueError, match="advance takes"):
        world.advance_clock(0)


def test_the_oracle_of_a_depth_ends_there(start: Start) -> None:
    world = start(pages=41)
    assert len(world.oracle(depth=1)["pages"]) == 4
    assert len(world.oracle(depth=0)["pages"]) == 1
