"""How like words that were heard are to words that were said: is it one's own voice?

Heard again by a microphone, speech comes back with its words in their order, some of them
cut off or misread. An answer has words of its own: "yes, the oven is on".
"""

from collections.abc import Sequence

_MOST_WORDS = 80
"""How many words are compared at most."""
_FEWEST_WORDS = 3
"""How many must be heard: "good morning" is what people answer to that."""
_LONG = 6
"""So many words in their order are an echo even as a piece of a longer speech."""
_SHARE = 0.67
"""Which share of a speech fewer words must be, more than: people take up a word or two."""


def of_echo(heard: Sequence[str], said: Sequence[str]) -> float:
    """Return which share of the words heard were said in that order, from 0 to 1.

    0 of too few words, and of a piece so small that people would say it themselves.
    """
    heard, said = heard[:_MOST_WORDS], said[:_MOST_WORDS]
    if len(heard) < _FEWEST_WORDS or not said:
        return 0.0
    common = _common(heard, said)
    is_piece = len(heard) < _LONG and common / len(said) < _SHARE
    return 0.0 if is_piece else round(common / len(heard), 6)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of words."""
    row = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for at, each in enumerate(other, start=1):
            above = row[at]
            row[at] = before + 1 if each == word else max(above, row[at - 1])
            before = above
    return row[-1]
