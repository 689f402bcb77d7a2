"""kill -9 at random moments: the crawl ends as if nothing had happened, and the site saw no more than it had to."""

from __future__ import annotations

from random import Random

import pytest

from crash.scene import CONCURRENCY, PAGES, Calm, Scene
from holdfast.demo.crawler import Crawler
from holdfast.demo.stretch import Stretch, asked_again, asked_when_settled, asked_without_cause

KILLS = 4


def killed_at_random(scene: Scene, crawler: Crawler, seed: int) -> list[Stretch]:
    """Start the same command until it ends by itself; the seed says at which request each start but the last dies."""
    source = Random(seed)
    stretches: list[Stretch] = []
    for _ in range(KILLS):
        last = len(scene.asks()) + source.randint(1, PAGES // (KILLS + 1))
        stretches.append(crawler.stretch(lambda _: len(scene.asks()) >= last))  # noqa: B023 - called before the next
    return [*stretches, crawler.stretch(lambda _: False)]


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_crawl_killed_at_random_ends_like_an_undisturbed_one(scene: Scene, calm: Calm, seed: int) -> None:
    """C1, O3, L1, F1: the differential oracle; what is exported is compared, and the site's own log is asked."""
    crawler = scene.crawler
    stretches = killed_at_random(scene, crawler, seed)
    assert [stretch.code for stretch in stretches] == [-9] * KILLS + [0], crawler.last_words
    assert crawler.last_words.startswith("Resuming ")
    calm.assert_equal_to(scene)
    assert not asked_without_cause(stretches)
    assert not asked_when_settled(stretches)
    assert all(len(again) <= 2 * CONCURRENCY for again in asked_again(stretches))


def test_a_crawl_killed_before_its_first_page_is_there_and_goes_on(scene: Scene, calm: Calm) -> None:
    crawl = scene.crawl()
    crawl.wait_for(lambda: "Starting" in crawl.err, seconds=30)
    assert crawl.kill()
    assert scene.crawled().code == 0
    calm.assert_equal_to(scene)
    assert len(scene.asks()) <= PAGES + 2 * CONCURRENCY


def test_the_same_command_after_the_end_fetches_nothing(scene: Scene, calm: Calm) -> None:
    assert scene.crawled().code == 0
    again = scene.crawled()
    assert (again.code, len(scene.asks())) == (0, PAGES)
    assert "is complete: 200 done" in again.err


def test_deaths_alone_go_round_before_anybody_is_poisoned(scene: Scene) -> None:
    """TGT-06: suspects are claimed fewest deaths first, so kills that always meet the first one meet another each time.

    One death in company makes CONCURRENCY suspects; as many deaths as that, each of one alone, poison nobody.
    """
    crawler = scene.crawler
    crawler.stretch(lambda _: len(scene.asks()) >= PAGES // 4)
    suspects = scene.look().held
    alone: list[str] = []
    for _ in suspects:
        first = len(scene.asks())
        scene.slow_down()
        stretch = crawler.stretch(lambda _: any(ask["key"] in suspects for ask in scene.asks()[first:]))  # noqa: B023
        alone += stretch.held
    assert sorted(alone) == sorted(suspects)
    assert scene.look().poisoned == 0


def test_a_suspect_is_fetched_with_nothing_else_in_flight(scene: Scene) -> None:
    """TGT-06: a death is held against a page only when it was alone; so nothing may join it while it is tried."""
    crawler = scene.crawler
    suspects = crawler.stretch(lambda _: len(scene.asks()) >= PAGES // 4).held
    first = len(scene.asks())
    assert crawler.stretch(lambda _: False).code == 0
    ends = {line["seq"]: line["done_ns"] for line in scene.world.log() if line["kind"] == "sent"}
    flights = [(ask["at_ns"], ends[ask["seq"]], ask["key"]) for ask in scene.asks()[first:]]
    tried = [flight for flight in flights if flight[2] in suspects]
    company = [(url, other) for began, ended, url in tried for a, b, other in flights if a < ended and began < b]
    assert {url for url, _ in company} == suspects
    assert [pair for pair in company if pair[0] != pair[1]] == []
