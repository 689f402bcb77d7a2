"""The voice of Tidepool, an invented sensor kit for rock pools: words, sentences and code samples from a seed."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SECTIONS = {
    "guide": "Guide",
    "sensors": "Sensors",
    "cookbook": "Cookbook",
    "field-notes": "Field notes",
    "v1": "Reference v1",
    "v2": "Reference v2",
}
CHAPTERS = (
    "Calibration", "Tides & timers", "Moorings", "Telemetry", "Salinity", "Night mode", "Buoy radio", "Storage",
    "Alerts", "Pool maps", "Crab cam", "Kelp mesh", "Barnacle guard", "Field kit", "Solar lid", "Firmware",
)  # fmt: skip
VERBS = (
    "Pack", "Wake", "Tune", "Rinse", "Pair", "Name", "Chart", "Test", "Mount", "Update", "Rest", "Share", "Label",
    "Check", "Swap", "Anchor", "Borrow", "Replay",
)  # fmt: skip
THINGS = (
    "the probe", "a float", "the hub", "a spare battery", "the tide clock", "a salt cell", "the antenna", "two buoys",
    "the shell case", "a light meter", "the wave gauge", "a whole pool",
)  # fmt: skip
CREATURES = ("limpet", "hermit crab", "whelk", "periwinkle", "sea star", "goby", "mussel", "shrimp", "sea slug")
MOODS = ("calmly", "at low tide", "before breakfast", "with dry hands", "twice", "in the shade", "after a storm")
EFFECTS = (
    "the hub blinks green", "the reading settles within a minute", "the log gains a line", "the buoy hums",
    "the map redraws itself", "the lid falls shut by itself", "the battery lasts a spring tide longer",
)  # fmt: skip
OPENINGS = ("Usually", "On a good day", "By default", "In a crowded pool", "When the wind drops", "As a rule")
HEADINGS = (
    "Before you start", "What you need", "Step by step", "How it works", "Settings", "Common slips", "Reading the dial",
    "When it rains", "Limits", "A worked example",
)  # fmt: skip

SAMPLES = {
    "python": """from tidepool import Pool

pool = Pool("{name}", depth_cm={number})
for reading in pool.readings(every_s={small}):
    if reading.salt < {number} and reading.ok:
        print(f"{{reading.at}}: <{{reading.salt}}>")""",
    "javascript": """import {{ openPool }} from "tidepool";

const pool = await openPool("{name}", {{ depthCm: {number} }});
pool.on("tide", (t) => t.height > {small} && console.log(`high & dry: ${{t.height}}`));""",
    "rust": """use tidepool::Pool;

fn main() -> Result<(), tidepool::Error> {{
    let pool = Pool::open("{name}")?.depth_cm({number});
    let warm: Vec<_> = pool.readings()?.filter(|r| r.celsius > {small}.0).collect();
    println!("{{}} warm readings", warm.len());
    Ok(())
}}""",
    "go": """pool, err := tidepool.Open("{name}")
if err != nil {{
	log.Fatal(err)
}}
for r := range pool.Readings({small} * time.Second) {{
	fmt.Println(r.Salt < {number}, r.At)
}}""",
    "c": """#include <tidepool.h>

int main(void) {{
    tp_pool *pool = tp_open("{name}", {number});
    while (pool && tp_wait(pool, {small}) == TP_OK)
        printf("%d\\n", tp_salt(pool));
    return tp_close(&pool);
}}""",
    "bash": """tidepool add {name} --depth {number}cm
tidepool watch {name} --every {small}s | while read -r at salt; do
  [ "$salt" -lt {number} ] && echo "$at fresh water" >> notes.txt
done""",
}


class Dice:
    """Choices that depend on what they are about and on nothing else.

    Only `random()` is used: its sequence is the one Python promises to keep for a seed, `choice` and `sample` are not.
    """

    def __init__(self, seed: int, *about: object) -> None:
        self._random = random.Random(repr((seed, *about)))

    def number(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def one(self, things: Sequence[T]) -> T:
        return things[self.number(0, len(things) - 1)]

    def some(self, things: Sequence[T], count: int) -> list[T]:
        """That many different ones, in drawn order."""
        left = list(things)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(count)]


def sentence(dice: Dice) -> str:
    match dice.number(1, 5):
        case 1:
            return f"{dice.one(VERBS)} {dice.one(THINGS)} {dice.one(MOODS)} and {dice.one(EFFECTS)}."
        case 2:
            return f"{dice.one(OPENINGS)} {dice.one(EFFECTS)}, even with a {dice.one(CREATURES)} on {dice.one(THINGS)}."
        case 3:
            return f"A {dice.one(CREATURES)} adds {dice.number(2, 90)} ms to every reading, which is worth knowing."
        case 4:
            return f"Keep {dice.number(2, 40)} cm between {dice.one(THINGS)} and the nearest {dice.one(CREATURES)}."
        case _:
            return f"Once {dice.one(EFFECTS)}, {dice.one(VERBS).lower()} {dice.one(THINGS)} {dice.one(MOODS)}."


def paragraph(dice: Dice) -> str:
    return " ".join(sentence(dice) for _ in range(dice.number(4, 7)))


def code_sample(dice: Dice) -> tuple[str, str]:
    """A language and a few lines in it."""
    language = dice.one(tuple(SAMPLES))
    name = f"{dice.one(CREATURES).replace(' ', '-')}-{dice.number(1, 99)}"
    return language, SAMPLES[language].format(name=name, number=dice.number(20, 400), small=dice.number(2, 19))


def slug(title: str) -> str:
    return "-".join("".join(letter if letter.isalnum() else " " for letter in title.lower()).split())
