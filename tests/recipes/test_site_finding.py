"""Finding pages: which come first, which links are followed as another, and pages that say they are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import holdfast
from holdfast.model.keys import seed_address
from holdfast.policy.rewriting import file_itself, followed_as
from holdfast.policy.traps import FACETS, trap
from holdfast.recipes.site.page_types import TYPES, type_of
from holdfast.recipes.site.soft_404 import soft_404
from holdfast.testing.fake_web import FakeWeb

HTML = "text/html; charset=utf-8"
SESSION = "9f86d081884c7d659a2feaa0c55ad015"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/about", "about"), ("/about-us/", "about"), ("/de/ueber-uns.html", "about"), ("/company/about", "about"),
        ("/team/ines-calloway", "team"), ("/leadership", "team"), ("/products/heron-2/specs", "products"),
        ("/services/", "services"), ("/en-us/contact-us", "contact"), ("/careers/welder", "careers"),
        ("/pricing?utm_source=x", "pricing"), ("/blog/about-cats", "page"), ("/", "page"), ("/en/", "page"),
        ("/aboutness", "page"),
    ],
)  # fmt: skip
def test_a_path_says_what_kind_of_page_it_is(path: str, kind: str) -> None:
    assert type_of(path) == kind


def test_sit_04_pages_are_taken_in_the_order_of_their_kinds(tmp_path: Path) -> None:
    """SIT-04: about, team, products, services, contact, careers, pricing, others, within a level."""
    paths = ["/zebra", "/pricing", "/careers", "/contact", "/services", "/products", "/team", "/about"]
    with FakeWeb(lambda path: "".join(f'<a href="{each}">x</a>' for each in paths) if path == "/" else path) as web:
        words = ("crawl", web.url, *web.options, "--concurrency", "1", "--max-depth", "1", "--name", "firm")
        assert holdfast(*words, cwd=tmp_path).code == 0
        assert [path for path in web.asked if path in paths] == paths[::-1]
        listed = holdfast("targets", "firm", "--json=url,type", cwd=tmp_path).json()["targets"]
    assert {row["type"] for row in listed} == set(TYPES)


def test_sit_04_under_a_page_limit_the_important_pages_are_those_that_come(tmp_path: Path) -> None:
    others = "".join(f'<a href="/post/{n}">x</a>' for n in range(30))
    home = f'{others}<a href="/pricing">p</a><a href="/about">a</a>'
    with FakeWeb(lambda path: home if path == "/" else path) as web:
        holdfast(
            "crawl", web.url, *web.options, "--max-pages", "3", "--max-depth", "2", "--concurrency", "1", cwd=tmp_path
        )
        assert {"/", "/about", "/pricing"} <= set(web.asked)


@pytest.mark.parametrize(
    ("url", "there"),
    [
        (f"/tour?sid={SESSION}", "/tour"),
        (f"/tour?a=1&PHPSESSID={SESSION}&b=2", "/tour?a=1&b=2"),
        (f"/tour?a=1&sid={SESSION}", "/tour?a=1"),
        (f"/shop;jsessionid={SESSION}.node1?x=1", "/shop?x=1"),
        ("/who?sid=42", "/who?sid=42"),
        ("/o/r/blob/main/docs/README.md", "/o/r/raw/main/docs/README.md"),
        ("/o/r/-/blob/v1/a.py", "/o/r/-/raw/v1/a.py"),
        ("/o/r/blob/main/picture.png", "/o/r/blob/main/picture.png"),
        ("/blob/main/README.md", "/blob/main/README.md"),
        ("/plain?page=2", "/plain?page=2"),
    ],
)
def test_a_session_is_left_out_of_a_link_and_a_view_is_read_raw(url: str, there: str) -> None:
    assert followed_as(seed_address("http://firm.test" + url)).path == there


def test_a_seed_keeps_what_a_person_typed_and_is_read_raw() -> None:
    assert file_itself(seed_address(f"http://firm.test/?sid={SESSION}")).path == f"/?sid={SESSION}"
    assert file_itself(seed_address("http://firm.test/o/r/blob/main/a.md")).path == "/o/r/raw/main/a.md"


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("size=a&size=b&size=a", ""), ("size=a&size=b&size=a&size=b", FACETS), ("f[]=1&f[]=2&f[]=3&f[]=4", FACETS),
        ("a=1&b=2&c=3&d=4&e=5", ""), ("", ""),
    ],
)  # fmt: skip
def test_filters_upon_filters_are_a_trap(query: str, rule: str) -> None:
    assert trap(seed_address(f"http://firm.test/shop?{query}")) == rule


def test_h10_a_shop_without_end_comes_to_an_end_and_explain_tells(tmp_path: Path) -> None:
    def shop(path: str) -> str:
        mark = "&" if "?" in path else "?"
        return "".join(f'<a href="{path if path != "/" else "/shop"}{mark}f={each}">x</a>' for each in "ab")

    with FakeWeb(shop) as web:
        done = holdfast("crawl", web.url, *web.options, "--name", "shop", "--json", "--time-limit", "60s", cwd=tmp_path)
        assert (done.code, done.json()["skipped_by"]) == (0, {"limit": 16}), done.err
        why = holdfast("explain", "shop", f"{web.url}/shop?f=a&f=a&f=a&f=b", "--json", cwd=tmp_path).json()
        assert (why["verdict"], why["rule"]) == ("over_cap", "piled_filters")
        assert "filters upon filters" in why["because"]
        why = holdfast("explain", "shop", f"{web.url}/shop?sid={SESSION}", "--json", cwd=tmp_path).json()
        assert f"followed as {web.url}/shop" in why["because"]


SOFT = "<title>{}</title><h1>Page not found</h1><p>Sorry, this page does not exist.</p>"


@pytest.mark.parametrize(
    "title", ["Page not found", "404", "404 Not Found", "Not Found | Firm", "Firm - Error 404", "Seite nicht gefunden"]
)
def test_a_missing_page_with_status_200_is_told(title: str) -> None:
    assert soft_404(title, SOFT.format(title).encode(), HTML)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("404 Not Found - HTTP reference", SOFT.format("x") + "<p>" + "The status means this. " * 100),
        ("Lost and found", SOFT.format("x")),
        ("Not found", "<p>A short poem about a lighthouse.</p>"),
        (None, SOFT.format("")),
    ],
)
def test_a_page_about_missing_pages_is_a_page(title: str | None, body: str) -> None:
    assert soft_404(title, body.encode(), HTML) == ""


def test_a_soft_404_is_skipped_its_links_are_followed_and_explain_tells(tmp_path: Path) -> None:
    pages = {
        "/": '<a href="/gone">gone</a>',
        "/gone": SOFT.format("Page not found") + '<a href="/other">other</a>',
        "/other": "<title>Other</title><p>words</p>",
    }
    with FakeWeb(pages) as web:
        done = holdfast("crawl", web.url, *web.options, "--name", "firm", "--json", cwd=tmp_path)
        assert (done.code, done.json()["skipped_by"], done.json()["counts"]["succeeded"]) == (0, {"soft_404": 1}, 2)
        why = holdfast("explain", "firm", web.url + "/gone", "--json", cwd=tmp_path).json()
        assert (why["verdict"], why["status"]) == ("soft_404", "skipped")
        assert "its title says 'Page not found'" in why["because"]


def test_a_seed_that_says_it_is_missing_is_stored(tmp_path: Path) -> None:
    """A person asked for it."""
    with FakeWeb(lambda path: SOFT.format("Page not found")) as web:
        done = holdfast("crawl", web.url, *web.options, "--json", cwd=tmp_path)
    assert done.json()["counts"]["succeeded"] == 1


def test_fro_04_under_a_depth_limit_levels_come_before_kinds(tmp_path: Path) -> None:
    """FRO-04: else `/y` would be met first by the long way of the about pages, and judged too deep."""
    pages = {
        "/": '<a href="/about">a</a><a href="/x">x</a>',
        "/about": '<a href="/about/2">2</a>',
        "/about/2": '<a href="/y">y</a>',
        "/x": '<a href="/y">y</a>',
        "/y": "words",
    }
    with FakeWeb(pages) as web:
        words = ("crawl", web.url, *web.options, "--concurrency", "1", "--max-depth", "2", "--json")
        done = holdfast(*words, cwd=tmp_path)
        assert "/y" in web.asked
    assert done.json()["counts"]["succeeded"] == 5


def test_sessions_in_links_make_no_new_pages(tmp_path: Path) -> None:
    """Each answer names another session: three pages, not any number."""
    asked: list[str] = []

    def tour(path: str) -> str:
        asked.append(path)
        step = "/b" if path.startswith("/a") else "/a"
        return f'<a href="{step}?sid={len(asked):032x}">next</a>'

    with FakeWeb(tour) as web:
        done = holdfast("crawl", web.url, *web.options, "--json", "--max-pages", "20", cwd=tmp_path)
    assert (done.code, done.json()["counts"]["succeeded"]) == (0, 3), done.err


def test_sit_02_a_file_on_a_code_host_is_read_itself(tmp_path: Path) -> None:
    with FakeWeb({"/o/r/raw/main/a.md": "# Words"}) as web:
        done = holdfast("crawl", f"{web.url}/o/r/blob/main/a.md", *web.options, "--max-depth", "0", cwd=tmp_path)
        assert (done.code, "/o/r/raw/main/a.md" in web.asked) == (0, True), done.err


def test_fro_06_page_2_is_a_page_of_its_own(tmp_path: Path) -> None:
    with FakeWeb(lambda path: f'{path}<a href="?page=2">2</a><a href="?page=3#x">3</a>') as web:
        done = holdfast("crawl", f"{web.url}/news", *web.options, "--json", cwd=tmp_path)
        assert {"/news", "/news?page=2", "/news?page=3"} == {path for path in web.asked if path != "/robots.txt"}
    assert done.json()["counts"]["succeeded"] == 3
