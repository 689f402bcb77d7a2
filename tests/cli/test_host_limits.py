"""`holdfast limits` as typed: what is shown, what is set, and what is refused with a way on."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import crawl_words, holdfast
from cli.schemas import validator
from holdfast.demo.serving import WorldServer


def test_a_host_can_be_limited_before_any_job_meets_it(tmp_path: Path) -> None:
    done = holdfast("limits", "set", "https://Judicial.KY/cases", "--delay", "2s", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    validator("host").validate(done.json())
    assert (done.json()["host"], done.json()["delay_seconds"], done.json()["concurrency"]) == ("judicial.ky", 2.0, None)
    listed = holdfast("limits", "--json=host,delay_seconds", cwd=tmp_path).json()["hosts"]
    assert listed == [{"host": "judicial.ky", "delay_seconds": 2.0}]


def test_a_crawled_host_is_listed_with_the_age_of_its_robots_txt(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    document = holdfast("limits", "--json", cwd=tmp_path).json()
    validator("hosts").validate(document)
    [host] = document["hosts"]
    assert (host["host"], host["in_flight"], host["breaker"], host["failures"]) == (tree.address, 0, "closed", 0)
    assert host["robots_at"] is not None
    table = holdfast("limits", cwd=tmp_path).out
    assert table.startswith("HOST ")
    assert tree.address in table


def test_what_the_settings_say_about_a_host_is_set_when_a_job_starts(tree: WorldServer, tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text(f'hosts."{tree.address}" = {{ delay = "5ms", concurrency = 3 }}\n')
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    [host] = holdfast("limits", tree.address, "--json", cwd=tmp_path).json()["hosts"]
    assert (host["delay_seconds"], host["concurrency"]) == (0.005, 3)
    holdfast("limits", "set", tree.address, "--delay", "2ms", cwd=tmp_path)
    assert "frogs is complete" in holdfast("crawl", "frogs", cwd=tmp_path).err  # it heeds the settings as any start
    [host] = holdfast("limits", tree.address, "--json", cwd=tmp_path).json()["hosts"]
    assert (host["delay_seconds"], host["concurrency"]) == (0.002, 3)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("set", "judicial.ky"), 2, "what is to be set for judicial.ky"),
        (("set",), 2, "limits takes one host"),
        (("a.test", "b.test"), 2, "limits takes one host"),
        (("judicial.ky", "--delay", "2s"), 2, "limits are set by: limits set HOST"),
        (("set", "judicial.ky", "--concurrency", "0"), 2, "must be from 1 to 256"),
        (("set", "judicial.ky", "--delay", "soon"), 2, "not a duration"),
        (("set", "ht!tp://", "--delay", "1s"), 2, "is not an http or https URL"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(tmp_path: Path, words: tuple[str, ...], code: int, says: str) -> None:
    done = holdfast("limits", *words, cwd=tmp_path)
    assert (done.code, done.out) == (code, "")
    assert says in done.err.replace("\n", " ")


def test_a_host_that_nobody_met_is_not_found(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast("limits", "set", "pond.test", "--delay", "1s", cwd=tmp_path).code == 0
    done = holdfast("limits", "marsh.test", cwd=tmp_path)
    assert done.code == 5
    assert "no job has met the host marsh.test" in done.err.lower()
