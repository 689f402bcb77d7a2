"""Who the company is: its name, where it sits, since when: by what most of its pages agree on."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec

from holdfast.recipes.site.analysis.corpus import Corpus
from holdfast.recipes.site.entities.mention import Entity

SITE_NAME = "site name"  # the rule that reads what a page calls its site
GENERAL_BOXES = frozenset(
    {
        "hello",
        "hi",
        "info",
        "contact",
        "office",
        "mail",
        "team",
        "enquiries",
        "inquiries",
        "kontakt",
        "support",
        "sales",
    }
)


class CompanyProfile(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the report's head says; empty where the site does not say it."""

    name: str
    domain: str
    legal_name: str = ""
    description: str = ""
    founded: str = ""
    address: str = ""
    emails: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
    social: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__struct_fields__}


def company_of(corpus: Corpus) -> CompanyProfile:
    home = corpus.home
    host = (urlsplit(home.url).hostname or "") if home else ""
    own = own_organisation(corpus, host)
    legal = (own.detail.get("legal_name") or _with_form(own)) if own else ""
    about = next((page.description for page in (*corpus.typed("home"), *corpus.typed("about")) if page.description), "")
    founding = founded(corpus)
    addresses = corpus.of("address")
    return CompanyProfile(
        name=(_short(own) if own else "") or (home.title if home else "") or host,
        domain=host,
        legal_name=legal,
        description=about,
        founded=founding[0].value if founding else "",
        address=addresses[0].value if addresses else "",
        emails=tuple(each.value for each in sorted(corpus.of("email"), key=_is_of_one)[:5]),
        phones=tuple(each.value for each in corpus.of("phone")[:5]),
        social=tuple(each.value for each in corpus.of("social_handle")[:10]),
    )


def _is_of_one(email: Entity) -> bool:
    """Whether an address is one person's; those of the company as a whole come first."""
    return email.value.partition("@")[0] not in GENERAL_BOXES


def own_organisation(corpus: Corpus, host: str) -> Entity | None:
    """The organisation that most pages name; one that sounds like the host comes first. What a single page of several
    mentions is not whose site it is, unless it is the start page, or says so itself."""
    label = host.removeprefix("www.").partition(".")[0].replace("-", "")
    orgs = corpus.of("org")
    alike = [org for org in orgs if label and label in "".join(org.value.lower().split()).replace("-", "")]
    home = corpus.home.url if corpus.home else ""
    return next((org for org in alike or orgs if alike or _may_own(org, home)), None)


def _may_own(org: Entity, home: str) -> bool:
    return org.count > 1 or any(each.url == home or each.how == SITE_NAME for each in org.sources)


def founded(corpus: Corpus) -> list[Entity]:
    """The years and dates that are said to be of the founding, the most frequent first."""
    return [each for each in corpus.of("date") if each.detail.get("what") in ("founding", "foundingDate")]


def _with_form(org: Entity) -> str:
    forms = [name for name in (org.value, *org.names) if name != _short(org)]
    return max(forms, key=len, default="")


def _short(org: Entity) -> str:
    return min((org.value, *org.names), key=lambda name: (len(name), name))
