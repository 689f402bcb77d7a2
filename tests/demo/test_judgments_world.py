"""The judgments world is what its table says: checked by a walker that shares no code with it or with Holdfast."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demo.browsing import browser_page
from demo.walk_judgments import AJAX, CSV, LIST, NONCE, Session, ask, walk
from holdfast.demo.dial import read_dial
from holdfast.demo.judgments.docket import GOOD, STAGES, csv_of, rows_of
from holdfast.demo.judgments.files import file_of, rulings
from holdfast.demo.judgments.oracle import oracle_of
from holdfast.demo.judgments.pdf import write_pdf
from holdfast.demo.judgments.site import FAULTS, START_MS, JudgmentsSite
from holdfast.demo.service import ServiceClock, ServiceRequest
from holdfast.demo.serving import WorldServer


@pytest.fixture
def world(tmp_path: Path) -> Iterator[WorldServer]:
    with WorldServer("judgments", log_path=tmp_path / "requests.jsonl", seed=7) as world:
        yield world


def held(oracle: dict[str, Any]) -> dict[str, str]:
    return {c["token"]: c["sha256"] for c in oracle["cases"] if c["is_active"] and not c["is_criminal"]}


# --- what is listed


@pytest.mark.parametrize("seed", [7, 1, 2, 99])
def test_the_first_version_is_as_the_table_says(seed: int) -> None:
    rows = rows_of(seed, "v1")
    civil = [row for row in rows if row.tokens and not row.is_criminal]
    assert (len(rows), sum(row.is_criminal for row in rows), sum(not row.tokens for row in rows)) == (120, 8, 4)
    assert (len(civil), len({token for row in civil for token in row.tokens})) == (108, 108)
    assert sum(count == 2 for count in Counter(row.title for row in rows).values()) == 3
    assert max(Counter(row.title for row in rows).values()) == 2
    assert sum(count == 2 for count in Counter(token for row in rows for token in row.tokens).values()) == 1
    assert sum(len(row.tokens) == 2 for row in rows) == 1
    assert sum(not row.is_dated for row in rows) == 2
    prefixes = Counter(row.title.encode()[:180] for row in rows if len(row.title.encode()) > 180)
    assert list(prefixes.values()) == [40]


@pytest.mark.parametrize("seed", [7, 1, 2, 99])
def test_each_version_changes_what_the_table_says(seed: int) -> None:
    def news(stage: str) -> tuple[int, ...]:
        oracle = oracle_of(seed, stage, "")
        return tuple(len(oracle[name]) for name in ("new", "changed", "removed", "returned"))

    assert [news(stage) for stage in STAGES] == [
        (116, 0, 0, 0),
        (0, 0, 0, 0),
        (7, 4, 2, 0),
        (0, 0, 0, 0),
        (0, 0, 0, 0),
        (1, 0, 0, 1),
    ]
    first = oracle_of(seed, "v1", "")
    assert (first["cases_total"], first["cases_planned"], first["rows_without_file"]) == (116, 108, 4)
    last = {case["token"]: case for case in oracle_of(seed, "v5", "")["cases"]}
    back = last[oracle_of(seed, "v5", "")["returned"][0]]
    assert (back["first_seen"], back["last_seen"], back["is_active"]) == ("v1", "v5", True)
    gone = [case for case in last.values() if not case["is_active"]]
    assert [case["last_seen"] for case in gone] == ["v1"]


def test_the_lists_differ_in_order_and_header_and_the_third_has_no_actions() -> None:
    headers = {stage: next(csv.reader(io.StringIO(csv_of(7, stage).decode("utf-8-sig")))) for stage in STAGES}
    assert len({tuple(sorted(header)) for header in headers.values()}) == 4
    assert not {"Actions", "Action"} & set(headers["v3"])
    assert csv_of(7, "v1").startswith(b"\xef\xbb\xbf")
    assert csv_of(7, "v1") == csv_of(7, "v1 again")
    order = [[row.tokens for row in rows_of(7, version) if row in rows_of(7, "v1")] for version in GOOD[:2]]
    assert order[0] != order[1]


def test_every_file_opens_and_says_what_it_is_about() -> None:
    from pypdf import PdfReader

    pages = set()
    for token, row in list(rulings(7).items())[:30]:
        body = file_of(7, token)
        assert body is not None
        assert len(body) >= 1024
        reader = PdfReader(io.BytesIO(body), strict=True)
        pages.add(len(reader.pages))
        text = reader.pages[0].extract_text()
        assert "RULING" in text
        assert row.cause in text or token in text
    assert len(pages) > 1


def test_a_pdf_is_the_same_bytes_for_the_same_words() -> None:
    assert write_pdf("A (b) \\c", ["One.", "Two."]) == write_pdf("A (b) \\c", ["One.", "Two."])
    assert len({file_of(7, token) for token in rulings(7)}) == len(rulings(7)) - 1  # two tokens share their bytes


# --- the walker


def test_the_walker_obtains_exactly_the_oracle(world: WorldServer) -> None:
    oracle = world.oracle()
    found = walk(world.url)
    assert found["files"] == held(oracle)
    assert len(found["files"]) == 108
    assert found["page_loads"] == 1
    assert found["titles"] == {case["token"]: case["title"] for case in oracle["cases"]}
    assert not [line for line in world.asks() if "/__world/" in line["key"]]
    files = Counter(line["key"] for line in world.asks() if "127.0.0.2" in line["key"])
    assert set(files.values()) == {1}


def test_rough_weather_ends_in_the_same_files(world: WorldServer) -> None:
    calm = held(world.oracle())
    world.set_faults(dial="rough")
    found = walk(world.url)
    assert found["files"] == calm
    assert found["page_loads"] > 1  # the nonce was rotated
    bad = [line for line in world.log() if line["kind"] == "sent" and (line["status"] >= 400 or not line["complete"])]
    assert bad


def test_the_second_version_brings_seven_more_files(world: WorldServer) -> None:
    before = held(world.oracle())
    assert world.order("advance", version="v2")["version"] == "v2"
    after = walk(world.url)["files"]
    assert after == held(world.oracle())
    assert len(after.keys() - before.keys()) == 7
    assert len(before.keys() - after.keys()) == 2


def test_a_browser_sees_every_file_in_the_table_and_downloads_one(world: WorldServer, tmp_path: Path) -> None:
    """The pages really run: the rows and buttons are not in the HTML that is sent."""
    oracle = world.oracle()
    assert b"data-dl=" not in re.sub(rb"<script>.*?</script>", b"", ask(world.url + LIST)[2], flags=re.DOTALL)
    with browser_page() as page:
        page.goto(world.url + LIST)
        page.click("#cookie-banner button")
        assert not page.is_visible("#cookie-banner")
        tokens: set[str] = set()
        for place in range(5):
            page.click(f'li.dt-paging-button button.page-link[data-dt-idx="{place}"]')
            rows = page.eval_on_selector_all(
                "#judgment-registers tbody tr",
                "all => all.map(tr => [...tr.querySelectorAll('button[data-dl]')].map(b => b.dataset.dl))",
            )
            assert len(rows) == (25 if place < 4 else 20)
            tokens.update(token for row in rows for token in row)
        assert tokens == {case["token"] for case in oracle["cases"]}
        assert page.inner_text(".dt-info") == "Showing 101 to 120 of 120 entries"
        with page.expect_download() as download:
            page.click("#judgment-registers button[data-dl] i.icon-dl >> nth=0")
        download.value.save_as(tmp_path / "one.pdf")
        digest = hashlib.sha256((tmp_path / "one.pdf").read_bytes()).hexdigest()
        assert digest in {case["sha256"] for case in oracle["cases"]}
        page.goto(f"{world.url}/public-registers/")
        assert page.locator("#public-registers a[data-dl]").count() == 24


# --- the site's manners


def test_an_unchanged_list_costs_one_conditional_request(world: WorldServer) -> None:
    status, headers, body = ask(world.url + CSV)
    assert status == 200
    assert ask(world.url + CSV, headers={"If-None-Match": headers["etag"]})[::2] == (304, b"")
    assert ask(world.url + CSV, headers={"If-Modified-Since": headers["last-modified"]})[0] == 304
    world.advance()
    again, headers, same = ask(world.url + CSV, headers={"If-None-Match": headers["etag"]})
    assert (again, same, headers.get("etag")) == (200, body, None)


def test_the_fourth_version_is_an_outage_in_three_shapes(world: WorldServer) -> None:
    world.order("advance", version="v4")
    assert ask(world.url + CSV)[0] == 503
    world.set_faults(unavailable_as="html")
    status, headers, body = ask(world.url + CSV)
    assert (status, headers["content-type"][:9], b"<h1>" in body) == (200, "text/html", True)
    site = make_site()
    site.advance({"version": "v4"})
    site.set_faults({"unavailable_as": "timeout"})
    assert site.answer(ServiceRequest("GET", CSV)).wait_ms > 60_000


def test_the_nonce_stands_in_the_page_in_each_of_its_forms(world: WorldServer) -> None:
    loads = [ask(world.url + LIST)[2].decode() for _ in range(4)]
    for mark in ('"security":"', "security: '", '"_nonce":"', ' data-security="'):
        assert sum(mark in page for page in loads) == 1, mark
    assert len({found[1] for page in loads if (found := NONCE.search(page))}) == 4


def test_a_nonce_is_good_only_with_the_cookies_of_its_page(world: WorldServer) -> None:
    token = next(iter(held(world.oracle())))
    one, other = Session(world.url), Session(world.url)
    one.load()
    other.load()
    form = {"action": "dl_bfile", "fid": token, "fname": token, "security": one.nonce}
    assert ask(world.url + AJAX, form, {"Cookie": other.cookie})[::2] == (403, b"-1")
    assert ask(world.url + AJAX, form)[::2] == (403, b"-1")
    answer = ask(world.url + AJAX, form, {"Cookie": one.cookie})[2]
    assert b'"fid": "http:\\/\\/127.0.0.2:' in answer
    assert ask(world.url + AJAX, form | {"action": "other"}, {"Cookie": one.cookie})[::2] == (400, b"0")


def test_a_signed_address_expires_and_a_new_one_works(world: WorldServer) -> None:
    token, digest = next(iter(held(world.oracle()).items()))
    session = Session(world.url)
    session.load()
    form = {"action": "dl_bfile", "fid": token, "fname": token, "security": session.nonce}
    url = json.loads(ask(world.url + AJAX, form, {"Cookie": session.cookie})[2])["data"]["fid"]
    assert hashlib.sha256(ask(url)[2]).hexdigest() == digest
    assert ask(re.sub(r"signature=\w", "signature=x", url))[0] == 404
    world.order("advance", seconds=61)
    assert ask(url)[0] in (401, 404)
    assert hashlib.sha256(session.file(token)).hexdigest() == digest


def test_the_nonce_ages_by_requests_and_by_minutes() -> None:
    now = [0]
    site = make_site(now)
    session = load(site)
    site.set_faults({"nonce_every": 2})
    nonce = load(site, session)[1]
    assert [post(site, session[0], nonce) for _ in range(3)] == [200, 200, 403]
    site.set_faults({"nonce_minutes": 5})
    nonce = load(site, session)[1]
    assert post(site, session[0], nonce) == 200
    now[0] = 5 * 60_000
    assert post(site, session[0], nonce) == 403


def make_site(now: list[int] | None = None) -> JudgmentsSite:
    elapsed = now if now is not None else [0]
    return JudgmentsSite(7, clock=ServiceClock(START_MS - START_MS % 300_000, lambda: elapsed[0]))


def load(site: JudgmentsSite, session: tuple[str, str] = ("", "")) -> tuple[str, str]:
    page = site.answer(ServiceRequest("GET", LIST, headers={"cookie": session[0]}))
    cookie = dict(page.headers).get("set-cookie", session[0]).partition(";")[0]
    found = NONCE.search(page.body.decode())
    assert found
    return cookie, found[1]


def post(site: JudgmentsSite, cookie: str, nonce: str) -> int:
    token = next(iter(rulings(7)))
    body = f"action=dl_bfile&fid={token}&fname={token}&security={nonce}".encode()
    headers = {"cookie": cookie, "x-requested-with": "XMLHttpRequest"}
    return site.answer(ServiceRequest("POST", AJAX, headers=headers, body=body, base="http://127.0.0.1:80")).status


def test_each_fault_shows_once_and_heals(world: WorldServer) -> None:
    token, digest = next(iter(held(world.oracle()).items()))
    for fault in FAULTS:
        world.set_faults(**{fault: 1.0})
        before = len(world.asks())
        assert hashlib.sha256(Session(world.url).file(token)).hexdigest() == digest, fault
        assert len(world.asks()) - before > 3 or fault == "slow", fault


def test_unknown_faults_and_orders_are_refused(world: WorldServer) -> None:
    with pytest.raises(ValueError, match="unknown fault 'fog'; allowed"):
        world.set_faults(fog=1.0)
    with pytest.raises(ValueError, match="share from 0 to 1"):
        world.set_faults(slow=2)
    with pytest.raises(ValueError, match="unknown version"):
        world.order("advance", version="v9")
    with pytest.raises(ValueError, match="unknown dial"):
        read_dial({"dial": "hurricane"}, FAULTS)


def test_a_few_files_are_at_their_old_address_too(world: WorldServer) -> None:
    found = [
        (token, answer[2])
        for token in held(world.oracle())
        if (answer := ask(f"{world.url}/wp-content/uploads/box_files/{token}.pdf"))[0] == 200
    ]
    assert 2 <= len(found) <= 25
    assert all(hashlib.sha256(body).hexdigest() == held(world.oracle())[token] for token, body in found)


def test_the_second_list_names_people_and_their_files(world: WorldServer) -> None:
    oracle = world.oracle()["registers"]
    body = ask(f"{world.url}/wp-content/uploads/box_files/public-registers.csv")[2].decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(body, newline="")))
    assert [row["Name"] for row in rows] == [row["name"] for row in sorted(oracle, key=lambda r: rows_at(rows, r))]
    assert [bool(row["Reference"]) for row in rows].count(False) == 2
    session = Session(world.url)
    first = oracle[0]
    assert hashlib.sha256(session.file(first["token"])).hexdigest() == first["sha256"]


def rows_at(rows: list[dict[str, str]], entry: dict[str, str]) -> int:
    return next(at for at, row in enumerate(rows) if row["Name"] == entry["name"] and row["Date"] == entry["date"])
