"""The options that only jobs of images have. A row here is all that an option needs: its value becomes a param."""

from __future__ import annotations

from holdfast.model.option import PARAM, Option
from holdfast.model.value_types import TABLE, TEXT, TEXTS, choice, whole

HEADING = "images"
PER_KEYWORD_MAX = 1_000_000
OPTIONS = (
    Option(
        "per_keyword", whole(1, PER_KEYWORD_MAX), "images wanted per keyword", "--per-keyword", heading=HEADING,
        metavar="N", help="images wanted per keyword (100; of a list: all)",
    ),
    Option(
        "engines", TEXTS, "search engines", "--engines", joined=True, heading=HEADING, metavar="LIST",
        help="google,bing,baidu,duckduckgo, in this order (all)",
    ),
    Option(
        "keywords_file", TEXT, "a file with one keyword per line", "--keywords", is_path=True, typed=str,
        heading=HEADING, metavar="FILE", help="a file with a keyword per line",
    ),
    Option(
        "urls", TEXT, "instead of keywords: a list of keyword and url", "--from", is_path=True, typed=str,
        heading=HEADING, metavar="FILE",
        help="instead of engines: a CSV, JSONL or Parquet file of keyword and url, or a .txt of URLs",
    ),
    Option(
        "columns", TABLE, "which column is what", "--columns", joined=True, typed=str, heading=HEADING,
        metavar="url=Link,keyword=Class", help="which column of that file is what (by their usual names)",
    ),
    Option(
        "save_columns", TEXTS, "columns of the list that its images keep", "--save-columns", joined=True,
        heading=HEADING, metavar="LIST", help="columns of that file that are kept with its images",
    ),
    Option(
        "min_size", TEXT, "the least size, as in `200x200`", "--min-size", typed=str, heading=HEADING, metavar="WxH",
        help="smaller images are rejected (200x200)",
    ),
    Option(
        "dedupe", choice("exact", "perceptual"), "`exact` or `perceptual`", "--dedupe", heading=HEADING,
        help="which copies are left out: of the same bytes, or alike (perceptual)",
    ),
    Option(
        "distinct_from", TEXTS, "images jobs whose images are left out", "--distinct-from", heading=HEADING,
        metavar="JOB", help="leave out what this images job keeps by now, and copies of it (repeatable)",
    ),
)  # fmt: skip
OF_LISTS = ("columns", "save_columns")
ENGINES_OF_LIST = "--engines is for keywords: images of a list are fetched from where it says"
FILES = ("keywords_file", "urls", *OF_LISTS)  # they become keywords and a list
OWN_PARAMS = tuple(row.name for row in OPTIONS if row.part == PARAM and row.name not in FILES)
