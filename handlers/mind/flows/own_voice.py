"""Its own voice: what a microphone heard may be what the companion just said, or nothing.

Only where the source says that a microphone heard the words: what is typed is meant.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from handlers.mind.context import TurnContext
from projections.folds.executive.sayings import DOUBTFUL, OWN_ECHO
from schemas.messages.decisions import Gate
from schemas.messages.sensing import Sensed
from schemas.state.executive import Executive
from schemas.values.unicode_text import words

_MOST_WORDS = 80
"""How many words are compared at most."""
_FEWEST_WORDS = 3
"""How many must be heard: "good morning" is what people answer to that."""
_LONG = 6
"""So many words in their order are an echo even as a piece of a longer speech."""
_SHARE = 0.67
"""Which share of a speech fewer words must be, more than: people take up a word or two."""
_ALIKE = 0.9
"""How much of what was heard must have been said: one word of ten may be misread."""
_DOUBTS = 2
"""How many such turns are answered in a row: an exchange with itself ends then."""
_A_WORD_S = 0.5
"""How long a word takes to be said, slowly."""
_AFTER_S = 8.0
"""How long after it was said a speech may still come back, transcribed."""
_SENTENCE = 4
"""So many words of one sentence are not said again by chance."""
_ENDS = re.compile(r"(?<=[.!?…])\s+|[。！？]")  # noqa: RUF001
_ASIDES = re.compile(r"\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫🎵🎶]")
"""What a transcriber adds for sounds: `[Music]`, `(applause)`, `*sighs*`."""


def gate(turn: TurnContext, event: Sensed) -> Gate | None:
    """Return the gate that closes to its own words and to phantoms; None if none applies."""
    if not event.microphone or not event.is_persons:
        return None
    if _is_phantom(turn, event.text):
        return Gate(name=OWN_ECHO, passed=False, note="a phantom of speech recognition")
    held = turn.state.executive
    like = _likeness(held, words(event.text), turn.now)
    is_alike = like >= _ALIKE
    is_loop = like >= DOUBTFUL and held.speech.doubtful >= _DOUBTS
    note = "like what was just said" if is_alike else None
    if is_loop and not is_alike:
        note = f"{held.speech.doubtful} exchanges without a clear turn of a person's"
    return Gate(
        name=OWN_ECHO,
        passed=not is_alike and not is_loop,
        value=like,
        threshold=_ALIKE,
        margin=round(like - _ALIKE, 6),
        note=note,
    )


def _likeness(held: Executive, heard: list[str], now: datetime) -> float:
    found = [0.0]
    for each in held.speech.aloud:
        said = words(each.text)
        lasts = timedelta(seconds=len(said) * _A_WORD_S + _AFTER_S)
        if each.at <= now <= each.at + lasts:
            # One sentence of several may be all that comes back.
            parts = (part for part in _sentences(each.text) if len(part) >= _SENTENCE)
            found += [_of_echo(heard, part) for part in (said, *parts)]
    return max(found)


def _is_phantom(turn: TurnContext, text: str) -> bool:
    known = {name for each in turn.settings.executive.phrases for name in each.phantoms}
    # Several in a row are phantoms as well, and so is one word again and again.
    parts = (groupby(part) for part in _sentences(_ASIDES.sub(" ", text)))
    return {" ".join(word for word, _ in part) for part in parts} <= {"", *known}


def _sentences(text: str) -> list[list[str]]:
    return [words(each) for each in _ENDS.split(text)]


def _of_echo(heard: Sequence[str], said: Sequence[str]) -> float:
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
