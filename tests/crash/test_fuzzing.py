"""That the fuzz of T13 can fail, and that its batches are what their seeds make of them."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from crash.suites.fuzzing import broken_by, played
from crash.suites.mutating import INPUT_BYTES_MAX, mutated
from crash.suites.parsers import PARSERS, Parser, must
from crash.suites.portable import snapshot_parsers
from holdfast.errors import BadParams

SEEDS = (b"frog=7; legs=4", b"toad")


def reading(data: bytes) -> None:
    """A parser with four faults, and one input that it rightly refuses."""
    if data == b"refused":
        raise BadParams("no frog")
    must(data != b"wrong", "no frog has five legs")
    if data == b"bytes":
        data.decode("ascii").encode("latin-1").decode("utf-16")
    if data == b"slow":
        re.fullmatch(r"(a|a)*b", "a" * 40)
    if data == b"escapes":
        int("frog")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"read", ""),
        (b"refused", ""),
        (b"wrong", "wrong: no frog has five legs"),
        (b"bytes", "UnicodeDecodeError escaped"),
        (b"slow", "no end after 1 s"),
        (b"escapes", "ValueError escaped"),
    ],
)
def test_a_parser_may_answer_or_refuse_and_nothing_else(data: bytes, told: str) -> None:
    broken = broken_by(Parser("frogs", reading, (b"frog",)), data)
    assert broken.startswith(told)
    assert bool(broken) == bool(told)


def test_what_broke_a_parser_is_kept_and_its_seed_makes_it_again(tmp_path: Path) -> None:
    def ask(data: bytes) -> None:
        must(b"77" not in data, "two sevens")

    parser = Parser("frogs", ask, SEEDS)
    first, second = (played(parser, tmp_path, 3) for _ in range(2))
    assert first == second
    assert first.broken.startswith("wrong: two sevens")
    assert b"77" in (tmp_path / "input").read_bytes()


def test_inputs_differ_are_bounded_and_come_from_chance_alone() -> None:
    made = [mutated(SEEDS, (b"newt",), Random(seed)) for seed in range(500)]
    assert made == [mutated(SEEDS, (b"newt",), Random(seed)) for seed in range(500)]
    assert len(set(made)) > 400
    assert max(map(len, made)) <= INPUT_BYTES_MAX


def test_a_parser_that_fills_the_memory_is_told(tmp_path: Path) -> None:
    for seed in range(2):  # what a batch before it took hides nothing
        trial = played(Parser("frogs", lambda data: b"\1" * 300_000_000, SEEDS), tmp_path, seed)
        assert re.match("3.. MB more than before", trial.broken)


def test_every_parser_reads_its_own_examples(tmp_path: Path) -> None:
    with snapshot_parsers(tmp_path) as of_snapshots:
        for parser in (*PARSERS, *of_snapshots):
            assert [broken_by(parser, seed) for seed in parser.seeds] == [""] * len(parser.seeds), parser.name
