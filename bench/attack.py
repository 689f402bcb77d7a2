"""One attack: what it is, how it is played, and what guards against it since."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.attack_stage import Answers, Ended, Pages, Stage


@dataclass(frozen=True)
class Attack:
    """A site that means no harm, and of which pages were missed, is one as well.

    `point` is its section of the page. `guard` is the test that fails without the protective line; empty: users are
    told, and nothing prevents it.

    `site` is made when the attack is played: some are large.
    """

    point: int
    what: str
    guard: str
    site: Callable[[], Answers | Pages]
    play: Callable[[Stage], Ended]

    @property
    def name(self) -> str:
        """A folder's."""
        return "-".join("".join(char if char.isalnum() else " " for char in self.what.lower()).split())[:60]


def nothing() -> Pages:
    return {}
