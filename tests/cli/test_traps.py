"""A site without an end comes to an end: what its traps lead to is skipped, counted and explained (FRO-11, H10)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cli.commands import holdfast
from holdfast.testing.fake_web import Answer, FakeWeb

PONDS = '<a href="/pond/">pond</a><a href="/round/">round</a>'
TRAPS = {"pond": '<a href="a/">deeper</a>', "round": '<a href="b/c/">round and round</a>'}


def test_a_path_that_repeats_itself_is_followed_three_times_and_then_skipped(tmp_path: Path) -> None:
    """FRO-11: links skipped, disposition `limit`, the rule named; `explain` says it, and nothing failed."""
    with FakeWeb(lambda path: TRAPS.get(path.split("/")[1], PONDS)) as web:
        done = holdfast(
            "crawl", web.url, "--name", "frogs", *web.options, "--json", "--time-limit", "30s", cwd=tmp_path
        )
        said = done.json()
        assert (done.code, said["status"], set(said["skipped_by"])) == (0, "completed", {"limit"}), done.err
        assert "/pond/a/a/a/" in web.asked
        assert "/pond/a/a/a/a/" not in web.asked
        assert "/round/b/c/b/c/b/c/" in web.asked
        assert "/round/b/c/b/c/b/c/b/c/" not in web.asked
        why = holdfast("explain", "frogs", web.url + "/pond/a/a/a/a/", "--json", cwd=tmp_path).json()
        assert (why["verdict"], why["status"], why["rule"]) == ("over_cap", "skipped", "repeated_path")
        assert "more than 3 times in a row" in why["because"]
        assert why["undo"] == f"holdfast crawl {web.url}/pond/a/a/a/a/"
        never = holdfast("explain", "frogs", web.url + "/x/x/x/x/x", "--json", cwd=tmp_path).json()
        assert (never["verdict"], never["rule"]) == ("never_found", "repeated_path")
        listed = holdfast("targets", "frogs", "--where", "disposition:limit", "--json=rule", cwd=tmp_path).json()
        assert {row["rule"] for row in listed["targets"]} == {"repeated_path"}


@pytest.mark.parametrize("option", ["--exclude", "--include"])
def test_a_hostile_link_does_not_hold_up_a_pattern_sec_07(tmp_path: Path, option: str) -> None:
    """SEC-07: one such link of 780 characters held the whole worker for half a minute, whatever else was in hand."""
    links = "".join(f'<a href="/{"a/b/" * 195}{n}">x</a>' for n in range(50))
    with FakeWeb(lambda path: links if path == "/" else "") as web:
        words = ("crawl", web.url, option, r"re:/.*/.*/.*/.*\.pdf$", *web.options, "--json", "--time-limit", "20s")
        began = time.monotonic()
        done = holdfast(*words, "--name", "frogs", cwd=tmp_path)
        assert done.code == 0, done.err
        assert time.monotonic() - began < 15


def test_a_pattern_that_cannot_be_bounded_is_refused_before_a_job_is_made_sec_07(tmp_path: Path) -> None:
    words = ("crawl", "http://marsh.test/", "--exclude", r"re:(?!x)/.*/.*/.*/.*\.pdf$")
    done = holdfast(*words, cwd=tmp_path)
    assert (done.code, "could take for ever on a URL of more than" in done.err) == (2, True), done.err


def test_an_address_that_grows_without_end_is_followed_up_to_a_length(tmp_path: Path) -> None:
    """FRO-11."""
    with FakeWeb(lambda path: f'<a href="{path}{"x" * 500}">longer</a>') as web:
        done = holdfast("crawl", web.url, "--name", "frogs", *web.options, "--json", cwd=tmp_path)
        assert len(web.asked) == 5
    assert (done.code, done.json()["skipped_by"]) == (0, {"limit": 1})


def test_a_redirect_into_a_trap_is_not_followed_either(tmp_path: Path) -> None:
    pages = {
        "/": '<a href="/go">go</a>',
        "/go": Answer(status=302, headers={"Location": "/a/a/a/a"}),
        "/a/a/a/a": "frog",
    }
    with FakeWeb(pages) as web:
        done = holdfast("crawl", web.url, "--name", "frogs", *web.options, "--json", cwd=tmp_path)
        assert web.asked == ["/", "/go"]
    assert done.json()["skipped_by"] == {"duplicate": 1, "limit": 1}


def test_a_flood_of_links_is_followed_up_to_the_cap_of_its_host(tmp_path: Path) -> None:
    """FRO-11: `limits.targets_per_host`; the job completes, and a higher cap at a new start lets more in."""
    flood = "".join(f"<a href=/frog/{n}>frog</a>" for n in range(50))
    words = ("--name", "frogs", "--json")
    with FakeWeb(lambda path: flood) as web:
        start = ("crawl", web.url, *words, *web.options)
        done = holdfast(*start, cwd=tmp_path, HOLDFAST_LIMITS__TARGETS_PER_HOST="20")
        said = done.json()
        assert (done.code, said["status"], said["counts"]["succeeded"], said["skipped_by"]) == (
            0, "completed", 20, {"limit": 31},
        )  # fmt: skip
        [left_out, *_] = holdfast("targets", "frogs", "--where", "disposition:limit", "--json", cwd=tmp_path).json()[
            "targets"
        ]
        why = holdfast("explain", "frogs", left_out["url"], "--json", cwd=tmp_path).json()
        assert (why["verdict"], why["rule"]) == ("over_cap", "targets_per_host")
        done = holdfast(*start, "--new", "--processes", "2", cwd=tmp_path, HOLDFAST_LIMITS__TARGETS_PER_HOST="30")
        assert (done.json()["counts"]["succeeded"], done.json()["skipped_by"]) == (30, {"limit": 21}), done.err
