"""Measure what the wording of one answer costs: `python -m bench.wording [--count N]`.

A sarcastic character under the shipped skills and a domain's; each answer on an event of its
own, so that nothing is known from the one before.
"""

import argparse
from functools import partial
from time import process_time_ns

from echoic.packs import personalities
from echoic.packs.skills import shipped
from handlers.mind.stages import skills, voice
from schemas.values import ids
from schemas.values.skills import Skill, SkillLine

BATCH = 50
"""So many answers are measured at once: the clock itself takes part of a microsecond."""

_DOMAIN = Skill(
    name="expertise",
    kind="domain",
    lines=(
        SkillLine(when="hearts > 30", texts=("{text} All is well.",)),
        SkillLine(
            when="hearts <= 30", texts=("{text} {hearts} hearts, by a {enemy}.",)
        ),
    ),
)


def costs(count: int) -> dict[str, float]:
    """Return the median and the 95th percentile of CPU time per answer, in µs."""
    known = {"expertise": _DOMAIN, **{each.name: each for each in shipped()}}
    jester = next(each for each in personalities.shipped() if each.name == "jester")
    bands = {trait: voice.band(value) for trait, value in jester.traits.items()}
    manner = skills.Manner(
        template="jester", at_rest=bands, now=bands, is_serious=False
    )
    spent = []
    for batch in range(count // BATCH):
        begun = process_time_ns()
        for place in range(BATCH):
            id_ = f"{batch}.{place}"
            saying = skills.Saying(
                text="You are tired. Do not stay.",
                response_type="suggestion",
                type="health",
                source="game",
                fields={"hearts": place, "enemy": "zombie"},
            )
            skills.voiced(saying, known, manner, partial(ids.draw, "s", "a", id_))
        spent.append((process_time_ns() - begun) / BATCH / 1_000)
    spent.sort()
    return {
        "median_us": round(spent[len(spent) // 2], 1),
        "p95_us": round(spent[len(spent) * 95 // 100], 1),
    }


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    print(costs(parser.parse_args().count))


if __name__ == "__main__":
    main()
