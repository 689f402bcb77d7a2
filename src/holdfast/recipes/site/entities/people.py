"""People: a name beside a post, a byline, an author's tag. A name alone is not believed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.source import Source

_WORD = r"[A-ZÀ-ÖØ-ÞŁŚŻŠČŽ](?:[a-zà-öø-ÿąćęłńóśźżšč]+|['’][A-ZÀ-Þ][a-zà-öø-ÿ]+|[a-z]*[A-Z][a-zà-ÿ]+)(?:-[A-ZÀ-Þ][a-zà-öø-ÿ]+)?"
_PARTICLE = r"(?:van|von|de|der|den|da|di|del|della|la|le|bin|al|dos|du|zu|ter)"
NAME = rf"(?:(?:Dr|Prof|Mr|Mrs|Ms|Sir|Dame)\.?\s+)?({_WORD}(?:\s+(?:{_PARTICLE}|[A-Z]\.|{_WORD})){{0,3}}\s+{_WORD})"
_AREA = r"(?:\s+(?:of|for|,|and|&)\s+|\s+)[A-Z][\w&-]+(?:\s+(?:and|&|of)?\s*[A-Z][\w&-]+){0,3}"
ROLE = (
    r"((?:(?:Group|Global|Deputy|Interim|Acting|Senior|Associate|Assistant|Executive|Non-Executive|Regional|General|"
    r"Managing|Lead|Principal|Staff|Head|Technical|Creative|Art|Account|Office|Product|Project|Sales|Marketing|"
    r"Engineering|Software|Research|Operations|Finance|Financial|Commercial|Customer|Support|Design|Data)\s+){0,3}"
    r"(?:CEO|CTO|CFO|COO|CMO|CIO|CPO|CRO|CISO|Chief\s+(?:[A-Z][a-z]+\s+){0,3}(?:Officer|Executive|Scientist|Architect|"
    r"Engineer|Economist|of\s+Staff)|Chief\s+Executive|(?:Co-?)?[Ff]ounder(?:\s+(?:and|&)\s+[A-Z][\w-]+(?:\s+[A-Z][\w-]+){0,2})?|"
    r"President|Vice\s+President|VP|SVP|EVP|Chair(?:man|woman|person)?|Director|Manager|Partner|Engineer|Developer|"
    r"Designer|Architect|Scientist|Analyst|Consultant|Secretary|Treasurer|Counsel|Solicitor|Accountant|Controller|Editor|"
    r"Author|Researcher|Advisor|Adviser|Trustee|Owner|Head|Lead|Recruiter|Geschäftsführer(?:in)?|Vorstand|Gérante?|"
    rf"Directeur|Directrice)(?:{_AREA})?)"
)
_BESIDE = re.compile(rf"(?<![\w.]){NAME}\s*(?:,|–|—|\||:|\s-\s|\()\s*(?:our\s+|the\s+|is\s+)?{ROLE}\b")
_IS_OUR = re.compile(
    rf"(?<![\w.]){NAME}\s+(?:is|was|joined(?:\s+us)?\s+as|became|serves\s+as|has\s+been)\s+(?:our\s+|the\s+|an?\s+)?{ROLE}\b"
)
_BEFORE = re.compile(rf"(?<![\w.]){ROLE}(?:\s*[:,–—]\s*|\s+){NAME}")
_BYLINE = re.compile(rf"^(?:By|Written by|Posted by|Author:|Von|Par)\s+{NAME}\s*(?:$|[,|·–-])", re.MULTILINE)
_LINE_NAME, _LINE_ROLE = re.compile(NAME), re.compile(ROLE)
# Capitalised words that stand beside posts and are not names.
_NO_NAME = frozenset(
    [
        "Our",
        "The",
        "About",
        "Contact",
        "Team",
        "Privacy",
        "Policy",
        "Terms",
        "Read",
        "More",
        "Learn",
        "Meet",
        "Home",
        "News",
        "Blog",
        "Careers",
        "Company",
        "Services",
        "Products",
        "Pricing",
        "Support",
        "Login",
        "Sign",
        "Get",
        "Started",
        "Board",
        "Leadership",
        "Management",
        "Advisory",
        "Customer",
        "Customers",
        "Annual",
        "Report",
        "Office",
        "Head",
        "Chief",
        "Executive",
        "Officer",
        "Director",
        "Manager",
        "Senior",
        "Junior",
        "Vice",
        "President",
        "General",
        "Sales",
        "Marketing",
        "Product",
        "Engineering",
        "Operations",
        "Finance",
        "Human",
        "Resources",
        "Legal",
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
        "January",
        "February",
        "March",
        "April",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
        "United",
        "Kingdom",
        "States",
        "North",
        "South",
        "East",
        "West",
        "New",
        "Open",
        "Street",
        "Road",
        "Avenue",
        "Lane",
        "Square",
        "Ltd",
        "Limited",
        "Inc",
        "GmbH",
        "Group",
        "Holdings",
        "International",
        "Global",
        "Data",
        "Software",
        "Research",
        "Co",
        "Founder",
        "Founders",
        "Partner",
        "Partners",
        "Account",
        "Assistant",
        "Press",
        "Media",
        "Contact",
        "Join",
        "Work",
        "Apply",
        "Now",
        "View",
        "All",
        "Latest",
        "What",
        "We",
        "For",
        "And",
        "With",
        "From",
        "Your",
        "This",
        "Job",
        "Location",
        "Full",
        "Part",
        "Time",
        "Remote",
        "Hybrid",
        "Salary",
        "Department",
        "Lead",
        "Principal",
        "Staff",
        "How",
        "Award",
        "Awards",
        "Innovation",
        "Quality",
        "Safety",
        "Compliance",
        "Technology",
        "Digital",
        "Cloud",
        "Security",
        "Platform",
        "Solutions",
        "Systems",
        "Cookie",
        "Design",
        "Designer",
        "Developer",
        "Engineer",
        "Analyst",
        "Consultant",
        "Editor",
        "Author",
        "Technical",
        "Financial",
        "Commercial",
        "Deputy",
        "Interim",
    ]
)


def people(source: Source) -> Iterator[Mention]:
    for pattern, name_at, role_at in ((_BESIDE, 1, 2), (_IS_OUR, 1, 2), (_BEFORE, 2, 1)):
        for match in pattern.finditer(source.text):
            yield from _mention(source, match, name_at, role_at)
    yield from _on_lines(source)
    for match in _BYLINE.finditer(source.text):
        yield from _mention(source, match, 1, 0)
    if source.author and _LINE_NAME.fullmatch(source.author) and is_name(source.author):
        place = source.locate(source.author)
        yield Mention("person", name_of(source.author), source.author, place.passage, place.at, "author tag", 0.8)


def _mention(source: Source, match: re.Match[str], name_at: int, role_at: int) -> Iterator[Mention]:
    """Nothing where line breaks part name and post, or words of menus make up the name."""
    name, role = match[name_at], _tidy(match[role_at]) if role_at else ""
    if "\n" in match[0].strip() or not is_name(name):
        return
    place = source.around(match.start(name_at), match.end(role_at or name_at))
    detail = {"role": role} if role else {}
    how, confidence = ("role pattern", 0.88) if role else ("byline", 0.8)
    yield Mention("person", name_of(name), name, place.passage, place.at, how, confidence, detail)


def _on_lines(source: Source) -> Iterator[Mention]:
    """A card of a team page: a name alone on its line, the post alone on the next."""
    at = 0
    lines = source.text.split("\n")
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        name, role = _LINE_NAME.fullmatch(line.strip()), _LINE_ROLE.fullmatch(after.strip())
        if name and role and is_name(name[1]):
            passage = f"{line}\n{after}"
            yield Mention("person", name_of(name[1]), name[0], passage, at, "card", 0.9, {"role": _tidy(role[1])})
        at += len(line) + 1


def is_name(text: str) -> bool:
    words = text.split()
    return 2 <= len(words) <= 5 and not any(word.strip(".,") in _NO_NAME for word in words)


def name_of(text: str) -> str:
    match = _LINE_NAME.fullmatch(text.strip())
    return " ".join((match[1] if match else text).split())


def _tidy(role: str) -> str:
    return " ".join(role.split()).strip(" ,&")
