"""Sentences of a page that say something an analyst looks for: each under the cue that marks it. Letter by letter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from holdfast.recipes.site.entities.source import Source

PER_CUE_MAX = 6
LENGTH_MIN, LENGTH_MAX = 25, 320
NEAR = 80  # characters between a penalty and what makes it one of the law
_CUES: dict[str, str] = {
    "offering": r"\bwe (?:build|make|provide|offer|help|design|develop|sell|deliver|create|manufacture|supply|run)\b"
    r"|\b[A-Z][\w&]+ (?:is|are) (?:an?|the) [\w\s,-]{0,60}(?:company|platform|provider|maker|manufacturer|agency|firm|service|tool|"
    r"consultancy|supplier|studio|developer)\b",
    "mission": r"\b(?:our (?:mission|vision|purpose|goal)|we believe|we exist to)\b",
    "founded": r"\b(?:founded|established|incorporated)\b.{0,40}\b(?:1[789]|20)\d\d\b|\bsince (?:1[789]|20)\d\d\b",
    "headcount": r"\b(?:team of (?:over |about |more than )?\d[\d,]*|\d[\d,.]*\+? (?:people|employees|staff|colleagues|engineers|"
    r"specialists|team members))\b",
    "customers": r"\b(?:customers?|clients?) (?:include|in|across|such as|from|range|are)\b|\btrusted by\b|\bused by\b"
    r"|\b\d[\d,.]*\+? (?:customers|clients|users|companies|organi[sz]ations|teams)\b",
    "partners": r"\b(?:partner(?:ship|ed|s)? with|in partnership with|official partner|our partners|strategic partner)\b",
    "awards": r"\b(?:award(?:ed|s)?|winner of|won the|recogni[sz]ed (?:by|as)|ranked)\b",
    "competition": r"\b(?:market leader|leading|largest|the only|unlike (?:other|most)|compared (?:to|with)|alternative to|"
    r"competitors?|market share)\b",
    "funding": r"\b(?:raised|funding round|series [A-F]\b|seed round|investors?|venture|annual revenue|turnover|profit(?:able)?)\b",
    "model": r"\b(?:subscriptions?|per (?:month|year|user|seat)|licen[cs]es?|free trial|pay as you go|commission|annual contract|"
    r"billed|one-off|retainer|quote)\b",
    "compliance": r"\bISO(?:/IEC)? ?\d{4,5}\b|\bSOC ?2\b|\bGDPR\b|\bHIPAA\b|\bPCI(?: DSS)?\b|\bCyber Essentials\b|\bcertified\b",
    "hiring": r"\b(?:we(?:'|’| a)re hiring|open (?:positions?|roles?)|join our team|vacanc(?:y|ies)|current openings)\b",
    "operations": r"\b(?:offices? in|headquartered|headquarters|warehouses?|data cent(?:er|re)s?|hosted (?:in|on)|operates? (?:in|from)|"
    r"factory|manufactur(?:ed|ing) in|opening hours|support is available)\b",
    "risk": r"\b(?:lawsuit|litigation|under investigation|data breach|security incident|recall(?:ed|s)?|lay-?offs?|redundanc(?:y|ies)|"
    r"insolven(?:t|cy)|bankruptcy|into administration|fined|penalt(?:y|ies)|discontinued|going concern|restated|outage)\b",
    "placeholder": r"\blorem ipsum\b|\b(?:coming soon|under construction)\b",
}
CUES = tuple(_CUES)
_ANY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _CUES.items()), re.IGNORECASE)
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?…](?=\s+[A-ZÀ-Þ0-9\"“]|\s*\n|\s*\Z)|(?=\n)|\Z)")
# Documentation says `recall that …` and `performance penalty`: only goods are recalled, and a penalty is about money or law.
_GOODS = r"(?:products?|models?|batch(?:es)?|vehicles?|cars?|units?|devices?|batter(?:y|ies)|lots|goods|items?|toys?|chargers?|foods?)"
_MEMORIES = r"(?:days?|time|moment|years?|story|first|early|old|words?|values?|state|history)"
_RECALL = (
    r"(?:product|safety|voluntary|vehicle|food|battery|nationwide|worldwide|urgent) recalls?|recall (?:notices?|campaigns?)|"
    r"(?:issued|announced|ordered|initiated|launched) (?:a|the|another)(?: [\w-]+){0,2} recall|"
    rf"recalls? of(?: [\w,-]+){{0,4}} {_GOODS}|recalled (?:its|our|all|the)\b(?! {_MEMORIES}\b)|"
    rf"recalled(?: [\w,-]+){{0,4}} {_GOODS}|{_GOODS}(?: [\w-]+){{0,4}} recalled"
)
_PENALTY = r"(?<!performance )(?<!latency )(?<!speed )(?<!time )(?<!runtime )(?<!memory )(?<!cache )(?<!miss )(?<!cycle )\bpenalt(?:y|ies)\b"
_LAW = (
    r"(?:[$£€] ?\d|\b(?:USD|EUR|GBP|dollars?|euros?|pounds?|courts?|tribunals?|judges?|regulators?|regulatory|paid|imposed|fined|civil|"
    r"criminal|financial)\b)"
)
_DOUBTFUL = {
    "recall": re.compile(rf"\b(?:{_RECALL})\b", re.IGNORECASE),
    "penalt": re.compile(rf"{_PENALTY}.{{0,{NEAR}}}?{_LAW}|{_LAW}.{{0,{NEAR}}}?{_PENALTY}", re.IGNORECASE),
}  # by their first letters: what the sentence must have besides


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A sentence of the page's text, from character `at` on."""

    cue: str
    text: str
    at: int


def passages(source: Source) -> Iterator[Passage]:
    counts: Counter[str] = Counter()
    told: set[tuple[str, str]] = set()
    for sentence in _SENTENCE.finditer(source.text):
        text = sentence[0].strip()
        if not LENGTH_MIN <= len(text) <= LENGTH_MAX:
            continue
        for match in _ANY.finditer(text):
            cue = str(match.lastgroup)
            if (needed := _DOUBTFUL.get(match[0][:6].lower())) is not None and needed.search(text) is None:
                continue
            if counts[cue] < PER_CUE_MAX and (cue, text) not in told:
                counts[cue] += 1
                told.add((cue, text))
                yield Passage(cue, text, source.text.index(text, sentence.start()))
