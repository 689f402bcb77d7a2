"""What follows from comparing what the pages say: spans, counts, newest and oldest."""

from __future__ import annotations

from holdfast.recipes.site.analysis.section import Quotation, Writer, looked_at, seen
from holdfast.recipes.site.entities.mention import Entity


def insights(writer: Writer) -> None:
    _prices(writer)
    _publishing(writer)
    _places(writer)
    _languages(writer)
    _hiring(writer)
    _presence(writer)
    writer.quote("funding", 2)


def _prices(writer: Writer) -> None:
    by_currency: dict[str, list[Entity]] = {}
    for price in writer.corpus.of("money"):
        by_currency.setdefault(price.value.partition(" ")[0], []).append(price)
    for currency, prices in sorted(by_currency.items(), key=lambda item: (-len(item[1]), item[0]))[:1]:
        low, high = (choose(prices, key=_amount) for choose in (min, max))
        if low.value != high.value:
            text = f"Amounts in {currency} run from {low.value.partition(' ')[2]} to {high.value.partition(' ')[2]}."
            writer.say(text, [*seen(low, 1), *seen(high, 1)], 0.85, topic="prices")


def _amount(price: Entity) -> float:
    return float(price.value.partition(" ")[2])


def _publishing(writer: Writer) -> None:
    urls = {page.url for page in writer.corpus.typed("news", "blog")}
    dated = [(each.value, each) for each in writer.corpus.of("date") if len(each.value) >= 7]
    of_news = sorted((value, each) for value, each in dated if any(one.url in urls for one in each.sources))
    if len(of_news) >= 2:
        (oldest, first), (newest, last) = of_news[0], of_news[-1]
        text = f"Dates in news and blog pages run from {oldest} to {newest} ({len(of_news)} in all)."
        writer.say(text, [*seen(first, 1), *seen(last, 1)], 0.85, topic="publishing")


def _places(writer: Writer) -> None:
    addresses = writer.corpus.of("address")
    if len(addresses) > 1:
        evidence = [each for address in addresses[:4] for each in seen(address, 1)]
        writer.say(f"It has {len(addresses)} addresses, so more than one site.", evidence, 0.85, topic="places")


def _languages(writer: Writer) -> None:
    spoken: dict[str, Quotation] = {}
    for page in writer.corpus.pages:
        if page.lang:
            spoken.setdefault(page.lang.lower()[:2], looked_at(page))
    if len(spoken) > 1:
        listed = ", ".join(sorted(spoken))
        writer.say(f"Pages are in {len(spoken)} languages: {listed}.", list(spoken.values()), 0.9, topic="languages")


def _hiring(writer: Writer) -> None:
    found = writer.corpus.passages["hiring"]
    careers = writer.corpus.typed("careers")
    if found and careers:
        page, passage = found[0]
        text = f"It is hiring: {len(careers)} {'page' if len(careers) == 1 else 'pages'} on careers."
        writer.say(text, [Quotation(page.url, passage.text, passage.at)], 0.85, topic="hiring")


def _presence(writer: Writer) -> None:
    accounts = writer.corpus.of("social_handle")
    if accounts:
        networks = sorted({each.value.partition(":")[0] for each in accounts})
        evidence = [each for account in accounts[:4] for each in seen(account, 1)]
        writer.say(f"Accounts at {len(networks)} networks: {', '.join(networks)}.", evidence, 0.93, topic="presence")
