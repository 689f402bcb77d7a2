"""The world `engines`: what it serves, that its oracle is right, and that one seed is one world (IMG-01, IMG-06)."""

from __future__ import annotations

import http.client
import json
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from demo.engines_walker import OPEN, search, walk
from holdfast.demo.engines.files import PictureFiles
from holdfast.demo.engines.pool import SHARES, make_pool
from holdfast.demo.engines.ranking import ranked
from holdfast.demo.engines.weather import DIALS, set_dial, trouble_for
from holdfast.demo.engines.world import ENGINES, KEYWORDS
from holdfast.demo.serving import WorldServer

VARIATIONS = ("{} photo", "{}", "{} closeup")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    log = tmp_path_factory.mktemp("engines") / "requests.jsonl"
    with WorldServer("engines", log_path=log, pages=60) as server:
        server.set_faults(retry_after_s=0)
        yield server


def rounds(keyword, pages=2):
    sizes = {"google": 100, "bing": 35, "baidu": 30, "duckduckgo": 100}
    return [
        [(engine, form.format(keyword), page * sizes[engine]) for engine in ENGINES]
        for form in VARIATIONS
        for page in range(pages)
    ]


def status_of(url):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}" if parts.query else parts.path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(("keyword", "wanted"), [("cat", 1000), ("red panda", 12), ("dodo", 5), ("unicorn", 5)])
def test_a_walker_without_holdfast_obtains_exactly_the_oracle(world, keyword, wanted):
    origins = world.oracle()["engines"]
    perfect = world.perfect_run(rounds(keyword), wanted)

    fates = walk(origins, rounds(keyword), wanted)

    assert {url: fate["disposition"] for url, fate in fates.items()} == {
        row["url"]: row["disposition"] for row in perfect["urls"]
    }
    kept = {url: fate["sha256"] for url, fate in fates.items() if fate["disposition"] == "image"}
    assert kept == {row["url"]: row["sha256"] for row in perfect["kept"]}
    assert perfect["health"] == ("ok" if len(kept) == wanted else "partial")
    duplicates = {row["url"]: row["duplicate_of"] for row in perfect["urls"] if row["disposition"] == "duplicate"}
    assert {url: fate["duplicate_of"] for url, fate in fates.items() if "duplicate_of" in fate} == duplicates


def test_every_disposition_and_every_kind_of_image_occurs(world):
    perfect = world.perfect_run(rounds("cat"), 1000)
    kinds = {row["kind"] for row in world.oracle()["keywords"]["cat"]}

    assert {row["disposition"] for row in perfect["urls"]} == {"image", "duplicate", "rejected", "failed"}
    assert kinds == {*SHARES, "plain"}


def test_the_same_seed_makes_the_same_bytes_and_another_makes_others():
    pool = make_pool(7, "kelp", 40)
    again, other = PictureFiles(7), PictureFiles(8)
    entry = next(entry for entry in pool if entry.kind == "plain")

    assert PictureFiles(7).body(entry, pool) == again.body(entry, pool)
    assert other.body(entry, pool) != again.body(entry, pool)
    assert make_pool(7, "kelp", 40) == pool != make_pool(8, "kelp", 40)


def test_shares_are_those_of_the_table():
    counted = Counter(entry.kind for entry in make_pool(3, "cat", 400))

    assert {kind: counted[kind] for kind in SHARES} == {kind: 400 * share // 1000 for kind, share in SHARES.items()}


def test_results_are_shared_between_variations_and_engines():
    def results(engine, query):
        return set(ranked(7, "cat", 400, engine, query))

    one = results("google", "cat")
    assert len(one) == 240
    assert 0.6 <= len(one & results("google", "cat photo")) / 240 < 0.9
    assert 0.35 <= len(one & results("bing", "cat")) / 240 < 0.8


def test_behind_the_ceiling_the_last_page_repeats_or_is_empty(world):
    origins = world.oracle()["engines"]

    def page(engine, offset):
        return list(search(origins, (engine, "cat", offset)))

    assert page("google", 900) == page("google", 0) != []
    assert page("bing", 700) == page("bing", 35) != []
    assert page("baidu", 60) == page("duckduckgo", 100) == []


def test_a_stale_token_is_refused_until_a_new_one_is_asked_for(world):
    world.set_faults(retry_after_s=0, token_uses=2)
    base = world.oracle()["engines"]["duckduckgo"]
    token = status_of(f"{base}/?q=kelp&iax=images&ia=images")[1].decode().split('vqd="')[1].split('"')[0]
    ask = f"{base}/i.js?l=wt-wt&o=json&q=kelp&f=,,,&p=1&s=0&vqd="

    assert [status_of(ask + token)[0] for _ in range(3)] == [200, 200, 403]
    assert status_of(ask + "4-1-made-up")[0] == 403
    assert list(search({"duckduckgo": base}, ("duckduckgo", "kelp", 0)))
    world.set_faults(retry_after_s=0)


def test_a_host_that_asks_for_patience_answers_the_second_time(world):
    labels = world.oracle()["keywords"]["lighthouse"]
    url = next(row["url"] for row in labels if row["kind"] == "throttled")

    assert [status_of(url)[0] for _ in range(2)] == [429, 200]


def test_each_engine_and_each_image_host_has_an_address_of_its_own(world):
    facts = world.oracle()
    hosts = {urlsplit(row["url"]).hostname for rows in facts["keywords"].values() for row in rows}

    assert len({urlsplit(origin).hostname for origin in facts["engines"].values()}) == 4
    assert len(hosts) == 8
    assert {urlsplit(f"http://{address}").hostname for address in facts["hosts"]} > hosts


def test_the_log_witnesses_what_was_cut_off_and_what_never_ended(world):
    url = next(row["url"] for row in world.oracle()["keywords"]["teapot"] if row["kind"] == "never_ends")
    with pytest.raises((TimeoutError, OSError)), OPEN(url, timeout=0.5) as answer:
        answer.read()
    missing = next(row["url"] for row in world.oracle()["keywords"]["teapot"] if row["kind"] == "missing")
    assert status_of(missing)[0] == 404

    lines = {}
    give_up = time.monotonic() + 20
    while missing not in lines and time.monotonic() < give_up:  # a `sent` may come a moment after its answer
        lines = {line["key"]: line for line in world.log() if line["kind"] == "sent"}
    assert lines[missing]["complete"]
    assert not lines.get(url, {"complete": False})["complete"]
    assert url in {line["key"] for line in world.asks()}
    assert not any("/__world/" in line["key"] for line in world.asks())


def test_rough_weather_spares_the_third_ask_and_a_storm_has_outages():
    rough, storm = DIALS["rough"], DIALS["storm"]
    asked = [trouble_for(rough, 7, f"http://a.test/{number}", 1) for number in range(2_000)]

    assert all(trouble_for(rough, 7, f"http://a.test/{number}", 3) is None for number in range(500))
    assert 0.1 < sum(trouble is not None for trouble in asked) / 2_000 < 0.2
    assert storm.outage_every
    assert storm.drift
    with pytest.raises(ValueError, match="unknown fault 'snow'"):
        set_dial({"snow": 1})
    with pytest.raises(ValueError, match="allowed: calm, rough, storm"):
        set_dial({"dial": "hail"})


def test_under_storm_the_ranking_drifts(world):
    world.set_faults(drift=True)
    base = world.oracle()["engines"]
    pages = [list(search(base, ("bing", "kelp photo", 0))) for _ in range(3)]
    world.set_faults(retry_after_s=0)

    assert len({tuple(page) for page in pages}) > 1
    assert len(set(pages[0]) & set(pages[1])) > 30


def test_a_wrong_order_is_refused_by_the_world(world):
    parts = urlsplit(world.url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.request("POST", "/__world/faults", json.dumps({"dial": "hail"}))
    assert connection.getresponse().status == 400
    connection.close()


def test_two_worlds_of_one_seed_name_the_same_images(tmp_path: Path):
    with WorldServer("engines", log_path=tmp_path / "log", pages=60) as other:
        labels = other.oracle()["keywords"]
    assert set(labels) == set(KEYWORDS)
    assert [row["kind"] for row in labels["cat"]] == [entry.kind for entry in make_pool(7, "cat", 60)]
    assert quote("red panda") in labels["red panda"][0]["url"]
