"""`--model-url`: a model words the sections of a report from the rules' statements; it is believed in nothing else.

The witness is a service on this computer that counts what it is asked (SIT-07).
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cli.commands import Done, Running, holdfast
from cli.schemas import validator
from cli.test_report import site as site
from fetch.hostile import HostileSite
from holdfast.recipes.site.analysis.sections import SECTIONS

KEY = "parrot-key-1234567890"
Said = tuple[int, str]
FEATURE = "In other words, that is said."


class Parrot:
    """A chat service. It words every statement, unless `says` has another answer to a section."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.keys: set[str | None] = set()
        self.says: Callable[[str, int], Said | None] = lambda section, times: None
        self.after: Callable[[int], None] = lambda count: None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def answer(self, text: str) -> Said:
        section = re.match(r"Section: (.*)", text)[1]  # type: ignore[index]
        self.asked.append(section)
        other = self.says(section, self.asked.count(section))
        if other is not None:
            return other
        numbers = [int(found) for found in re.findall(r"^(\d+)\. ", text, re.MULTILINE)]
        sentences = [{"text": FEATURE, "statements": numbers[:2]}] if numbers else []
        return completion(json.dumps({"sentences": sentences}))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        parrot = self

        class Asked(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parrot.asked.append(self.path)
                self.send_error(404)

            def do_POST(self) -> None:
                parrot.keys.add(self.headers.get("Authorization"))
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert (self.path, question["model"]) == ("/v1/chat/completions", "parrot")
                status, said = parrot.answer(question["messages"][1]["content"])
                body = said.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Retry-After", "0")
                self.end_headers()
                self.wfile.write(body)
                self.wfile.flush()
                parrot.after(len(parrot.asked))

            def log_message(self, *words: object) -> None:
                return None

        return Asked


def completion(content: str) -> Said:
    return 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]})


@pytest.fixture
def parrot() -> Iterator[Parrot]:
    made = Parrot()
    yield made
    made.close()


def words(site: HostileSite, parrot: Parrot, *more: str) -> list[str]:
    fixed = ("--resolve", f"kelpworks.test={site.address}", "--delay", "0", "--name", "acme", "--allow", site.address)
    asks = ("--report", "--model-url", f"http://{parrot.address}/v1", "--model", "parrot", "--max-depth", "1")
    return ["crawl", "http://kelpworks.test/", *fixed, *asks, "--model-key", "env:PARROT", *more]


def run(folder: Path, *command: str) -> Done:
    return holdfast(*command, cwd=folder, PARROT=KEY)


def sections(folder: Path) -> dict[str, Any]:
    document = json.loads(holdfast("report", "acme", "--format", "json", cwd=folder).out)
    validator("report").validate(document)
    return dict(document["analysis"]["sections"])


def test_a_model_words_what_the_rules_found_and_is_paid_once(site: HostileSite, parrot: Parrot, tmp_path: Path) -> None:
    """Each sentence keeps the passages of its statements, a statement that it leaves out stays, a rescan asks nothing
    again, and the key is written nowhere."""
    done = run(tmp_path, *words(site, parrot, "--allow", parrot.address))
    assert done.code == 0, done.err
    assert sorted(parrot.asked) == sorted(section["title"] for section in sections(tmp_path).values())  # each once
    assert parrot.keys == {f"Bearer {KEY}"}
    for section in sections(tmp_path).values():
        assert (section["made_by"], section["not_worded"]) == ("parrot", "")
        first, *left = section["statements"]
        assert first["text"] == FEATURE
        assert all(each["sources"] for each in section["statements"])
        assert max(place for each in section["statements"] for place in each["sources"]) < len(section["sources"])
        assert all(each["text"] != FEATURE for each in left)
    overview = sections(tmp_path)["company_overview"]
    assert len(overview["statements"]) > 2
    assert "Worded by parrot" in holdfast("report", "acme", cwd=tmp_path).out
    asked = len(parrot.asked)
    assert run(tmp_path, "crawl", "acme", "--mode", "full").code == 0
    assert (len(parrot.asked), sections(tmp_path)["company_overview"]) == (asked, overview)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_what_cannot_be_used_falls_back_to_the_rules_and_is_said(
    site: HostileSite, parrot: Parrot, tmp_path: Path
) -> None:
    """A model that is busy is asked again; one that is broken, talks nonsense or makes up a number words nothing."""
    calm = tmp_path / "calm"
    calm.mkdir()
    assert run(calm, *words(site, parrot)).code == 0  # its address is refused: all is in the rules' words
    assert parrot.asked == []
    by_rules = sections(calm)
    assert {each["not_worded"].partition(" ")[0] for each in by_rules.values()} == {"parrot:"}
    assert all("blocked_address" in each["not_worded"] for each in by_rules.values())
    made_up = {"sentences": [{"text": "It has 987654 customers.", "statements": [1]}]}
    answers: dict[str, Callable[[int], Said | None]] = {
        "Company overview": lambda times: (429, "slow down") if times == 1 else None,
        "Team and leadership": lambda times: (500, f"broken, {KEY}"),
        "Market position": lambda times: completion("I would rather not."),
        "Business model and products": lambda times: completion(json.dumps(made_up)),
        "Technology and operations": lambda times: completion('{"sentences": [{"text": "So.", "statements": [99]}]}'),
        "Key insights": lambda times: (200, "<html>"),
        "Red flags": lambda times: (401, "no"),
    }
    parrot.says = lambda section, times: answers[section](times) if section in answers else None
    assert run(tmp_path, *words(site, parrot, "--allow", parrot.address)).code == 0
    made = sections(tmp_path)
    said = {key: each["not_worded"] for key, each in made.items()}
    assert [key for key, each in made.items() if each["made_by"] == "parrot"] == [
        "executive_summary",
        "company_overview",
    ]
    assert (said["team_and_leadership"], said["red_flags"]) == ("parrot: HTTP 500: broken, ***", "parrot: HTTP 401: no")
    assert said["market_position"] == "parrot: it is not the JSON that was asked for"
    assert "it says 987654" in said["business_model_and_products"]
    assert "names no statement" in said["technology_and_operations"]
    assert "not a chat completion" in said["key_insights"]
    for key in said.keys() - {"executive_summary", "company_overview"}:
        assert made[key]["statements"] == by_rules[key]["statements"]
    counts = Counter(parrot.asked)
    assert (counts["Company overview"], counts["Team and leadership"], counts["Red flags"]) == (2, 3, 1)
    assert "no usable answer from parrot: HTTP 401" in holdfast("report", "acme", cwd=tmp_path).out


def test_a_kill_when_an_answer_has_come_asks_for_that_one_alone_again(
    site: HostileSite, parrot: Parrot, tmp_path: Path
) -> None:
    """PAU-10: answers that are settled are paid for; only the one in flight may be asked for again."""
    killed = threading.Event()

    def kill(count: int) -> None:
        if count == 5 and not killed.is_set():
            killed.set()
            os.kill(running.pid, signal.SIGKILL)

    parrot.after = kill
    running = Running(*words(site, parrot, "--allow", parrot.address), cwd=tmp_path, PARROT=KEY)
    assert running.end().code == -signal.SIGKILL
    fifth = parrot.asked[4]
    assert run(tmp_path, "resume", "acme").code == 0
    assert len(sections(tmp_path)) == len(SECTIONS)
    counts = Counter(parrot.asked)
    assert {section for section, n in counts.items() if n > 1} <= {fifth}
    assert sum(counts.values()) <= len(SECTIONS) + 1
    assert {each["made_by"] for each in sections(tmp_path).values()} == {"parrot"}
    assert holdfast("verify", "acme", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model-key", KEY), "stored in the clear"),
        (("--model-url", "ftp://models.test"), "no URL of a service"),
        (("--model-key", "env:NO_SUCH_NAME"), "has no NO_SUCH_NAME"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_fetched(
    more: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = holdfast("crawl", "http://kelpworks.test/", "--report", *more, cwd=tmp_path)
    assert (done.code, said in done.err, KEY in done.err) == (2, True, False), done.err
