"""The elements of an HTML text that are open, followed tag by tag as the HTML rules have it, and what they cost.

`names` are elements that certainly lie open in this order. What may be open or not, since it depends on rules that are
not followed here, is only counted, in `more`, and never closed again. So the depth is never told too small.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.recipe.html_names import (
    CLOSES_P,
    FOREIGN,
    FORMATTING,
    FORMS_LOOP,
    FRAMED,
    HEADINGS,
    IMPLIED,
    LEAVES_FOREIGN,
    LISTED,
    MARKED,
    ONCE,
    OPTIONS,
    PARTS,
    PASSED_BY_ITEMS,
    RUBY,
    RULED,
    SAME_MAX,
    SCOPES,
    SECTIONS,
    SINGLE,
    SPECIAL,
    STRANGE,
    VOID,
    WEIGHED,
)

CLOSING = 150  # what an end tag costs that does not simply end the innermost element, in elements passed
PASSED = 20  # an element that is passed here and not in C

Formatting = tuple[int, str, str, int]  # which of the names it is, its tag, its attributes, and their weight


class _Frame(NamedTuple):
    """An open element that end tags do not reach out of, and what holds again when it is closed."""

    at: int
    p_at: int
    marked: bool
    loose: dict[str, list[tuple[str, int]]]
    loose_weight: int


class OpenElements:
    """Told every tag in turn. `nodes` and `work` are what the tree would cost so far."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.more = self.nodes = self.work = 0
        self.p_at = -1
        self.formatting: list[Formatting] = []
        self._frames: list[_Frame] = []
        self._loose: dict[str, list[tuple[str, int]]] = {}  # formatting that is opened again: tag -> attributes, weight
        self.loose_weight = 0
        self._fresh = 0  # loose ones that are not open at the moment
        self._reopened: list[tuple[int, int]] = []  # outside of which of the names, and how many
        self._deaf = False  # what is a tag and what is text is not known any more: nothing is closed
        self.strange = 0  # how many svg and math are open; many, where it is not known any more what is open
        self._doubt = False  # whether svg, math or select is open is not known any more

    def open(self, tag: str, rest: str) -> None:
        names = self.names
        self.nodes += 1 + len(rest) // WEIGHED
        self.work += len(names) + self.more
        if self.loose_weight:
            self._reopen()
        if self._deaf or (self._doubt and tag in RULED):
            self._freeze()
            self._perhaps(tag, rest)
        elif self.strange and not self._doubt:
            self._open_foreign(tag, rest)
        elif tag not in RULED:
            names.append(tag)
        elif tag in FORMATTING:
            self._open_formatting(tag, rest)
        else:
            self._open_ruled(tag)

    def close(self, tag: str) -> None:
        names = self.names
        self.nodes += tag in ("p", "br")
        self.work += len(names) + self.more + CLOSING
        if self.loose_weight:
            self._reopen()
        if self._deaf or not names:
            if tag in FORMATTING and not self._deaf:
                self._close_formatting(tag)
        elif tag in FORMATTING:
            self._close_formatting(tag)
        elif names[-1] == tag:
            self._pop_to(len(names) - 1)
        elif self.strange and not self._doubt:
            if tag in FOREIGN:
                self._pop_to(_last(names, tag))
        elif tag in PARTS:
            self._close_part(tag)
        elif tag in SPECIAL or tag == "template":
            self._close_special(tag)
        elif tag in names:
            self._close_other(tag)

    def raw(self, tag: str, inside: str) -> None:
        """An element whose content is text, unless it lies where it is none, or is passed over."""
        self.nodes += 2
        self.work += len(self.names) + self.more
        if tag == "xmp" and self.p_at >= 0:
            self._pop_to(self.p_at)
        if tag == "textarea" and "select" in self.names:
            self._freeze()
        doubt = self._doubt or self.strange > 0 or "select" in self.names
        if "<" in inside and (doubt or (tag == "script" and _is_hidden(inside))):
            self.lose_track()
        if "<" in inside and doubt:  # perhaps it is markup: half of it may open again what the other half has opened
            tags = inside.count("<")
            self.more += tags
            self.nodes += tags * (1 + tags // 4)
            self.work += tags * (tags + len(self.names) + self.more) + (tags // 3) ** 3
            self.loose_weight += tags

    def cdata(self) -> None:
        if self.strange:
            self.lose_track()

    def lose_track(self) -> None:
        """From here on, what looks like a tag may be text."""
        self._freeze()
        self._deaf = True
        self.strange += STRANGE

    def _reopen(self) -> None:
        """Formatting elements that are loose are opened where text or an element comes next."""
        self.nodes += self.loose_weight
        self.work += self.loose_weight * (len(self.names) + self.more)
        if self._fresh:
            self._reopened.append((len(self.names), self._fresh))
            self.more += self._fresh
            self._fresh = 0

    def _perhaps(self, tag: str, rest: str) -> None:
        self.more += 1
        if tag in FORMATTING:
            self._loosen(tag, rest, 1 + len(rest) // WEIGHED)

    def _open_foreign(self, tag: str, rest: str) -> None:
        if tag in FOREIGN or tag == "a" or not (tag in RULED or tag in LEAVES_FOREIGN):
            if not rest.endswith("/"):
                self._push(tag)
            return
        self._freeze()
        if tag in FORMATTING:
            self._loosen(tag, rest, 1 + len(rest) // WEIGHED)

    def _open_formatting(self, tag: str, rest: str) -> None:
        if tag in SINGLE and (tag in self._loose or any(each[1] == tag for each in self.formatting)):
            self._close_formatting(tag)
        self.work += len(self.formatting) + self.loose_weight
        self.formatting.append((len(self.names), tag, rest, 1 + len(rest) // WEIGHED))
        self.names.append(tag)

    def _open_ruled(self, tag: str) -> None:
        names = self.names
        if tag in LISTED:
            self._close_item(LISTED[tag])
        if self.p_at >= 0 and tag in CLOSES_P:
            self._pop_to(self.p_at)
        if tag in VOID or tag in ONCE:
            if tag == "col":
                self._open_part(tag)
            elif tag in ("input", "keygen", "hr") and "select" in names:
                self._freeze()
        elif tag == "select" and self._has_in_scope(tag):
            self._close_special(tag)
        elif tag in PARTS:
            self._open_part(tag)
        elif tag == "table":
            self._open_table()
        elif tag == "form":
            self._blur()
            self.more += 1
        elif tag == "frameset":
            self._freeze()
            self._be_in_doubt()
        elif tag == "button":
            self._close_special(tag)
            self._push(tag)
        elif tag in RUBY:
            self._open_ruby(tag)
        elif tag in OPTIONS and "select" in names:
            self._end_implied("optgroup" if tag == "option" else "")
            self._push(tag)
        elif names and (names[-1] in HEADINGS if tag in HEADINGS else names[-1] == "option" and tag in OPTIONS):
            self._replace(tag)
        else:
            self._push(tag)

    def _open_ruby(self, tag: str) -> None:
        """In a ruby element it ends what needs no end tag."""
        if self._has_in_scope("ruby"):
            self._end_implied("rtc" if tag in ("rt", "rp") else "")
        elif self.names and self.names[-1] in IMPLIED:
            self._freeze()
        self._push(tag)

    def _end_implied(self, but: str) -> None:
        names = self.names
        if self.loose_weight:  # an element that was opened again may lie in it
            self._freeze()
        while names and names[-1] in IMPLIED and names[-1] != but:
            self._pop_to(len(names) - 1)

    def _replace(self, tag: str) -> None:
        """The innermost one is closed, unless a formatting element that was opened again lies in it."""
        self.more += 1 if self.loose_weight else 0
        self._pop_to(len(self.names) - 1)
        self._push(tag)

    def _push(self, tag: str) -> None:
        names = self.names
        if tag in FRAMED:
            marked = tag in MARKED
            self.strange += tag in FOREIGN
            self._frames.append(_Frame(len(names), self.p_at, marked, self._loose, self.loose_weight))
            self.p_at = -1
            if marked:
                self._loose, self.loose_weight = {}, 0
        elif tag == "p":
            self.p_at = len(names)
        names.append(tag)

    def _pop_to(self, length: int) -> None:
        """Close all but the outermost `length` ones; formatting that is closed by the way is opened again later."""
        names = self.names
        while self._frames and self._frames[-1].at >= length:
            frame = self._frames.pop()
            self.strange -= names[frame.at] in FOREIGN
            self.p_at = frame.p_at
            if frame.marked:
                while self.formatting and self.formatting[-1][0] > frame.at:
                    self.formatting.pop()
                self._loose, self.loose_weight = frame.loose, frame.loose_weight
        while self.formatting and self.formatting[-1][0] >= length:
            self._loosen(*self.formatting.pop()[1:])
        while self._reopened and self._reopened[-1][0] > length:
            count = self._reopened.pop()[1]
            self.more -= count
            self._fresh += count
        if self.p_at >= length:
            self.p_at = -1
        del names[length:]

    def _loosen(self, tag: str, rest: str, weight: int) -> None:
        same = self._loose.setdefault(tag, [])
        if self._deaf and same and tag in SINGLE:
            return
        if same.count((rest, weight)) < SAME_MAX:
            same.append((rest, weight))
            self.loose_weight += weight
        self._fresh += 1

    def _freeze(self) -> None:
        """None of what is open is certain any more, nor whether one more is."""
        if not (FOREIGN | {"select"}).isdisjoint(self.names):
            self._be_in_doubt()
        self.more += len(self.names) + 1
        outer = sum(frame.loose_weight for frame in self._frames if frame.marked)
        self._frames = [frame._replace(marked=False) for frame in self._frames]
        self._reopened.clear()
        self._pop_to(0)
        self.loose_weight += outer

    def _be_in_doubt(self) -> None:
        self._doubt = True
        self.strange += STRANGE

    def _blur(self) -> None:
        """Elements outside of a special one cannot be closed any more while that one is open."""
        names, length = self.names, len(self.names)
        while length and names[length - 1] not in SPECIAL:
            length -= 1
        self.more += len(names) - length
        self._pop_to(length)

    def _has_in_scope(self, tag: str) -> bool:
        start = self._frames[-1].at if self._frames else 0
        return tag in self.names[start:]

    def _close_item(self, kinds: frozenset[str]) -> None:
        names = self.names
        for at in range(len(names) - 1, -1, -1):
            self.work += PASSED
            if names[at] in kinds:
                return self._pop_to(at)
            if names[at] in SPECIAL and names[at] not in PASSED_BY_ITEMS:
                return None
        return None

    def _open_table(self) -> None:
        if self.p_at >= 0:  # closed or not, by the mode of the document
            self.more += len(self.names) - self.p_at
            self._pop_to(self.p_at)
        at = self._table_at()
        if at >= 0 and "select" in self.names[at:]:
            self._freeze()
        elif at >= 0 and MARKED.isdisjoint(self.names[at:]):
            self._pop_to(at)
        self._push("table")

    def _table_at(self) -> int:
        """Where the table is that a part of one belongs to; -1: there is none."""
        for frame in reversed(self._frames):
            name = self.names[frame.at]
            if name == "table":
                return frame.at
            if name in ("template", "svg", "math"):
                break
        return -1

    def _open_part(self, tag: str) -> None:
        at = self._table_at() + 1
        names = self.names
        if not at or "select" in names[at:]:
            if self.more or at or "template" in names:
                self._freeze()
            return
        if tag in ("td", "th", "tr") and len(names) > at and names[at] in SECTIONS:
            at += 1
            if tag != "tr" and len(names) > at and names[at] == "tr":
                at += 1
        self._pop_to(at)
        if tag not in ("col", "colgroup"):
            self._push(tag)

    def _close_part(self, tag: str) -> None:
        at = self._table_at() + 1
        names = self.names
        if not at or tag in ("col", "colgroup"):
            return
        if "select" in names[at:]:
            self._freeze()
            return
        self.work += PASSED * (len(names) - at)
        found = _last(names, tag)
        if at <= found < len(names):
            self._pop_to(found)
        elif tag == "tr" and any(name in ("td", "th") for name in names[at:]):
            self._pop_to(at + (names[at] in SECTIONS))
        elif tag in SECTIONS and "caption" not in names[at:]:
            self._freeze()

    def _close_special(self, tag: str) -> None:
        names = self.names
        if tag in ("form", "frameset", "noscript", "plaintext", "iframe"):
            if tag == "noscript" and tag in names:
                self._close_other(tag)
            return None
        for at in range(len(names) - 1, -1, -1):
            name = names[at]
            self.work += PASSED
            if name == tag or (tag in HEADINGS and name in HEADINGS):
                return self._pop_to(at)
            if tag == "table" and name != "template" and name not in FOREIGN:
                continue
            if tag != "template" and (
                name in SCOPES or (tag == "li" and name in ("ul", "ol")) or (tag == "p" and name == "button")
            ):
                return None
        return None

    def _close_other(self, tag: str) -> None:
        """What lies in it is closed with it, unless a special element does."""
        names = self.names
        for at in range(len(names) - 1, -1, -1):
            self.work += PASSED
            if names[at] == tag:
                self.more += len(names) - at - 1
                return self._pop_to(at)
            if names[at] in SPECIAL:
                return None
        return None

    def _close_formatting(self, tag: str) -> None:
        names = self.names
        start = next((frame.at for frame in reversed(self._frames) if frame.marked), -1)
        self.work += PASSED * len(self.formatting)
        place = next((n for n in range(len(self.formatting) - 1, -1, -1) if self.formatting[n][1] == tag), -1)
        if place >= 0 and self.formatting[place][0] > start:
            at = self.formatting[place][0]
            if self._frames and self._frames[-1].at > at:
                return  # out of reach
            self.nodes += (len(names) > at + 1) * FORMS_LOOP * self.formatting[place][3]
            self._unnest(place, at, certain=tag not in self._loose)
        elif self._loose.get(tag) and not (self._frames and self._frames[-1].at > start):
            self.loose_weight -= self._loose[tag].pop()[1]
            if not self._loose[tag]:
                del self._loose[tag]
            if self._fresh:
                self._fresh -= 1
            elif self._reopened:
                at, count = self._reopened.pop()
                self.more -= 1
                if count > 1:
                    self._reopened.append((at, count - 1))

    def _unnest(self, place: int, at: int, *, certain: bool) -> None:
        """Take a formatting element out of what is open; blocks in it stay open, formatting around them is cloned."""
        names = self.names
        special = [n for n in range(at + 1, len(names)) if names[n] in SPECIAL]
        gone = self.formatting.pop(place)
        self.work += FORMS_LOOP * (len(names) + self.more) if len(names) > at + 1 else 0
        if not certain or len(special) >= FORMS_LOOP:
            self.more += 1
        if len(special) >= FORMS_LOOP:
            self._loosen(*gone[1:])
        if not special:
            self._pop_to(at)
            return
        between = [each for each in self.formatting if at < each[0] < special[0]]
        for each in between:
            self._loosen(*each[1:])
        self.more += len(between)
        self.nodes += FORMS_LOOP * sum(each[3] for each in between)
        cut = special[0] - at
        del names[at : special[0]]
        kept = [each for each in self.formatting if each not in between]
        self.formatting[:] = [(each[0] - cut, *each[1:]) if each[0] > at else each for each in kept]
        self._frames = [frame._replace(at=frame.at - cut) if frame.at > at else frame for frame in self._frames]
        self._reopened = [
            (max(at, level - cut), count) if level > at else (level, count) for level, count in self._reopened
        ]
        self.p_at -= cut if self.p_at > at else 0


def _is_hidden(script: str) -> bool:
    """In a comment in a script, another script hides the end tag."""
    at = script.find("<!--")
    return at >= 0 and "<script" in script[at:].lower()


def _last(names: list[str], tag: str) -> int:
    return next((at for at in range(len(names) - 1, -1, -1) if names[at] == tag), len(names))
