"""A paginated JSON API: a page of the catalogue names its books and the next page; each book is one record.

    holdfast run catalogue_api.py --param api=https://books.example/api/books --param size=50 -o books.jsonl

Books are known by their ISBN, not by their URL: one that two pages name is fetched once.
"""

from holdfast.recipe import Recipe, record, skip, target

catalogue = Recipe("catalogue", params={"api": str, "size": 50})


@catalogue.plan
def plan(params):
    yield target(f"{params['api']}?size={params['size']}", type="page")


@catalogue.step("page")
async def page(here, fetch):
    answer = (await fetch(here.url)).json()
    for book in answer["books"]:
        yield target(book["url"], type="book", key=book["isbn"], params={"shelf": answer["shelf"]})
    if answer["next"]:
        yield target(answer["next"], type="page")


@catalogue.step("book")
async def book(here, fetch):
    answer = await fetch(here.url, accept=(404,))
    if answer.status == 404:
        yield skip("no_record", "named in the catalogue, and not there")
    else:
        found = answer.json()
        yield record(isbn=here.key, title=found["title"], pages=found["pages"], shelf=here.params["shelf"])
