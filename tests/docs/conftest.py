"""The folders of the examples; and the generator of the docs, which is no package of ours, goes onto the path."""

from __future__ import annotations

import sys

from docs.example_folders import done_folder, half_way_folder, images_folder, site  # noqa: F401 - fixtures
from tidy.source_tree import ROOT

sys.path.insert(0, str(ROOT / "docs"))
