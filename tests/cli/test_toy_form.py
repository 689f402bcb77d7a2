"""A new form of results is one module: help, `-o`, `--to`, `export` and Python have it by that."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast as installed
from cli.commands import environment, holdfast
from holdfast.testing.fake_web import FakeWeb
from tidy.source_tree import ROOT

MODULE = '''
"""Addresses: one per line."""

from holdfast.views.exports.form_row import Form

FORM = Form(name="urls", ending=".urls", place=15, noun="link")


def write(asked, out, rows=None):
    written = 0
    for row in asked.results.rows() if rows is None else rows:
        out(row.url.encode() + b"\\n")
        written += 1
    return written
'''


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program that has the toy."""
    source = tmp_path_factory.mktemp("source")
    assert installed.__file__ is not None
    package = source / "holdfast"
    shutil.copytree(Path(installed.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "views/exports/urls.py").write_text(MODULE)
    words = [sys.executable, str(ROOT / "docs/make.py"), "--sources"]
    made = subprocess.run(words, env=environment(PYTHONPATH=str(source)), capture_output=True, text=True)
    assert (made.returncode, made.stdout) == (0, f"wrote {package}/views/exports/form_list.py\n"), made.stderr
    return source


def test_a_toy_form_is_written_by_commands_and_python(source: Path, tmp_path: Path) -> None:
    env = {"PYTHONPATH": str(source)}
    with FakeWeb(lambda path: f"<h1>{path}</h1><a href='/frog'>frog</a>") as web:
        words = ("crawl", f"{web.url}/", *web.options, "--name", "pond", "-o", "pond.urls")
        done = holdfast(*words, cwd=tmp_path, **env)
    assert done.code == 0, done.err
    assert "Wrote 2 links to pond.urls" in done.err
    links = f"{web.url}/\n{web.url}/frog\n"
    assert (tmp_path / "pond.urls").read_text() == links
    assert "md, urls, jsonl, csv, warc" in holdfast("export", "--help", cwd=tmp_path, **env).out
    assert holdfast("export", "pond", "-o", "-", "--format", "urls", cwd=tmp_path, **env).out == links
    code = "import holdfast as hf; print(hf.job('pond').export('again.urls'))"
    python = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(**env), capture_output=True, text=True, check=False
    )
    assert (python.stdout, python.stderr) == ("2\n", "")
    assert (tmp_path / "again.urls").read_bytes() == (tmp_path / "pond.urls").read_bytes()
