"""The lines that make documents of an export for other libraries, run as they stand on a real export.

The libraries are stood in for by a few lines each with the same signatures: they are large, and none of ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.commands import crawl_words, environment, holdfast
from docs.reading import DOCS, blocks
from holdfast.demo.serving import WorldServer
from holdfast.testing.fake_web import FakeWeb

PAGES = 60
LIBRARIES = {
    "langchain_core/documents.py": """
class Document:
    def __init__(self, page_content: str, metadata: dict) -> None:
        self.row = metadata["source"], metadata["title"], page_content
""",
    "llama_index/core.py": """
class Document:
    def __init__(self, *, id_: str, text: str, metadata: dict) -> None:
        self.row = id_, metadata["title"], text
""",
    "datasets.py": """
import pyarrow.parquet

class Dataset(list):
    def select_columns(self, names):
        return Dataset(tuple(row[name] for name in names) for row in self)

def load_dataset(path: str, *, data_files: str, split: str) -> Dataset:
    assert (path, split) == ("parquet", "train")
    return Dataset(pyarrow.parquet.read_table(data_files).to_pylist())
""",
}
TELL = "\nimport json\nprint(json.dumps([getattr(each, 'row', each) for each in {}]))"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    with WorldServer("tree", pages=PAGES, delay_ms=0, log_path=folder / "requests.jsonl") as world:
        assert holdfast(*crawl_words(world), cwd=folder).code == 0
    for name in ("docs.jsonl", "docs.parquet"):
        assert holdfast("export", "frogs", "-o", name, cwd=folder).code == 0
    for name, source in LIBRARIES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(source)
    return folder


def test_an_export_becomes_documents_of_other_libraries(exported: Path) -> None:
    """Every page once, with its URL, title and text, whichever library it goes to."""
    read, *rest = blocks(DOCS / "exports.md", "python")[:4]
    seen = []
    for lines, name in zip(rest, ("documents", "documents", "pages"), strict=True):
        script = read + lines + TELL.format(name)
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=exported, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        seen.append(json.loads(done.stdout))
    assert seen[0] == seen[1] == seen[2]
    assert len({url for url, _, _ in seen[0]}) == PAGES
    assert all(title and text.strip() for _, title, text in seen[0])


STORE = """
import json, pathlib, sys

class Store:
    \"\"\"Chroma's collection, as far as the lines use it.\"\"\"

    def __init__(self, file):
        self.file, self.rows = file, json.loads(file.read_text()) if file.exists() else {}

    def delete(self, *, where):
        self.rows = {key: row for key, row in self.rows.items() if row[1] != where}

    def upsert(self, *, ids, documents, metadatas):
        assert len(ids) == len(set(ids)) == len(documents) == len(metadatas) > 0
        self.rows |= {key: row for key, *row in zip(ids, documents, metadatas)}
        told.append(metadatas[0]["url"])

    def get(self, *, include):
        assert include == ["metadatas"]
        return {"ids": list(self.rows), "metadatas": [row[1] for row in self.rows.values()]}

def split(text):
    return [part for part in text.split("\\n\\n") if part.strip()]

told = []
store = Store(pathlib.Path("store.json"))
"""
KEEP = "\nstore.file.write_text(json.dumps(store.rows))\nprint(json.dumps(told))"


def test_a_vector_store_is_kept_up_to_date(tmp_path: Path) -> None:
    """What comes again replaces itself, and what is gone from the site leaves the store."""
    [lines] = [each for each in blocks(DOCS / "exports.md", "python") if "store.upsert" in each]
    pages = {
        "/": "<a href=/a>a</a> <a href=/b>b</a><p>Frogs.</p>",
        "/a": "<p>One.</p><p>Two.</p>",
        "/b": "<p>Newts.</p>",
    }

    def brought_up_to_date() -> tuple[list[str], dict[str, list[str]]]:
        script = [sys.executable, "-c", STORE + lines + KEEP]
        done = subprocess.run(script, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        rows = json.loads((tmp_path / "store.json").read_text())
        held: dict[str, list[str]] = {}
        for document, where in rows.values():
            held.setdefault("/" + where["url"].split("/", 3)[3], []).append(document.strip())
        return sorted("/" + url.split("/", 3)[3] for url in json.loads(done.stdout)), held

    with FakeWeb(pages.get) as web:
        assert holdfast("crawl", web.url, "--name", "docs", *web.options, cwd=tmp_path).code == 0
        told, held = brought_up_to_date()
        assert (told, held["/a"], held["/b"]) == (["/", "/a", "/b"], ["One.", "Two."], ["Newts."])
        pages["/a"] = "<p>Three.</p>"
        del pages["/b"]
        holdfast("crawl", "docs", "--mode", "new", cwd=tmp_path)
        told, held = brought_up_to_date()
        again, same = brought_up_to_date()
    assert told == ["/", "/a"], "without an ETag a page is fetched whole, and handed out again"
    assert (sorted(held), held["/a"]) == (["/", "/a"], ["Three."])
    assert (again, same) == ([], held)
