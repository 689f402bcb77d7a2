"""A service that words what is already known. Optional: nothing in the program needs one, or believes it."""

from __future__ import annotations

from typing import Protocol


class ModelFailed(Exception):
    """The service gave no answer; the message says why, for people."""


class LanguageModel(Protocol):
    """Asked by one step at a time. What it answers is text from outside, and is checked like a page."""

    @property
    def name(self) -> str:
        """Which model answers: part of what an answer is stored under."""

    async def answer(self, instructions: str, text: str) -> str:
        """One answer, paid for; ModelFailed after its own tries. Cancelling drops the exchange."""

    async def close(self) -> None:
        """May be repeated."""
