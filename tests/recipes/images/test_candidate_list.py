"""The engine `list`: rows of a file are candidates like any other, and a bad row is told and not lost (IMG-11)."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import msgspec
import pyarrow
import pyarrow.parquet
import pytest

from holdfast.errors import BadParams
from holdfast.recipes.images.candidate_list import digest_of, read_list

ROWS = [
    {"keyword": "cat", "url": "https://a.test/1.jpg", "title": "One", "width": 640, "height": 480},
    {"keyword": "red panda", "url": "https://a.test/2.jpg", "title": 'Two, "quoted"', "width": 0, "height": None},
    {"keyword": "cat", "url": "ftp://a.test/3.jpg", "title": None, "width": None, "height": None},
    {"keyword": "", "url": "https://a.test/4.jpg", "title": "Four", "width": 1, "height": 1},
]


def write(path):
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        lines = ["\ufeffkeyword,url,title,width,height"]
        lines += ["cat,https://a.test/1.jpg,One,640,480", '"red panda",https://a.test/2.jpg,"Two, ""quoted""",0,']
        lines += ["cat,ftp://a.test/3.jpg,,,", ",https://a.test/4.jpg,Four,1,1"]
        path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_every_format_gives_the_same_rows(tmp_path, suffix):
    path = write(tmp_path / f"list{suffix}")
    rows = list(read_list(path))

    assert [(row.number, row.keyword, row.candidate and row.candidate.url) for row in rows] == [
        (0, "cat", "https://a.test/1.jpg"),
        (1, "red panda", "https://a.test/2.jpg"),
        (2, "cat", None),
        (3, "", None),
    ]
    first, second = rows[0].candidate, rows[1].candidate
    assert first is not None
    assert second is not None
    assert (first.rank, first.width, first.height, first.title) == (0, 640, 480, "One")
    assert (second.title, second.width) == ('Two, "quoted"', None)
    assert "ftp://a.test/3.jpg" in rows[2].why
    assert "keyword" in rows[3].why
    assert list(read_list(path, start=2)) == rows[2:]
    assert next(read_list(path, keyword="frog", start=3)).keyword == "frog"


def test_a_text_file_is_a_url_per_line_about_what_it_is_called(tmp_path):
    path = tmp_path / "otter.txt"
    path.write_text("\ufeffhttps://a.test/1.jpg\n\n  https://a.test/2.jpg \nnothing\n")
    rows = list(read_list(path, keyword=path.stem))

    assert [(row.number, row.keyword, row.candidate and row.candidate.url) for row in rows] == [
        (0, "otter", "https://a.test/1.jpg"),
        (1, "otter", "https://a.test/2.jpg"),
        (2, "otter", None),
    ]
    with pytest.raises(BadParams, match="no columns"):
        next(read_list(path, keyword="otter", save=("note",)))


@pytest.mark.parametrize(
    ("cell", "why"),
    [("", "the cell is empty"), ("http://a.test/u cod.jpg", "a URL has no spaces"), ("a.test/1.jpg", "no http")],
)
def test_what_is_wrong_with_a_url_is_told(tmp_path, cell, why):
    path = tmp_path / "list.csv"
    path.write_text(f"keyword,url\ncat,{cell}\n")

    assert why in next(read_list(path)).why


def test_a_list_in_a_cell_is_kept_as_json(tmp_path):
    path = tmp_path / "list.parquet"
    rows = [{"keyword": "cat", "url": "https://a.test/1.jpg", "tags": ["a", "b"]}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)

    assert next(read_list(path, save=("tags",))).columns == {"tags": '["a", "b"]'}


def test_what_cannot_be_stored_of_a_cell_is_kept_as_text_that_can(tmp_path):
    """JSON lets halves of surrogate pairs pass, and integers of any size: one would stop the job for good."""
    path = tmp_path / "list.jsonl"
    path.write_text(
        r'{"url": "https://a.test/1.jpg", "keyword": "cat", "title": "\udfff!", "tags": ["K\u00e4tzchen \ud800"], '
        r'"by": {"\udbff": 1}, "note": "\ud83d\ude00 \ud800", '
        r'"id": 123456789012345678901234567890, "n": -9223372036854775809, "hash": 18446744073709551615}'
    )
    row = next(read_list(path, save=("tags", "by", "note", "id", "n", "hash")))

    assert row.columns == {
        "tags": '["Kätzchen ?"]',
        "by": '{"?": 1}',
        "note": "\N{GRINNING FACE} ?",
        "id": "123456789012345678901234567890",
        "n": "-9223372036854775809",
        "hash": 18446744073709551615,
    }
    assert row.candidate.title == "?!"
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(row.columns)) == row.columns


@pytest.mark.parametrize(("content", "told"), [(b"", "list.csv is empty"), (b"\x89PNG\x01\x02\n", "it has: .PNG")])
def test_a_file_that_is_no_list_is_told_without_its_bytes(tmp_path, content, told):
    path = tmp_path / "list.csv"
    path.write_bytes(content)

    with pytest.raises(BadParams, match=told) as refused:
        next(read_list(path))
    assert refused.value.message.isprintable()


def test_bad_lines_are_told_and_the_reading_goes_on(tmp_path):
    path = tmp_path / "list.jsonl"
    good = '{"url": "https://a.test/5.jpg", "keyword": "cat"}\n'
    path.write_bytes(b"not json\n[1]\n" + b"[" * 50_000 + b"\n" + b"x" * 2_500_000 + b"\n\xff\xfe\n" + good.encode())
    rows = list(read_list(path))

    assert [bool(row.why) for row in rows] == [True, True, True, True, True, False]
    assert "more than" in rows[3].why


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("list.xlsx", b"PK", "its name ends with"),
        ("list.csv", b"name,colour\na,b\n", "no column url"),
        ("list.csv", b"", "no column url"),
        ("list.parquet", b"PAR1 this is not", "not a Parquet file"),
    ],
)
def test_a_file_that_is_no_list_is_refused(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(BadParams, match=says):
        list(read_list(path))
    with pytest.raises(BadParams, match="no file"):
        list(read_list(tmp_path / "other.csv"))


def test_columns_of_other_tools_are_known(tmp_path):
    path = tmp_path / "laion.csv"
    path.write_text("URL,TEXT,WIDTH,HEIGHT\nhttps://a.test/1.jpg,A cat,640.0,480.0\n")
    row = next(read_list(path, keyword="cat"))

    assert row.candidate is not None
    assert (row.candidate.title, row.candidate.width) == ("A cat", 640)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_column_is_what_it_is_said_to_be(tmp_path, suffix):
    """IMG-11. What was named for one field is not taken for another; the others are known by their usual names."""
    table = [{"Link": "https://a.test/1.jpg", "Class": "cat", "title": "no picture", "url": "ftp://x", "width": 640}]
    path = tmp_path / f"list{suffix}"
    if suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), path)
    elif suffix == ".jsonl":
        path.write_text(json.dumps(table[0]) + "\n")
    else:
        path.write_text("Link,Class,title,url,width\nhttps://a.test/1.jpg,cat,no picture,ftp://x,640\n")
    row = next(read_list(path, columns={"url": "Link", "keyword": "Class", "source_page": "title"}, save=("Class",)))

    assert (row.keyword, row.candidate.url, row.candidate.width) == ("cat", "https://a.test/1.jpg", 640)
    assert (row.candidate.title, row.columns) == ("", {"Class": "cat"})
    assert (
        next(read_list(path, columns={"url": "Link", "keyword": "Class", "caption": "Class"})).candidate.title == "cat"
    )


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_columns_that_are_named_come_along_and_others_do_not(tmp_path, suffix):
    """IMG-11"""
    rows = list(read_list(write(tmp_path / f"list{suffix}"), save=("title", "width")))

    assert {name: str(value) for name, value in rows[0].columns.items()} == {"title": "One", "width": "640"}
    assert rows[2].columns == {}
    assert next(read_list(write(tmp_path / f"list{suffix}"))).columns == {}


def test_a_column_that_is_not_there_is_refused_and_long_cells_are_cut(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text(f"url,note\nhttps://a.test/1.jpg,{'x' * 9_000}\n")

    with pytest.raises(BadParams, match="no column 'similarity' to save; it has: url, note"):
        list(read_list(path, keyword="cat", save=("similarity",)))
    assert len(str(next(read_list(path, keyword="cat", save=("note",))).columns["note"])) == 2_000


def test_a_cell_that_json_does_not_know_is_text_or_nothing(tmp_path):
    path = tmp_path / "list.jsonl"
    path.write_text('{"url": "https://a.test/1.jpg", "a": NaN, "b": [1], "c": true, "d": 0.5}\n')
    row = next(read_list(path, keyword="cat", save=("a", "b", "c", "d", "e")))

    assert row.columns == {"a": None, "b": "[1]", "c": True, "d": 0.5, "e": None}


def test_memory_is_flat_in_the_length_of_the_list(tmp_path):
    path = tmp_path / "long.csv"
    with path.open("w") as out:
        out.write("keyword,url\n")
        out.writelines(f"cat,https://a.test/{number}.jpg\n" for number in range(15_000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_list(path)) == 15_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 1_000_000


def test_what_is_no_regular_file_is_not_read() -> None:
    """A restored job may name a device that never ends, as /dev/zero."""
    with pytest.raises(BadParams, match="there is no such file"):
        digest_of(Path("/dev/null"))
