"""A range of numbers, each of which is a ruling or a gap; the plan is as long as the range and knows its length.

    holdfast run rulings.py --param court=https://court.example --param year=25 --param last=5000 -o rulings.jsonl

Without fields to be read from the pages, no recipe is needed: holdfast cases IMM-1-25..IMM-5000-25 --url '…'
"""

from holdfast.recipe import Recipe, record, skip, target

rulings = Recipe("rulings", params={"court": str, "year": "25", "first": 1, "last": int})


@rulings.plan
def plan(params):
    for number in range(params["first"], params["last"] + 1):
        case = f"IMM-{number}-{params['year']}"
        yield target(f"{params['court']}/rulings/{case}", key=case)


@rulings.total
def total(params):
    return params["last"] - params["first"] + 1


@rulings.step("ruling")
async def ruling(here, fetch):
    page = await fetch(here.url, accept=(404, 410))
    if page.status != 200:
        yield skip("no_record")
        return
    judges = [judge.text for judge in page.css(".judge")]
    yield record(case=here.key, title=page.text("h1"), judges=judges, filed=page.text("time"))
