"""What builds the image set: Holdfast, and img2dataset in two settings. How each is called, and what it came to.

img2dataset gets its favourable settings: tar shards, no wandb, four shards, so that two processes have equal work and
few are started. Both reject sides below 200 pixels and hash what came; see `TOLD` for what else each does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PEER = Path("build/bench/images-venv/bin/img2dataset")
AT_ONCE = 16
SHARDS = 4
THUMBNAIL_PX = 192  # as `recipes.images.download` has it
SIDE_MIN = 200
# Their start looks for a newer version, and their log for an account.
ENVIRON = {**os.environ, "NO_ALBUMENTATIONS_UPDATE": "1", "WANDB_MODE": "disabled"}
TOLD = {
    "holdfast": "decodes every byte, in two decoders for each process, keeps the file as it came, a thumbnail of "
    "192 pixels, sha256, perceptual hash; compares; fsyncs and commits",
    "img2dataset": "decodes, keeps the file as it came (`resize_mode=no skip_reencode=True`), sha256",
    "img2dataset-192": "decodes, scales to 192 pixels and keeps only that (`resize_mode=keep_ratio_largest`), sha256",
}


@dataclass(frozen=True, slots=True)
class Contestant:
    """`argv` of a list, an allowed address, a folder of its own and the number of images; `kept` of that folder."""

    name: str
    processes: int
    argv: Callable[[Path, str, Path, int], list[str]]
    kept: Callable[[Path], int]

    @property
    def title(self) -> str:
        return f"{self.name}, {self.processes} process{'es' if self.processes > 1 else ''}"


def contestants(processes: list[int]) -> list[Contestant]:
    found: list[Contestant] = []
    for number in processes:
        found.append(Contestant("holdfast", number, _ours(number), kept_by_holdfast))
        found.append(Contestant("img2dataset", number, _peer(number, _AS_IT_CAME), kept_by_img2dataset))
        found.append(Contestant("img2dataset-192", number, _peer(number, _SCALED), kept_by_img2dataset))
    return found


_AS_IT_CAME = ("--resize_mode", "no", "--skip_reencode", "True")
_SCALED = (
    "--resize_mode", "keep_ratio_largest", "--resize_only_if_bigger", "True", "--image_size", str(THUMBNAIL_PX),
    "--encode_quality", "80",
)  # fmt: skip


def _ours(processes: int) -> Callable[[Path, str, Path, int], list[str]]:
    def argv(rows: Path, allowed: str, folder: Path, images: int) -> list[str]:
        pace = ["--delay", "0", "--per-host", str(AT_ONCE), "--concurrency", str(AT_ONCE), "--allow", allowed]
        words = [sys.executable, "-m", "holdfast", "images", "--from", str(rows), "--name", "set", "--plain"]
        return [*words, *pace, "--processes", str(processes), "--data", str(folder / "data")]

    return argv


def _peer(processes: int, work: tuple[str, ...]) -> Callable[[Path, str, Path, int], list[str]]:
    def argv(rows: Path, allowed: str, folder: Path, images: int) -> list[str]:
        return [
            str(PEER.absolute()), "--url_list", str(rows), "--input_format", "csv", "--url_col", "url",
            "--caption_col", "caption", "--output_format", "webdataset", "--output_folder", str(folder / "set"),
            "--processes_count", str(processes), "--thread_count", str(AT_ONCE // processes),
            "--min_image_size", str(SIDE_MIN), "--number_sample_per_shard", str(-(-images // SHARDS)),
            "--enable_wandb", "False", *work,
        ]  # fmt: skip

    return argv


def kept_by_holdfast(folder: Path) -> int:
    words = [sys.executable, "-m", "holdfast", "--data", str(folder / "data"), "export", "set", "-o", "-"]
    done = subprocess.run([*words, "--format", "jsonl"], check=True, capture_output=True)
    return done.stdout.count(b"\n")


def kept_by_img2dataset(folder: Path) -> int:
    """By its own count, of shards that it calls done."""
    return sum(json.loads(path.read_text())["successes"] for path in (folder / "set").glob("*_stats.json"))
