"""One power cut of each kind on each filesystem, judged right where it hurts. The suite T6 plays many, to their end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crash.suites.mounts import FILESYSTEMS, own_namespace
from crash.suites.power_cut import PowerCuts
from crash.suites.stage import PAGES, staged


@pytest.fixture(scope="module")
def cuts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PowerCuts]:
    own_namespace()
    folder = tmp_path_factory.mktemp("power")
    with staged(folder) as stage:
        yield PowerCuts(stage, folder, folder / "calm" / "data")


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_what_a_crawl_was_told_is_saved_is_there_after_a_power_cut(
    cuts: PowerCuts, tmp_path: Path, filesystem: str
) -> None:
    """L1, F1."""
    with cuts.cut_crawl(tmp_path, filesystem, at=PAGES // 2) as scene:
        assert scene is not None, "the crawl was over before the cut"
        assert cuts.not_kept(scene) == ""


@pytest.mark.parametrize("filesystem", FILESYSTEMS)
def test_an_export_that_was_written_is_there_after_a_power_cut(
    cuts: PowerCuts, tmp_path: Path, filesystem: str
) -> None:
    """F1: the new one, whole, and not the old one."""
    assert cuts.cut_export(tmp_path, filesystem) == ""
