"""A newcomer who follows the how-to word for word gets what it says: its recipe runs.

Its proof is run in test_shell_lines.py.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

from cli.commands import holdfast
from docs.reading import DOCS, text_of
from holdfast.testing import Answer, FakeWeb, run_recipe

PAGE = text_of(DOCS / "write-a-recipe.md")


def blocks(language: str, page: str = PAGE) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `forum.py`, as the page tells to save it."""
    (tmp_path / "forum.py").write_text(blocks("python")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOLDFAST_MIN_FREE_MB", "0")
    return tmp_path


def test_the_plan_is_shown_without_a_request_or_a_job(followed: Path) -> None:
    """JOB-08."""
    line = next(line for line in blocks("console")[0].splitlines() if "--dry-run" in line)
    done = holdfast(*line.removeprefix("$ holdfast ").split(), cwd=followed)
    assert done.code == 0, done.err
    assert done.out == "board  https://forum.example/\n"
    assert "1 target; nothing was fetched or stored" in done.err
    assert not (followed / "holdfast-data").exists()


def test_the_total_of_the_page_gives_a_percentage(followed: Path) -> None:
    text = blocks("python")[0].replace('{"start": str}', '{"start": str, "pages": 2}') + blocks("python")[1]
    (followed / "forum.py").write_text(text, encoding="utf-8")
    with FakeWeb({"/": '<a class="thread" href="/t/1">t</a>', "/t/1": "<h1>t</h1><p class=post>"}) as web:
        worked = run_recipe("forum.py", web, start=web.url + "/")
    assert "percent=100.0" in worked.said


def test_the_list_of_the_page_is_one_job_per_row(followed: Path) -> None:
    template = blocks("toml")[1]
    pages = {f"/{name}/": f"<title>{name}</title><a href=/{name}/1>1</a>" for name in "ab"}
    with FakeWeb(pages | {f"/{name}/1": "<title>1</title>" for name in "ab"}) as web:
        (followed / "company.toml").write_text(template, encoding="utf-8")
        rows = f"name,url\nacme,{web.url}/a/\nbore,{web.url}/b/\n"
        (followed / "companies.csv").write_text(rows, encoding="utf-8")
        words = ["run", "companies.csv", "--template", "company.toml", "--allow", web.address, "--delay", "0"]
        first = holdfast(*words, cwd=followed)
        again = holdfast(*words, cwd=followed)
        assert sorted(web.asked) == ["/a/", "/a/1", "/b/", "/b/1"]
    assert first.code == 0, first.err
    assert "acme is complete" in again.err
    shown = holdfast("jobs", "--where", "batch:companies", "--json", cwd=followed).json()
    assert {job["name"] for job in shown["jobs"]} == {"acme", "bore"}


def test_the_recipe_of_the_page_of_documents_gets_files_by_their_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    [code] = [each for each in blocks("python", text_of(DOCS / "documents.md")) if "Recipe(" in each]
    (tmp_path / "rulings.py").write_text(code, encoding="utf-8")
    pdf = b"%PDF-1.4 a ruling"

    def site(path: str) -> object:
        if path == "/rulings.csv":
            return Answer(b"Number,Token,Title\r\nA-1,T1,One\r\nA-2,T2,Two\r\n", headers={"Content-Type": "text/csv"})
        return {"url": f"{web.url}/files/{len(web.asked)}.pdf"} if path == "/address" else Answer(pdf)

    with FakeWeb(site) as web:
        worked = run_recipe("rulings.py", web, site=web.url)
    records = {row["number"]: row for row in worked.records if row["kind"] == "record"}
    assert {number: row["title"] for number, row in records.items()} == {"A-1": "One", "A-2": "Two"}
    assert {row["sha256"] for row in records.values()} == {sha256(pdf).hexdigest()}
