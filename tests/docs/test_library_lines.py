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
    read, *rest = blocks(DOCS / "exports.md", "python")
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
