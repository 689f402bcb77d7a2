"""One key is set, and everything else in the file stays as it was, comments too."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.config.toml import dotted, key_of, literal, with_key
from holdfast.errors import BadParams

FILE = """\
# what the frogs want
data = "./store"   # not here = there
http.timeout = '30s' # a "quoted" # comment
http.allow = [
  "127.0.0.1:81",  # one
  "127.0.0.1:82",
]
checkpoint = { every_targets = 10, every = "2m" }  # together

[hosts."judicial.ky"] # slow
delay = "2s"

# the last word
[job.cayman]
kind = "site"
seeds = ['https://cayman.test/#top']
"""


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("data", "./pond", 'data = "./pond"  # not here = there\n'),
        ("http.timeout", "1m", 'http.timeout = "1m"  # a "quoted" # comment\n'),
        ("http.max_bytes", "1MB", 'http.max_bytes = "1MB"\n\n[hosts.'),
        ("http.allow", ["127.0.0.1:9"], 'http.allow = ["127.0.0.1:9"]\ncheckpoint'),
        ("checkpoint.every", "5m", 'checkpoint = { every_targets = 10, every = "5m" }  # together\n'),
        ("checkpoint.enabled", False, '{ every_targets = 10, every = "2m", enabled = false }'),
        ('hosts."judicial.ky".delay', "9s", '[hosts."judicial.ky"] # slow\ndelay = "9s"\n'),
        ('hosts."judicial.ky".concurrency', 1, 'delay = "2s"\nconcurrency = 1\n\n# the last word'),
        ("job.cayman.max_depth", 3, "#top']\nmax_depth = 3\n"),
        ("job.frogs.kind", "site", '\njob.frogs.kind = "site"\n\n[hosts'),
    ],
)
def test_a_key_is_set_where_it_belongs(key: str, value: Any, line: str) -> None:
    edited = with_key(FILE, key_of(key), value)
    assert line in edited
    assert tomllib.loads(edited) != tomllib.loads(FILE)
    comments = [text for text in ("# what the frogs want", "# slow", "# the last word") if text not in edited]
    assert comments == []


def test_a_file_is_begun() -> None:
    assert with_key("", ("http", "timeout"), "30s") == 'http.timeout = "30s"\n'
    assert with_key("a = 1", ("b",), 2) == "a = 1\nb = 2\n"


def test_tables_of_a_list_are_left_alone() -> None:
    assert with_key("[[frogs]]\na = 1\n", ("a",), 2) == "a = 2\n[[frogs]]\na = 1\n"


def test_what_cannot_be_set_is_refused_with_the_line_to_write() -> None:
    with pytest.raises(BadParams, match="not a table"):
        with_key("http = 3\n", ("http", "timeout"), "30s")
    with pytest.raises(BadParams, match="safely") as refused:
        with_key("[[a]]\nb = 1\n", ("a",), 2)
    assert "a = 2" in refused.value.hint


@pytest.mark.parametrize("text", ["", "a b", "a =", "a.", "a\nb", "a = 1 #", "[a]"])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(BadParams, match="is not a key"):
        key_of(text)


_NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
_VALUES = st.recursive(
    st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(_VALUES)
def test_whatever_is_written_reads_back_as_the_same(value: Any) -> None:
    assert tomllib.loads(f"x = {literal(value)}") == {"x": value}


@given(st.lists(_NAMES, min_size=1, max_size=4))
def test_a_key_reads_back_as_the_same(parts: list[str]) -> None:
    assert key_of(dotted(parts)) == tuple(parts)
