"""Marks on targets: shown, filterable, one commit each; the crawl does not heed them."""

from __future__ import annotations

import pytest

from conformance.bench import Bench
from conformance.reopening import completed
from holdfast.errors import BadParams, NotFound
from holdfast.policy.filters import parse


class TestLabel:
    def test_a_mark_is_shown_and_can_be_filtered_by(self, bench: Bench) -> None:
        job = completed(bench)
        first, second, *_ = bench.targets(job)
        assert bench.ledger.label(job, [first.id, second.id], "rejected", actor="ann") == 2
        rows = bench.ledger.targets(job, where=parse("label:rejected"))
        assert [(row.id, row.label) for row in rows] == [(first.id, "rejected"), (second.id, "rejected")]
        assert len(bench.ledger.targets(job, where=parse("-label:*"))) == 5
        assert bench.events(job)[-1] == ("label", "completed", "completed")
        bench.verify(job)

    def test_a_later_mark_replaces_the_earlier_and_none_takes_it_away(self, bench: Bench) -> None:
        job = completed(bench)
        first = bench.targets(job)[0]
        bench.ledger.label(job, [first.id], "rejected", actor="ann")
        bench.ledger.label(job, [first.id], "keep", actor="ben")
        assert bench.targets(job)[0].label == "keep"
        bench.ledger.label(job, [first.id], None, actor="ben")
        assert bench.targets(job)[0].label is None
        bench.verify(job)

    def test_all_are_marked_or_none(self, bench: Bench) -> None:
        job, other = completed(bench), bench.working(1, "pond", host="https://pond.test")
        stranger = bench.targets(other.job)[0].id
        before = bench.job(job)
        with pytest.raises(NotFound, match="no target T-"):
            bench.ledger.label(job, [bench.targets(job)[0].id, stranger], "keep", actor="ann")
        assert bench.job(job) == before
        assert {row.label for row in bench.targets(job)} == {None}

    @pytest.mark.parametrize("word", ["", "two words", "a,b", "key:value", "*", '"', "x" * 65, "-no", "a\nb"])
    def test_a_word_that_no_filter_could_name_is_refused(self, bench: Bench, word: str) -> None:
        job = completed(bench)
        with pytest.raises(BadParams):
            bench.ledger.label(job, [bench.targets(job)[0].id], word, actor="ann")
