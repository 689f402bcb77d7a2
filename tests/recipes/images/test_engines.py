"""The engines of an images job: shapes as they are sent, and everything else as `answer_unreadable` (IMG-01)."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.demo.engines import shapes
from holdfast.errors import BadParams, FetchError
from holdfast.recipes.images.engines import ENGINES, engine
from holdfast.recipes.images.engines.answer import CANDIDATES_MAX
from holdfast.recipes.images.engines.baidu import plain

# As browsers got them, cut down to two results each; hosts and names are made up.
OLDER_GOOGLE = """<!doctype html><html><body><div id="rg_s">
<div class="rg_di"><div class="rg_meta notranslate">{"id":"a:","isu":"marsh.test","ity":"jpg","oh":900,
"ou":"https://marsh.test/frog%207.jpg","ow":1200,"pt":"A frog \\u0026 a reed","ru":"https://marsh.test/frogs?p=1&amp;q=2",
"tu":"https://t0.test/images?q\\u003dtbn:1"}</div></div>
<div class="rg_meta">{"ou":"http://pond.test:8080/a.png","ow":"40","oh":0}</div></div></body></html>"""
NEWER_GOOGLE = """<html><script>AF_initDataCallback({key: 'ds:0', hash: '1', data:[null], sideChannel: {}});</script>
<script nonce="x">AF_initDataCallback({key: 'ds:1', isError: false, hash: '3', data:[null,[[[1,[0,"Qx",
["https://t0.test/images?q\\u003dtbn:1",183,275],["https://marsh.test/frog%207.jpg",900,1200],null,0,"rgb(1,2,3)",
null,false,null,null,{"2001":[null,null],"2003":[null,"Qx","https://marsh.test/frogs","A frog"]}]],
[1,[0,"Qy",["https://t1.test/x",1,2],["http://pond.test:8080/a.png",3,4]]]]]], sideChannel: {}});</script></html>"""
OLDER_BING = """<div id="dg_c"><div class="dg_u"><a href="#" t1="A frog" m="{ns:&quot;images&quot;,k:&quot;5&quot;,
surl:&quot;https://marsh.test/frogs&quot;,imgurl:&quot;https://marsh.test/frog%207.jpg&quot;,ow:&quot;300&quot;}"></a></div>
<div class="dg_u"><a m='{imgurl:"http://pond.test:8080/a.png"}'></a></div></div>"""
NEWER_BING = """<div class="dgControl"><ul><li><a class="iusc" m="{&quot;murl&quot;:&quot;https://marsh.test/frog%207.jpg&quot;,
&quot;turl&quot;:&quot;https://t0.test/th?id=1&amp;pid=2&quot;,
&quot;purl&quot;:&quot;https://marsh.test/frogs&quot;,&quot;t&quot;:&quot;A frog&quot;}"></a>
<a class="iusc" m='{"murl":"http://pond.test:8080/a.png"}'></a></li></ul></div>"""
BAIDU = r"""{"queryEnc":"%E9","listNum":2,"data":[{"objURL":"ippr_z2C$qAzdH3FAzdH3Fpjfp_z&e3Bv54AzdH3Fu654_z&e3B3r2",
"hoverURL":"https://h.test/1","fromPageTitle":"it\'s \x a \<strong>frog\</strong>","width":640,"height":480},
{"objURL":7,"hoverURL":"http://pond.test:8080/a.png"},{}]}"""
DUCKDUCKGO = json.dumps(
    {
        "query": "frog",
        "next": "i.js?q=frog&o=json&p=1&s=100&u=bing&f=,,,&l=wt-wt",
        "results": [
            {"image": "https://marsh.test/frog%207.jpg", "url": "https://marsh.test/frogs", "width": 9, "height": 8},
            {"image": "http://pond.test:8080/a.png", "thumbnail": "ftp://no"},
        ],
    }
)
CAPTURED = [
    ("google", OLDER_GOOGLE, "https://marsh.test/frog%207.jpg"),
    ("google", NEWER_GOOGLE, "https://marsh.test/frog%207.jpg"),
    ("bing", OLDER_BING, "https://marsh.test/frog%207.jpg"),
    ("bing", NEWER_BING, "https://marsh.test/frog%207.jpg"),
    ("baidu", BAIDU, "http://test.com/from.jpg"),
    ("duckduckgo", DUCKDUCKGO, "https://marsh.test/frog%207.jpg"),
]
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda one: st.lists(one) | st.dictionaries(st.sampled_from(["data", "results", "image", "objURL", "next"]), one),
    max_leaves=20,
)
NAMED = ("google", "google-newer", "bing", "bing-newer", "baidu", "duckduckgo")


def sent(name, count, query="frog"):
    results = [
        shapes.SearchResult(
            f"http://127.0.0.20:80/img/a/{number}.jpg", f"http://t.test/{number}", f"http://p.test/{number}?a=1&b=2",
            f'No. {number} <b>"quoted"</b> & co', 480, 360,
        )
        for number in range(count)
    ]  # fmt: skip
    match name:
        case "google" | "google-newer":
            return shapes.google(results, query, newer=name.endswith("newer"))
        case "bing" | "bing-newer":
            return shapes.bing(results, query, newer=name.endswith("newer"))
        case "baidu":
            return shapes.baidu(results, query, count)
        case _:
            return shapes.duckduckgo(results, query, "4-1", 100 if count == 100 else None)


def is_unreadable(error):
    assert error.code == "answer_unreadable"


def reader(name):
    return engine(name.removesuffix("-newer"))


@pytest.mark.parametrize(("name", "answer", "first"), CAPTURED)
def test_a_captured_answer_gives_its_candidates_in_their_order(name, answer, first):
    read = engine(name).read(answer.encode(), 0)

    assert [one.url for one in read.candidates] == [first, "http://pond.test:8080/a.png"]
    assert [one.rank for one in read.candidates] == [0, 1]
    assert read.next_offset == engine(name).page_size


def test_a_candidate_has_what_the_engine_says_of_it():
    older, newer = (engine("google").read(text.encode(), 0).candidates[0] for text in (OLDER_GOOGLE, NEWER_GOOGLE))

    assert (older.width, older.height, older.title) == (1200, 900, "A frog & a reed")
    assert older.source_page == "https://marsh.test/frogs?p=1&q=2"
    assert older.thumbnail == newer.thumbnail == "https://t0.test/images?q=tbn:1"
    assert (newer.width, newer.height, newer.source_page) == (1200, 900, "https://marsh.test/frogs")
    assert engine("baidu").read(BAIDU.encode(), 0).candidates[0].title.startswith("it's \\x a")


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("count", [1, 30])
def test_answers_of_the_simulated_engines_are_read_whole(name, count):
    read = reader(name).read(sent(name, count), 0)

    assert [one.url for one in read.candidates] == [f"http://127.0.0.20:80/img/a/{n}.jpg" for n in range(count)]
    assert read.candidates[0].source_page == "http://p.test/0?a=1&b=2"
    assert read.left_out == 0


@pytest.mark.parametrize("name", NAMED)
def test_only_a_page_that_says_so_is_empty_and_ends_the_variation(name):
    read = reader(name).read(sent(name, 0), 100)

    assert read.candidates == ()
    assert read.ends_variation


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"  \n",
        b"<!doctype html><title>Before you continue</title><form action='/consent'></form>",
        b"<html><title>Unusual traffic</title><div id='captcha'></div></html>",
        b"{}",
        b"[]",
        b"null",
        b'{"data": null, "results": null}',
        b'{"data": [1], "results": [1]}',
        b'{"data": [{}, {"objURL": "x"}], "results": [{"image": "javascript:1"}]}',
        b"[" * 100_000,
        b'{"data": [' + b'{"a":' * 50_000,
        b"\x00\xff\xfe" * 100,
        b"<div id='rg_s'><div><a href='#'><img></a></div></div><div class='dgControl'><img class='new-shape'></div>",
        b"<script>AF_initDataCallback({key: 'ds:1', data:[[\"http://a.test/new-shape\"]]});</script>",
        b'{"data": [{}], "listNum": 40, "results": [], "next": "i.js?s=100"}',
        b"<div class='rg_meta'>{not json}</div><a class='iusc' m='{'></a>",
        b"<div class='rg_meta'>[]</div><a class='iusc' m='[]'></a><div class=dg_u><a></a></div>",
        b"<div class='rg_meta'>{\"ou\": \"x\"}</div><a class='iusc' m='{\"murl\": 1}'></a>",
        b"<script>AF_initDataCallback({key: 'ds:1', data:[[[[" + b"[" * 60_000 + b"</script>",
    ],
)
def test_anything_else_is_unreadable_and_never_an_empty_success(name, answer):
    with pytest.raises(FetchError) as raised:
        engine(name).read(answer, 0)

    assert raised.value.code == "answer_unreadable"
    assert name in raised.value.message


def test_too_many_results_and_too_large_answers_are_unreadable():
    many = json.dumps({"results": [{"image": f"http://a.test/{n}"} for n in range(CANDIDATES_MAX + 1)]})
    for answer in (many.encode(), b'{"results": []}' + b" " * 9_000_000):
        with pytest.raises(FetchError, match="more than"):
            engine("duckduckgo").read(answer, 0)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMED), st.data())
def test_damaged_answers_are_read_or_unreadable_but_nothing_else(name, data):
    body = bytearray(sent(name, 5))
    for _ in range(data.draw(st.integers(1, 8))):
        begin = data.draw(st.integers(0, len(body)))
        length = data.draw(st.integers(0, 60))
        body[begin : begin + length] = data.draw(st.binary(max_size=20))
    try:
        read = reader(name).read(bytes(body), 0)
    except FetchError as error:
        is_unreadable(error)
    else:
        assert all(one.url.startswith(("http://", "https://")) for one in read.candidates)
        assert [one.rank for one in read.candidates] == sorted({one.rank for one in read.candidates})


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ENGINES), st.binary(max_size=400) | st.text(max_size=300).map(str.encode))
def test_arbitrary_bytes_never_raise_anything_but_unreadable(name, body):
    try:
        engine(name).read(body, 0)
    except FetchError as error:
        is_unreadable(error)


@settings(max_examples=40, deadline=None)
@given(JSON)
def test_json_of_any_shape_is_read_or_unreadable(answer):
    for name in ("baidu", "duckduckgo"):
        try:
            read = engine(name).read(json.dumps(answer).encode(), 0)
        except FetchError as error:
            is_unreadable(error)
        else:
            assert isinstance(answer, dict)
            assert read.candidates == ()


def test_requests_are_those_the_engines_know():
    asked = {name: engine(name).request("red panda", 200, "4-7") for name in ENGINES}
    queries = {name: parse_qs(urlsplit(request.url).query, keep_blank_values=True) for name, request in asked.items()}

    assert queries["google"] == {"q": ["red panda"], "tbm": ["isch"], "ijn": ["2"], "start": ["200"], "tbs": [""]}
    assert queries["bing"] == {"q": ["red panda"], "count": ["35"], "first": ["200"]}
    assert queries["baidu"]["pn"] == ["200"]
    assert queries["duckduckgo"]["s"] == ["200"]
    assert queries["duckduckgo"]["vqd"] == ["4-7"]
    assert all(request.url.startswith("https://") for request in asked.values())
    assert engine("bing", "http://127.0.0.3:81/").request("a", 0).url.startswith("http://127.0.0.3:81/images/search?")


def test_duckduckgo_needs_a_token_and_names_its_next_page():
    duck = engine("duckduckgo")
    first = duck.token_request("frog")

    assert first is not None
    assert "iax=images" in first.url
    assert duck.read_token(shapes.duckduckgo_page("frog", "4-123-abc")) == "4-123-abc"
    with pytest.raises(FetchError, match="vqd"):
        duck.read_token(b"<html>no token</html>")
    circle = DUCKDUCKGO.replace("s=100", "s=0")
    assert duck.read(circle.encode(), 0).next_offset is None  # an answer cannot lead in a circle
    assert all(engine(name).token_request("frog") is None for name in ENGINES if name != "duckduckgo")


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789:/.-_?=&ABC", min_size=1, max_size=60))
def test_substituted_letters_come_back(tail):
    url = f"http://a.test/{tail}"
    assert plain(shapes.coded(url)) == url or "_z" in url or "Az" in url
    assert plain(url) == url


def test_an_unknown_engine_is_refused_by_name():
    with pytest.raises(BadParams, match="google, bing, baidu, duckduckgo"):
        engine("altavista")
