"""A forum: boards lead to threads and to the next page of the board; a thread gives one record.

holdfast run forum.py --param start=https://forum.example/ -o threads.jsonl
"""

from holdfast.recipe import Recipe, record, skip, target

forum = Recipe("forum", params={"start": str})


@forum.plan
def plan(params):
    yield target(params["start"], type="board")


@forum.step("board")
async def board(here, fetch):
    page = await fetch(here.url)
    for link in page.links("a.thread"):
        yield target(link, type="thread")
    for link in page.links("a.next"):
        yield target(link, type="board")


@forum.step("thread")
async def thread(here, fetch):
    page = await fetch(here.url)
    posts = page.css(".post")
    if posts:
        yield record(title=page.text("h1"), posts=len(posts), first=posts[0].text)
    else:
        yield skip("no_record")
