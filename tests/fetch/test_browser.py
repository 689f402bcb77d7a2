"""Pages by Chromium: what scripts make of them, what they may not reach, and a browser that dies (DOC-16, DOC-17)."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from fetch.browsing import HTML, Answers, Listener, Site, in_browser
from holdfast.clock import ManualClock
from holdfast.errors import BadParams, Disallowed, FetchError
from holdfast.fetch.browser import executable
from holdfast.fetch.browser import pool as pool_module
from holdfast.fetch.browser.fetcher import BrowserFetcher
from holdfast.fetch.browser.limits import BrowserLimits
from holdfast.fetch.browser.memory import BrowserProcess, too_large
from holdfast.fetch.browser.pool import BrowserGone, Pool
from holdfast.fetch.browser.session import PageSession
from holdfast.fetch.browser.tab import LENGTH, TabSettings
from holdfast.fetch.cookies import CookieJar
from holdfast.fetch.http import names
from holdfast.model.browsing import BrowserPage
from holdfast.model.exchange import Request
from waiting import wait_until

APP = """
fetch('/data.json').then(answer => answer.json()).then(frogs => {
  document.title = frogs.length + ' frogs';
  pond.innerHTML = frogs.map(frog => `<a href="/${frog}">${frog}</a>`).join('');
})
"""
POND = '<title>no frogs</title><div id="pond"></div><img src="/frog.png"><script src="/app.js"></script>'
ANSWERS: Answers = {
    "/": (200, HTML | {"ETag": '"1"', "X-Frog": "green"}, POND),
    "/app.js": (200, {"Content-Type": "text/javascript", "Cache-Control": "max-age=600"}, APP),
    "/data.json": (200, {"Content-Type": "application/json"}, '["bufo", "hyla"]'),
    "/away": (302, {"Location": "/"}, ""),
    "/file": (200, {"Content-Type": "application/pdf"}, "%PDF-1.4 <script>1</script>"),
    "/moves": (200, HTML, "<p>here</p><script>location.href = '/'</script>"),
    "/alert": (200, HTML, "<script>alert(1); confirm(2); window.open('/popped'); document.write('after')</script>"),
    "/challenge": (
        200,
        HTML,
        "<script>if (document.cookie) document.write('in');\n"
        "else { document.cookie = 'a=1'; location.reload() }</script>",
    ),
    "/stuck": (200, HTML, "<p>stuck</p><script>while (true) {}</script>"),
    "/huge": (200, HTML, "<body><script>document.body.innerHTML = 'frog '.repeat(400000)</script>"),
    "/ok": (200, HTML, "<p>a frog</p>"),
}


async def code_of(fetcher: BrowserFetcher, url: str) -> str:
    try:
        await fetcher.fetch(Request(url))
    except FetchError as error:
        return error.code
    return "none"


def test_a_page_is_what_its_scripts_make_of_it_and_all_else_is_as_it_came() -> None:
    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        for _ in range(2):
            page = await fetcher.fetch(Request(site.url("/"), (("If-None-Match", '"1"'),)))
            assert b"<title>2 frogs</title>" in page.body
            assert b'<a href="/hyla">hyla</a>' in page.body
            assert (page.status, page.media, page.header("x-frog")) == (200, "text/html", "green")
            assert page.header("etag") is None  # of the shell; what scripts make of it may change without it
        assert site.asked.count("GET /app.js") == 1  # the cache is kept from page to page
        assert not [line for line in site.asked if "frog.png" in line or "favicon" in line]
        assert "If-None-Match" not in "".join(site.heads)
        asked = len(site.asked)
        away = await fetcher.fetch(Request(site.url("/away")))
        assert (away.status, away.header("location")) == (302, "/")
        file = await fetcher.fetch(Request(site.url("/file")))
        assert (file.media, file.body[:5]) == ("application/pdf", b"%PDF-")
        assert site.asked[asked:] == ["GET /away", "GET /file"]
        moves = await fetcher.fetch(Request(site.url("/moves")))
        assert (moves.header("refresh"), b"here" in moves.body) == (f"0; url={site.url('/')}", True)
        assert b"after" in (await fetcher.fetch(Request(site.url("/alert")))).body
        assert b"<body>in" in (await fetcher.fetch(Request(site.url("/challenge")))).body
        assert b"<body>in" in (await fetcher.fetch(Request(site.url("/challenge")))).body
        assert site.asked.count("GET /challenge") == 4  # each begins without the other's cookies
        assert "GET /popped" not in site.asked

    in_browser(ANSWERS, scene)


def test_a_page_that_never_ends_or_grows_too_large_harms_no_other() -> None:
    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        assert await code_of(fetcher, site.url("/stuck")) == "network_timeout"
        assert await code_of(fetcher, site.url("/huge")) == "body_too_large"
        assert b"a frog" in (await fetcher.fetch(Request(site.url("/ok")))).body

    in_browser(ANSWERS, scene, limits={"nav_timeout_s": 6.0, "bytes_max": 1_000_000})


# No more than this, for the sake of the computer that tests it, and never at an end.
GREEDY = """<script>
const held = [];
while (true) if (held.length < 8) held.push(new Uint8Array(1e8).fill(1));
</script>"""


def test_a_page_that_takes_too_much_memory_costs_that_page_alone() -> None:
    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        async def admit(url: str) -> None:
            """Anything may be asked for."""

        site.answers |= {"/greedy": (200, HTML, GREEDY)}
        async with fetcher.page(admit) as other:
            await other.goto(site.url("/"))
            await other.wait_for("a")
            with pytest.raises(FetchError, match="the page took more than 500 MB") as caught:
                await fetcher.fetch(Request(site.url("/greedy")))
            assert "2 frogs" in await other.content()
            with pytest.raises(FetchError, match="the page took more than 500 MB"):
                async with fetcher.page(admit) as by_hand:
                    await by_hand.goto(site.url("/greedy"))
            assert "2 frogs" in await other.content()
        assert (caught.value.code, fetcher.pool.starts, site.asked.count("GET /greedy")) == ("bomb", 1, 2)

    in_browser(ANSWERS, scene, limits={"process_mb": 500})


def test_a_page_that_was_ended_for_its_memory_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from playwright.async_api import Error

    chromium: Any = SimpleNamespace(is_alive=True, is_retired=False, in_use=0)

    async def scene() -> None:
        gate: Any = SimpleNamespace(port=1)
        tab: Any = SimpleNamespace(chromium=chromium, has_crashed=True, was_too_large=True)
        pool = Pool(lambda: "chromium", gate, BrowserLimits(), TabSettings(user_agent="t"), ManualClock())

        async def taken(_: str) -> Any:
            return tab

        async def drop(_: object) -> None:
            """It has gone already."""

        monkeypatch.setattr(pool, "_take", taken)
        monkeypatch.setattr(pool, "_drop", drop)
        async with pool.tab():
            raise Error("Target crashed")

    with pytest.raises(FetchError, match="more than 2000 MB") as caught:
        asyncio.run(scene())
    assert caught.value.code == "bomb"


@pytest.mark.parametrize(
    ("sizes", "killed"),
    [((), None), ((99, 100, 1), None), ((101, 20), 0), ((20, 30, 101), 2), ((80, 60, 60), None), ((60, 81, 60), 1)],
)
def test_the_largest_process_is_killed_where_it_or_all_together_are_too_large(
    sizes: tuple[float, ...], killed: int | None
) -> None:
    """Many frames of other sites have a process each."""
    found = too_large([BrowserProcess(n, "renderer", mb) for n, mb in enumerate(sizes)], 100)
    assert (found and found.pid) == killed


def hostile(port: int) -> str:
    """A page that tries everything to reach a port of this computer."""
    bad = f"127.0.0.1:{port}"
    return f"""<title>tried</title>
<link rel="preload" as="script" href="http://{bad}/preload"><link rel="prefetch" href="http://{bad}/prefetch">
<link rel="preconnect" href="http://{bad}"><link rel="stylesheet" href="http://{bad}/style"><link rel="icon" href="http://{bad}/i">
<script src="http://{bad}/script"></script><script src="/to-the-port"></script><img src="http://{bad}/image">
<script src="http://localhost:{port}/"></script><script src="http://[::ffff:7f00:1]:{port}/"></script>
<script src="http://2130706433:{port}/"></script><script src="http://rebind.test:{port}/"></script>
<script src="http://169.254.169.254/latest/meta-data"></script>
<iframe src="http://{bad}/frame"></iframe><iframe src="/to-the-port"></iframe><object data="http://{bad}/object"></object>
<video src="http://{bad}/video"></video><form id="form" action="http://{bad}/form" target="_blank"></form>
<script>
fetch('http://{bad}/fetch', {{mode: 'no-cors'}}); fetch('/to-the-port', {{mode: 'no-cors'}});
navigator.sendBeacon('http://{bad}/beacon', 'x'); new EventSource('http://{bad}/events');
for (const scheme of ['ws', 'wss']) new WebSocket(scheme + '://{bad}/socket');
try {{ new SharedWorker('http://{bad}/worker') }} catch {{}}
try {{ navigator.serviceWorker.register('/worker.js') }} catch {{}}
window.open('http://{bad}/window'); form.submit();
const ice = {{urls: ['stun:{bad}', 'turn:{bad}?transport=tcp'], username: 'a', credential: 'b'}};
const peer = new RTCPeerConnection({{iceServers: [ice]}});
peer.createDataChannel('frog'); peer.createOffer().then(offer => peer.setLocalDescription(offer));
try {{ new WebTransport('https://{bad}/transport') }} catch {{}}
fetch('/told').then(() => document.title = 'all tried');
</script>"""


def test_no_page_reaches_an_address_that_the_guard_refuses_sec_06(monkeypatch: pytest.MonkeyPatch) -> None:
    """By sub-resource, redirect, script, frame, WebSocket, WebRTC, window, or a name that means this computer."""
    asked = names._ask

    def answer(host: str) -> tuple[str, ...] | OSError:
        return ("127.0.0.1",) if host == "rebind.test" else asked(host)

    monkeypatch.setattr(names, "_ask", answer)

    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        listener = Listener()
        await listener.open()
        there = f"http://127.0.0.1:{listener.port}/redirected"
        site.answers |= {
            "/hostile": (200, HTML, hostile(listener.port)),
            "/to-the-port": (302, {"Location": there}, ""),
            "/worker.js": (200, {"Content-Type": "text/javascript"}, f"fetch('{there}')"),
            "/told": (200, {"Content-Type": "text/plain"}, "told"),
        }
        page = await fetcher.fetch(Request(site.url("/hostile")))
        listener.close()
        assert b"<title>all tried</title>" in page.body
        assert listener.reached == []
        assert "GET /to-the-port" in site.asked
        assert any("169.254.169.254 is a cloud-metadata address" in line for line in fetcher.gate.refused)
        assert sum("127.0.0.1 is a private address" in line for line in fetcher.gate.refused) >= 5
        assert await code_of(fetcher, there) == "blocked_address"

    in_browser({}, scene, limits={"settle_wait_s": 1.0})


def test_a_browser_killed_under_its_pages_is_started_again_and_no_page_is_lost_doc_17() -> None:
    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        held = site.holds["/data.json"] = asyncio.Event()
        pages = [asyncio.create_task(fetcher.fetch(Request(site.url("/")))) for _ in range(3)]
        await site.until("GET /data.json")
        killed = fetcher.pool.pid
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        held.set()
        for page in await asyncio.gather(*pages):
            assert b"<title>2 frogs</title>" in page.body
        assert fetcher.pool.starts == 2
        assert site.asked.count("GET /") == 3  # the documents were there already

    in_browser(ANSWERS, scene)


def test_a_browser_that_has_worked_enough_is_replaced_and_ends() -> None:
    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        assert b"a frog" in (await fetcher.fetch(Request(site.url("/ok")))).body
        first = fetcher.pool.pid
        await asyncio.gather(*(fetcher.fetch(Request(site.url("/ok"))) for _ in range(3)))
        assert b"a frog" in (await fetcher.fetch(Request(site.url("/ok")))).body
        assert (fetcher.pool.starts, fetcher.pool.pid != first) == (2, True)
        assert first is not None
        await asyncio.to_thread(wait_until, lambda: not _is_there(first), 30, "the first browser has ended")

    in_browser(ANSWERS, scene, limits={"recycle_pages": 2})


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


FORM = '<form method="post" action="/found"><input name="q"><button>go</button></form><a href="/robots">no</a>'


def test_a_step_fills_in_a_form_and_every_document_is_admitted_first_doc_16() -> None:
    answers: Answers = {
        "/form": (200, HTML | {"Set-Cookie": "seen=1"}, FORM),
        "/found": (303, {"Location": "/list"}, ""),
        "/list": (200, HTML, "<ul></ul><script>setTimeout(() => document.body.append('3 frogs'), 200)</script>"),
    }

    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        admitted: list[str] = []

        async def admit(url: str) -> None:
            if url.endswith("/robots"):
                raise Disallowed("robots.txt forbids it", rule="/robots")
            admitted.append(url.removeprefix(site.url("")))

        async with fetcher.page(admit) as page:
            assert await page.goto(site.url("/form")) == 200
            await page.fill("input[name=q]", "bufo bufo")
            await page.click("button")
            await page.wait_for(text="3 frogs")
            assert page.url == site.url("/list")
            assert "3 frogs" in await page.content()
            assert await page.evaluate("n => n + document.querySelectorAll('ul').length", 1) == 2
            await page.goto("/form")
            with pytest.raises(Disallowed):
                await clicked_through(page)
            assert page.url == site.url("/form")
            with pytest.raises(FetchError) as caught:
                await page.wait_for("#pond", within_s=0.2)
            assert caught.value.code == "element_not_found"
        assert admitted == ["/form", "/found", "/list", "/form"]
        assert "POST /found q=bufo+bufo" in site.asked
        assert (await fetcher.fetch(Request(site.url("/list")))).status == 200
        assert "cookie: seen=1" in site.heads[-1].lower()  # one jar for the browser and for us

    in_browser(answers, scene, jar=CookieJar())


async def clicked_through(page: BrowserPage) -> None:
    """Clicked, and until the page that this leads to is there: a slow browser asks for it when `click` has returned."""
    await page.click("a")
    await page.wait_for("#never", within_s=5)


def test_a_page_that_is_too_large_for_a_step_is_not_brought_out_of_the_browser() -> None:
    class Page:
        url, main_frame, brought = "about:blank", None, 0

        def on(self, event: str, call: object) -> None:
            pass

        async def evaluate(self, script: str) -> int:
            assert script == LENGTH
            return 1_001

        async def content(self) -> str:
            self.brought += 1
            return "x" * 1_001

    page, nothing = Page(), None
    tab: Any = SimpleNamespace(page=page, name="")
    admit: Any = nothing
    session = PageSession(tab, admit, BrowserLimits(bytes_max=1_000), ManualClock())
    with pytest.raises(FetchError) as caught:
        asyncio.run(session.content())
    assert (caught.value.code, page.brought) == ("body_too_large", 0)


@pytest.mark.parametrize("hangs", [False, True])
def test_what_a_document_waits_for_its_turn_is_not_of_the_sites_time(hangs: bool) -> None:
    """A `Crawl-delay` of 30 s, and 25 s for a page: here of 0.3 s and 0.2 s. What the site takes counts as ever."""

    class Page:
        url, main_frame = "about:blank", None

        def on(self, event: str, call: object) -> None:
            pass

        async def goto(self, url: str, **how: object) -> SimpleNamespace:
            await tab.on_document({"request": {"url": url}})
            await tab.on_document({"request": {"url": f"{url}hop"}})
            await asyncio.sleep(60 if hangs else 0)
            return SimpleNamespace(status=200)

    async def let_go(event: object) -> None:
        pass

    async def admit(url: str) -> None:
        await asyncio.sleep(0.3)

    tab: Any = SimpleNamespace(page=Page(), name="", let_go=let_go)
    session = PageSession(tab, admit, BrowserLimits(nav_timeout_s=0.2), ManualClock())
    if not hangs:
        assert asyncio.run(session.goto("https://a.test/")) == 200
        return
    with pytest.raises(FetchError, match=r"did not load in 0\.2 s"):
        asyncio.run(session.goto("https://a.test/"))


def test_a_page_with_a_name_stays_where_it_is_until_something_goes_wrong_with_it() -> None:
    """DOC-17: one page for many targets. Others are never given it, and it keeps the cookies it has."""
    answers: Answers = {"/a": (200, HTML | {"Set-Cookie": "who=a"}, "<title>a</title>")}

    async def scene(site: Site, fetcher: BrowserFetcher) -> None:
        async def admit(url: str) -> None:
            admitted.append(url)

        admitted: list[str] = []
        async with fetcher.page(admit, "court") as first:
            assert await first.goto(site.url("/a")) == 200
        async with fetcher.page(admit) as other:
            assert other.url == "about:blank"
        async with fetcher.page(admit, "court") as second:
            assert second is first
            assert (second.url, await second.evaluate("document.cookie")) == (site.url("/a"), "who=a")
        with pytest.raises(ValueError, match="spoilt"):
            async with fetcher.page(admit, "court"):
                raise ValueError("spoilt")
        async with fetcher.page(admit, "court") as third:
            assert third is not first
            assert third.url == "about:blank"
        assert admitted == [site.url("/a")]
        assert fetcher.pool.starts == 1

    in_browser(answers, scene)


def test_a_browser_that_keeps_dying_is_started_again_ever_more_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """DOC-17: at once, after 5, 15, 45 and again 45 seconds."""
    from playwright.async_api import Error

    class Dying:
        is_alive = is_retired = is_ending = False
        in_use = pages = 0

        @classmethod
        async def start(cls, *_: object) -> Dying:
            return cls()

        async def close(self) -> None: ...

    async def no_page(*_: object) -> None:
        raise Error("Target page, context or browser has been closed")

    class Waits(ManualClock):
        waited: ClassVar[list[float]] = []

        async def wait(self, seconds: float) -> None:
            self.waited.append(seconds)

    async def scene() -> None:
        gate: Any = SimpleNamespace(port=1)
        pool = Pool(lambda: "chromium", gate, BrowserLimits(), TabSettings(user_agent="t"), Waits())
        for _ in range(6):
            with pytest.raises(BrowserGone):
                async with pool.tab():
                    raise AssertionError
        await pool.close()

    monkeypatch.setattr(pool_module, "Chromium", Dying)
    monkeypatch.setattr(pool_module.Tab, "open", no_page)
    asyncio.run(scene())
    assert Waits.waited == [0, 0, 5, 15, 45, 45]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(executable, "find_spec", lambda _: None)
        with pytest.raises(BadParams) as caught:
            executable.find_executable()
    assert caught.value.hint == "pip install 'holdfast[browser]'"
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadParams) as caught:
        executable.find_executable()
    assert "apt-get install chromium" in str(caught.value.hint)
