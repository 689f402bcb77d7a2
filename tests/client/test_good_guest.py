"""A program that uses Holdfast keeps what is its own."""

from __future__ import annotations

import gc

import holdfast as hf
from holdfast.demo.serving import WorldServer


def test_a_run_leaves_the_programs_garbage_collector_as_it_is(client: hf.Client, tree: WorldServer) -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    client.crawl(*tree.oracle()["seeds"], allow=[tree.address], delay=0).run()
    assert (gc.get_threshold(), gc.get_freeze_count()) == before
