"""The options that only jobs of a site have. A row here is all that an option needs: its value becomes a param."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.model.keys import canonical
from holdfast.model.option import PACE, PARAM, SHORTHAND, Option, StoredField
from holdfast.model.value_types import FLAG, REFERENCE, TEXT, TEXTS, ValueType, as_typed, choice, read_text
from holdfast.policy.directives import OBEYED
from holdfast.recipes.link_options import EXCLUDE, INCLUDE, MAX_DEPTH
from holdfast.recipes.site.presets import HELP, PRESETS

HEADING = "what belongs to the site"


def _model_url(value: Any) -> str:
    text = read_text(value)
    address = canonical(text)
    if address is None or "@" in text:
        raise ValueError(f"{as_typed(value)} is no URL of a service such as https://api.example.org/v1")
    return address.url


MODEL_URL = ValueType("URL", _model_url)
OPTIONS = (
    Option(
        "preset", choice(*PRESETS), "`thorough`, `quick` or `docs`", "--preset",
        part=SHORTHAND, python="preset", help=HELP,
    ),
    Option(
        "report", FLAG, "extract, analyse and write a report", "--report",
        help="then extract entities, analyse, and write a report: holdfast report JOB; needs the extra report",
    ),
    Option(
        "model_url", MODEL_URL, "a model service that words the report", "--model-url",
        part=PACE, stored=StoredField("model_url", str, ""), metavar="URL",
        help="an OpenAI-compatible service that words the report's sections: https://HOST/v1 (none: rules do)",
    ),
    Option(
        "model", TEXT, "which model of it", "--model", part=PACE, stored=StoredField("model", str, ""), metavar="NAME",
        help="which of its models",
    ),
    Option(
        "model_key", REFERENCE, "its key: `env:NAME` or `file:PATH`", "--model-key",
        part=PACE, stored=StoredField("model_key", str, ""), metavar="REF", help="its key: env:NAME or file:PATH",
    ),
    Option(
        "scope", choice("host", "domain", "prefix", "any"), "`host`, `domain`, `prefix` or `any`", "--scope",
        heading=HEADING, help="which links belong to it (host)",
    ),
    replace(INCLUDE, heading=HEADING),
    replace(EXCLUDE, heading=HEADING),
    replace(MAX_DEPTH, heading=HEADING),
    Option(
        "sitemap", choice("auto", "only", "off"), "`auto`, `only` or `off`", "--sitemap", heading=HEADING,
        help="begin also with what its sitemaps list; only: with nothing else, and follow no links (off)",
    ),
    Option(
        "seeds_file", TEXT, "a file with one URL per line to begin with", "--seeds", is_path=True, part=SHORTHAND,
        metavar="FILE", heading=HEADING, help="a file with one URL per line to begin with, besides URL",
    ),
    Option(
        "from_warc", TEXTS, "WARC files, or folders of them, read in place of the web", "--from-warc", is_path=True,
        metavar="FILE", heading=HEADING,
        help="pages from a WARC file, or a folder of them, and nothing from the network; repeatable; without URL: all "
             "its HTML pages",
    ),
    Option(
        "nofollow", choice(*OBEYED), "which nofollow is obeyed: `pages`, `all`, `off`", "--nofollow",
        part=PACE, stored=StoredField("nofollow", str, "pages"),
        help="obey the nofollow of pages (robots tag or header); all: of single links, too; off: of none (pages)",
    ),
)  # fmt: skip
OWN_PARAMS = tuple(row.name for row in OPTIONS if row.part == PARAM)
# What --update may change: a job that reads an archive never goes on in the web, nor in another archive.
SCOPE = tuple(name for name in OWN_PARAMS if name != "from_warc")
