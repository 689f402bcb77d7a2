"""The bounded memory of stored keys."""

from __future__ import annotations

from holdfast.engine.recent import RecentKeys


def test_what_was_learned_is_known() -> None:
    recent = RecentKeys()
    recent.learn([b"frog"])
    assert b"frog" in recent
    assert b"toad" not in recent


def test_memory_is_flat_however_much_is_learned() -> None:
    recent = RecentKeys(keys_max=100)
    for n in range(10_000):
        recent.learn([n.to_bytes(16, "big")])
    assert len(recent) <= 100
    assert (9_999).to_bytes(16, "big") in recent


def test_forgetting_forgets_everything() -> None:
    recent = RecentKeys(keys_max=4)
    recent.learn([b"a", b"b", b"c"])
    recent.forget()
    assert len(recent) == 0
