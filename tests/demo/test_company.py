"""The `company` world: what it holds, and the standard proof on it (worlds 0 and 4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from demo.proof import KILLS, Proof, proving, summary
from demo.undisturbed import MADE, MANY, Undisturbed, equals_undisturbed, undisturbed_run
from holdfast.demo.company.world import write_company
from holdfast.demo.world import body_at
from holdfast.recipes.site.entities.extract import extract
from holdfast.recipes.site.entities.mention import TYPES as ENTITY_TYPES
from holdfast.recipes.site.entities.merge import merged

OPTIONS = ("--name", "company", "--report", "--sitemap", "auto", "--max-depth", "5", "--max-attempts", "5")
ENOUGH = 0.95
# Two kills each, spread over the phases: `asked` is while it crawls, `advance` between two phases.
KILLED = {
    ("sqlite", "calm"): ("advance.after_commit:1", "settle.after_commit:3"),
    ("sqlite", "rough"): ("asked", "advance.before_commit:2"),
    ("postgres", "calm"): ("advance.after_commit:2", "settle.after_commit:1"),
    ("postgres", "rough"): ("asked", "advance.after_commit:3"),
}
HEALING = 2  # asks that the healing page needs besides
FAULTS = 2  # bad answers to one path in rough weather, at most


def expected(oracle: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    """URL -> (status, disposition), of every target that a careful crawl has."""
    kinds = {
        "redirects": ("skipped", "duplicate"), "soft_404": ("skipped", "soft_404"), "limit": ("skipped", "limit"),
        "out_of_scope": ("skipped", "out_of_scope"), "robots": ("skipped", "robots"),
        "too_deep": ("skipped", "excluded"), "binaries": ("succeeded", "page"),
    }  # fmt: skip
    told = {row["url"]: ("succeeded", "page") for row in oracle["pages"]}
    for kind, fate in kinds.items():
        told |= {row["from"] if isinstance(row, dict) else row: fate for row in oracle[kind]}
    lists = {url: ("succeeded", "sitemap") for url in oracle["lists"] if not url.endswith("/robots.txt")}
    robots = {url: ("skipped", "no_record") for url in oracle["lists"] if url.endswith("/robots.txt")}
    nofollow = {url: ("succeeded", "nofollow") for url in told if url.endswith("/notes")}
    return told | lists | robots | nofollow


def equals_the_oracle(proof: Proof) -> None:
    oracle, rows = proof.world.oracle(), proof.rows()
    wanted, fates = expected(oracle), {url: (row.status, row.disposition) for url, row in rows.items()}
    fates = {url: fate for url, fate in fates.items() if rows[url].type not in MADE}
    differ = {
        url: (wanted.get(url), fates.get(url)) for url in wanted.keys() | fates if wanted.get(url) != fates.get(url)
    }
    assert not differ, (differ, summary(rows, proof.world.url))
    bodies = {url: row.sha256.hex() for url, row in rows.items() if row.sha256 is not None}
    assert {row["url"]: row["sha256"] for row in oracle["pages"]}.items() <= bodies.items()
    assert {row["url"]: row["depth"] for row in oracle["pages"]}.items() <= {
        u: r.depth for u, r in rows.items()
    }.items()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return undisturbed_run("company", tmp_path_factory.mktemp("undisturbed"), OPTIONS)


@pytest.mark.xdist_group("company report")
@pytest.mark.parametrize(("backend", "dial"), KILLED)
def test_the_company_survives_kills_in_every_phase(
    backend: str, dial: str, undisturbed: Undisturbed, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The standard proof: same keys, same hashes, requests bounded, books balance (worlds 0).

    SIT-01, PAU-10: the report and every export are those of a run that nobody killed."""
    database = request.getfixturevalue("pg_schema_url") if backend == "postgres" else ""
    kills = MANY if KILLS > 2 else KILLED[backend, dial]
    with proving("company", tmp_path, database=database, dial=dial, options=OPTIONS, port=undisturbed.port) as proof:
        proof.run_phases(kills, seed=hash_of(backend, dial))
        equals_the_oracle(proof)
        proof.balances()
        proof.bounded(HEALING + (FAULTS if dial == "rough" else 0))
        proof.asked_for_no_oracle()
        assert proof.killed == len(kills), [each.code for each in proof.stretches]
        equals_undisturbed(proof, tmp_path, undisturbed)
        print(f"company {backend} {dial}: {proof.told}; equal")


@pytest.mark.xdist_group("company report")
def test_entities_of_the_report_are_those_that_the_pages_state(undisturbed: Undisturbed) -> None:
    """SIT-06: through the command, on the company that the rules were written on."""
    company = write_company(7, delay_ms=0)
    oracle = company.oracle(f"http://127.0.0.1:{undisturbed.port}")
    found = [(row["type"], row["value"]) for row in undisturbed.report["entities"]]
    assert worst(oracle, found) == {}


@pytest.mark.parametrize("seed", [8, 9, 11])
def test_entities_of_companies_that_the_rules_were_not_written_on(seed: int) -> None:
    """SIT-06: precision and recall of each type, of other trades and countries."""
    company, base = write_company(seed, delay_ms=0), "http://company.test"
    oracle, pages = company.oracle(base), []
    for row in oracle["pages"]:
        path, _, query = row["url"].removeprefix(base).partition("?")
        page = company.page(path, query)
        assert page is not None
        if len(page.body) < 1_000_000:
            pages.append(extract(row["url"], body_at(page, base), dict(page.headers).get("content-type", "")))
    assert worst(oracle, [(each.type, each.value) for each in merged(pages)]) == {}


def worst(oracle: dict[str, Any], found: list[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """(precision, recall) of each type that is under the bar. `Inc.` and `Inc` are one name."""
    wanted = {(row["kind"], row["value"].removesuffix(".")) for row in oracle["entities"]}
    named, under = {(kind, value.removesuffix(".")) for kind, value in found}, {}
    for kind in ENTITY_TYPES:
        want, have = ({each for each in group if each[0] == kind} for group in (wanted, named))
        precision, recall = len(want & have) / max(1, len(have)), len(want & have) / max(1, len(want))
        if min(precision, recall) < ENOUGH:
            under[kind] = precision, recall
    return under


def hash_of(*words: str) -> int:
    return sum(map(ord, "".join(words)))
