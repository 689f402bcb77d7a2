"""WACZ: what an archive viewer relies on. Checked against the specification here; the public validator is heavy."""

from __future__ import annotations

import json
import zipfile
from hashlib import sha256
from io import BytesIO

import pytest
from warcio.archiveiterator import ArchiveIterator

from cli.commands import crawl_words, holdfast
from holdfast.demo.serving import WorldServer
from holdfast.views.exports.wacz import surt

PAGES = 60


@pytest.fixture(scope="module")
def wacz(tree: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("frogs")
    assert holdfast(*crawl_words(tree), cwd=folder).code == 0
    done = holdfast("export", "frogs", "-o", "frogs.wacz", cwd=folder)
    assert f"Wrote {PAGES} pages to frogs.wacz" in done.err, done.err
    with zipfile.ZipFile(folder / "frogs.wacz") as file:
        assert {info.compress_type for info in file.infolist()} == {zipfile.ZIP_STORED}  # viewers read parts of parts
        return {name: file.read(name) for name in file.namelist()}


def test_the_package_names_every_part_with_its_hash(wacz: dict[str, bytes]) -> None:
    package = json.loads(wacz["datapackage.json"])
    assert (package["profile"], package["wacz_version"]) == ("data-package", "1.1.1")
    parts = {part["path"]: (part["hash"], part["bytes"], part["name"]) for part in package["resources"]}
    assert parts == {
        path: (f"sha256:{sha256(content).hexdigest()}", len(content), path.rpartition("/")[2])
        for path, content in wacz.items()
        if not path.startswith("datapackage")
    }
    digest = json.loads(wacz["datapackage-digest.json"])
    assert digest["hash"] == f"sha256:{sha256(wacz['datapackage.json']).hexdigest()}"


def test_every_page_is_found_by_the_index_where_the_index_says(wacz: dict[str, bytes]) -> None:
    """One gzip member of the archive, by offset and length alone."""
    lines = wacz["indexes/index.cdxj"].decode().splitlines()
    assert lines == sorted(lines)
    archive, found = wacz["archive/data.warc.gz"], set()
    for line in lines:
        key, stamp, text = line.split(" ", 2)
        entry = json.loads(text)
        begin = int(entry["offset"])
        record = next(iter(ArchiveIterator(BytesIO(archive[begin : begin + int(entry["length"])]))))
        assert record.rec_headers["WARC-Target-URI"] == entry["url"]
        assert (surt(entry["url"]), len(stamp)) == (key, 14)
        content = record.content_stream().read()
        assert entry["digest"] == f"sha256:{sha256(content).hexdigest()}"
        assert (entry["status"], entry["mime"]) == ("200", "text/html")
        found.add(entry["url"])
    listed = [json.loads(line) for line in wacz["pages/pages.jsonl"].splitlines()]
    assert listed[0]["format"] == "json-pages-1.0"
    assert {page["url"] for page in listed[1:]} == found
    assert all(page["title"] and page["ts"] and page["id"] for page in listed[1:])
    assert len(found) == PAGES


def test_keys_are_those_of_archive_viewers() -> None:
    assert surt("https://www.Frogs.test/Pond?b=2&a=1") == "test,frogs)/pond?a=1&b=2"
    assert surt("http://frogs.test:8123") == "test,frogs:8123)/"
