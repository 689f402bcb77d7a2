"""What an analyst would ask about: what is missing, out of date, contradictory or unfinished. Rules, not judgement.

Something that is missing is said of the pages that were looked at; their number is part of the statement.
"""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.recipes.site.analysis.company import founded
from holdfast.recipes.site.analysis.section import Writer, looked_at, seen

OLD_DAYS = 365
THIN_WORDS = 40
PAGES_TO_JUDGE = 3  # on fewer pages nothing can be called missing
FREE_MAIL = frozenset(
    [
        "gmail.com",
        "googlemail.com",
        "yahoo.com",
        "hotmail.com",
        "outlook.com",
        "aol.com",
        "icloud.com",
        "gmx.de",
        "gmx.net",
        "web.de",
        "mail.ru",
    ]
)


def flags(writer: Writer) -> None:
    _words(writer)
    _contradictions(writer)
    _age(writer)
    _free_mail(writer)
    _missing(writer)
    _thin(writer)


def _words(writer: Writer) -> None:
    writer.quote("risk", 5, topic="risk", confidence=0.75)
    writer.quote("placeholder", 3, topic="unfinished", confidence=0.8)


def _contradictions(writer: Writer) -> None:
    years = {each.value[:4]: each for each in founded(writer.corpus)}
    if len(years) > 1:
        evidence = [each for entity in years.values() for each in seen(entity, 1)]
        writer.say(
            f"Different founding years are named: {', '.join(sorted(years))}.", evidence, 0.85, topic="contradiction"
        )


def _age(writer: Writer) -> None:
    corpus = writer.corpus
    today = datetime.fromtimestamp(corpus.as_of / 1000, UTC)
    urls = {page.url for page in corpus.typed("news", "blog")}
    dated = [
        each for each in corpus.of("date") if len(each.value) == 10 and any(one.url in urls for one in each.sources)
    ]
    past = [each for each in dated if each.value <= today.date().isoformat()]
    if past:
        newest = max(past, key=lambda each: each.value)
        days = (today.date() - datetime.fromisoformat(newest.value).date()).days
        if days > OLD_DAYS:
            writer.say(
                f"The newest dated news is {days} days old ({newest.value}).", seen(newest, 1), 0.8, topic="out of date"
            )
    years = [(page.copyright_year, page) for page in corpus.pages if page.copyright_year]
    if years and (latest := max(year for year, _ in years)) < str(today.year - 1):
        page = next(page for year, page in years if year == latest)
        writer.say(f"The copyright line ends in {latest}.", [looked_at(page)], 0.75, topic="out of date")


def _free_mail(writer: Writer) -> None:
    for mail in writer.corpus.of("email"):
        if mail.value.partition("@")[2] in FREE_MAIL:
            writer.say(f"{mail.value} is an address of a free mail service.", seen(mail, 1), 0.85, topic="contact")


def _missing(writer: Writer) -> None:
    corpus, home = writer.corpus, writer.corpus.home
    if home is None or len(corpus.pages) < PAGES_TO_JUDGE:
        return
    among = f"among {len(corpus.pages)} pages"
    checks = (
        (
            not corpus.of("email") and not corpus.of("phone"),
            "No e-mail address and no phone number was found",
            "contact",
        ),
        (not corpus.of("address"), "No postal address was found", "contact"),
        (not corpus.typed("legal"), "No page on privacy, terms or imprint was found", "legal"),
        (not corpus.of("person"), "Nobody is named with a post", "team"),
    )
    for is_missing, text, topic in checks:
        if is_missing:
            writer.say(f"{text} {among}.", [looked_at(home)], 0.7, topic=topic)


def _thin(writer: Writer) -> None:
    thin = [page for page in writer.corpus.pages if 0 < page.words < THIN_WORDS]
    if len(thin) >= PAGES_TO_JUDGE and 2 * len(thin) > len(writer.corpus.pages):
        text = f"{len(thin)} of {len(writer.corpus.pages)} pages have fewer than {THIN_WORDS} words."
        writer.say(text, [looked_at(page) for page in thin[:3]], 0.7, topic="thin content")
