"""What a worker process tells its supervisor, in between whatever its recipe prints."""

from __future__ import annotations

from holdfast.cli.posts import DRAINED, Told, line, plan_failure, told_by


def test_news_are_told_from_what_a_recipe_prints() -> None:
    said = b"half a line" + line(DRAINED) + b"more\n" + plan_failure("no such file") + b"and no end"
    assert told_by(said) == Told(plan_failed="no such file", drained=True, rest=b"half a line\nmore\n\nand no end")


def test_of_several_plan_failures_the_last_one_holds() -> None:
    assert told_by(plan_failure("first") + plan_failure("")).plan_failed == ""


def test_half_of_a_line_is_no_news_yet() -> None:
    whole = line(DRAINED)
    assert told_by(whole[:-1]) == Told(plan_failed=None, drained=False, rest=whole[:-1])
    assert told_by(whole).drained


def test_a_recipe_that_says_nothing_is_no_news() -> None:
    assert told_by(b"") == Told(plan_failed=None, drained=False, rest=b"")
