"""What words ask for that fit no pattern, by what each run of them speaks for.

Patterns hold what somebody wrote down; people say the same in ways that nobody did. So each
run of up to three words speaks for what may be meant with a weight, learnt from what people
say (`python -m bench.evidence`). Weights are integers: each machine adds up the same.
"""

import re

from schemas.values.base import Part
from schemas.values.unicode_text import words

_NOTHING = "none"
"""What is meant by words that ask for nothing."""
_SURE = 14
"""By how much, in eighths of a natural logarithm of the odds, it must outweigh all else."""
_STEM = 4
"""How many letters of a longer word speak for themselves."""
_CLAUSE = re.compile(r"[.,;:!?\u2026]+(?:\s|$)|\s[-\u2013\u2014]+\s|\n")
_WEIGHT = re.compile(r"([A-Za-z])(-?\d+)")


class Evidence(Part):
    """What runs of words speak for."""

    labels: dict[str, str]
    """What may be meant, by a letter: a meaning, and the trait or the context it names."""
    weights: dict[str, str]
    """The weights of a run, each behind the letter of its label: `a12c-4`; under "" those of
    any words."""

    def meant(self, text: str) -> str | None:
        """Return the label that words speak for; None if none outweighs all others."""
        sums = dict.fromkeys(self.labels, 0)
        for run in ("", *self.runs(text)):
            for letter, weight in _WEIGHT.findall(self.weights.get(run, "")):
                sums[letter] += int(weight)
        second, first = sorted(sums, key=sums.__getitem__)[-2:]
        label = self.labels[first]
        is_sure = sums[first] - sums[second] >= _SURE
        return label if is_sure and label != _NOTHING else None

    @staticmethod
    def runs(text: str) -> list[str]:
        """Return the runs of words of a text that may speak for something, each once."""
        clauses = (words(each) for each in _CLAUSE.split(text))
        runs = (run for said in clauses if said for run in _runs(said))
        return list(dict.fromkeys(runs))


def _runs(said: list[str]) -> list[str]:
    said = ["#" if each.isdecimal() else each for each in said]
    ends = ["^", *said, "$"]
    pairs = [" ".join(ends[at : at + 2]) for at in range(len(ends) - 1)]
    threes = [ends[at : at + 3] for at in range(len(ends) - 2)]
    stems = [f"{each[:_STEM]}*" for each in said if len(each) > _STEM]
    over = [f"{one} _ {other}" for one, _, other in threes]
    return [*said, *stems, *pairs, *map(" ".join, threes), *over]
