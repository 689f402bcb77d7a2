"""What a worker process tells its supervisor, in between whatever its recipe prints."""

from __future__ import annotations

from holdfast.cli.posts import DRAINED, News, line, news_read, plan_failure


def test_news_are_told_from_what_a_recipe_prints() -> None:
    said = b"half a line" + line(DRAINED) + b"more\n" + plan_failure("no such file") + b"and no end"
    assert news_read(said) == News(plan_failed="no such file", drained=True, rest=b"half a line\nmore\n\nand no end")


def test_of_several_plan_failures_the_last_one_holds() -> None:
    assert news_read(plan_failure("first") + plan_failure("")).plan_failed == ""


def test_half_of_a_line_is_no_news_yet() -> None:
    whole = line(DRAINED)
    assert news_read(whole[:-1]) == News(plan_failed=None, drained=False, rest=whole[:-1])
    assert news_read(whole).drained


def test_a_recipe_that_says_nothing_is_no_news() -> None:
    assert news_read(b"") == News(plan_failed=None, drained=False, rest=b"")
