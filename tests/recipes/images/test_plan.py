"""The plan of an images job: the same questions whenever it is asked, and work for every engine (IMG-04, IMG-10)."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadParams
from holdfast.recipes.images.engines import ENGINES
from holdfast.recipes.images.plan import Plan, judging_order, plan_of
from holdfast.recipes.images.seeded import shuffled
from holdfast.recipes.images.variations import GROUPS, PLAIN, formatted, templates

ALL = templates(GROUPS)


def test_every_engine_has_work_in_the_first_round_whatever_is_wanted():
    plan = Plan(variations=ALL, seed=3)
    first = list(islice(plan.questions("red panda"), 4))

    assert len(ALL) > 100
    assert [question.engine for question in first] == list(ENGINES)
    assert {question.query for question in first} == {"red panda"}
    assert {question.offset for question in first} == {0}


def test_a_plan_that_was_stored_asks_the_same_questions():
    plan = Plan(("bing", "baidu"), templates(("view",), ("{keyword} on a rock",)), pages=4, seed=11)
    stored = json.loads(json.dumps(plan.params()))

    assert list(plan_of(stored).questions("kelp")) == list(plan.questions("kelp"))
    assert plan_of(stored) == plan


def test_a_cursor_goes_on_where_it_was():
    plan = Plan(pages=2, seed=5)
    whole = list(plan.questions("kelp"))

    assert [question.position for question in whole] == list(range(plan.questions_per_keyword))
    for start in (0, 1, 7, len(whole)):
        assert list(plan.questions("kelp", start)) == whole[start:]


def test_each_question_is_asked_once_and_each_page_of_each_variation_is_asked():
    plan = Plan(variations=templates(("size",)), pages=3)
    keys = [question.key for question in plan.questions("cat")]

    assert len(set(keys)) == len(keys) == plan.questions_per_keyword == 5 * 3 * 4
    assert {key[3] for key in keys if key[1] == "bing"} == {0, 35, 70}
    assert plan.engine_config["bing"] == {"offset_range": [0, 105], "variation_step": 35}


def test_the_seed_orders_the_variations_and_leaves_the_plain_keyword_first():
    one, other = Plan(variations=ALL, seed=1), Plan(variations=ALL, seed=2)

    assert one.ordered_variations() != other.ordered_variations() != ALL
    assert one.ordered_variations()[0] == other.ordered_variations()[0] == PLAIN
    assert sorted(one.ordered_variations()) == sorted(ALL)
    assert shuffled("abcdef", 1) == ["f", "d", "a", "e", "c", "b"]  # kept for ever: stored jobs rely on it


def test_rounds_are_the_questions_in_groups():
    plan = Plan(pages=2)
    rounds = list(plan.rounds("cat"))

    assert [question for one in rounds for question in one] == list(plan.questions("cat"))
    assert all({question.round for question in one} == {number} for number, one in enumerate(rounds))


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 999)), unique=True, min_size=2))
def test_candidates_are_judged_by_round_then_rank_then_engine(places):
    questions = list(Plan(pages=1).questions("cat"))
    named = [(questions[position], rank) for position, rank in places if position < len(questions)]
    by_number = sorted(named, key=lambda one: judging_order(*one))

    assert by_number == sorted(named, key=lambda one: (one[0].round, one[1], one[0].place))
    assert len({judging_order(*one) for one in named}) == len(named)


def test_orders_fit_into_a_signed_column_of_64_bits():
    last = list(Plan(variations=ALL, pages=10).questions("cat"))[-1]

    assert judging_order(last, 999) < 2**63
    with pytest.raises(ValueError, match="a rank is below"):
        judging_order(last, 1 << 40)


def test_eighteen_groups_of_templates_are_there_and_each_names_the_keyword_once():
    assert len(GROUPS) == 18
    assert all(template.count(PLAIN) == 1 for template in ALL)
    assert formatted("{keyword}  photo", "a {keyword} b") == "a {keyword} b photo"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Plan(engines=("altavista",)),
        lambda: Plan(engines=()),
        lambda: Plan(engines=("bing", "bing")),
        lambda: Plan(pages=0),
        lambda: Plan(variations=()),
        lambda: next(Plan().questions(" ")),
        lambda: next(Plan().questions("x" * 201)),
        lambda: templates(("no such group",)),
        lambda: templates((), ("photo",)),
        lambda: plan_of({"engines": ["bing"]}),
    ],
)
def test_a_plan_that_cannot_be_asked_is_refused(wrong):
    with pytest.raises(BadParams):
        wrong()
