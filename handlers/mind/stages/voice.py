"""Voice: how the companion's character shows in words, by bands and never finer.

What shapes a model's words is part of its arm. Read as numbers, traits would make each
decision an arm of its own; read in five bands, a few arms gather what can be learnt.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from msgspec import Struct

from schemas.values import ids
from schemas.values.exact_math import round6
from schemas.values.personality import PersonalityTemplate, Trait
from schemas.values.skills import Skills, version_of

_EDGES = (0.2, 0.4, 0.6, 0.8)
"""Where bands begin, the first at 0; a value on an edge lies in the upper one."""

_Sentences = tuple[str, str, str, str, str]
"""What a model is told in each band; empty: nothing."""

OF_TRAITS: Mapping[Trait, _Sentences] = MappingProxyType(
    {
        "humor": (
            "Make no jokes.",
            "Joke rarely.",
            "",
            "A light joke is welcome where it fits.",
            "Joke freely, as long as what matters is said.",
        ),
        "sarcasm": (
            "Never be sarcastic.",
            "Avoid irony.",
            "",
            "A little irony is fine.",
            "Be sarcastic, though never cruel.",
        ),
        "formality": (
            "Speak as to a close friend, with slang if you like.",
            "Speak casually.",
            "",
            "Speak politely and in full sentences.",
            "Speak formally: no contractions, no slang.",
        ),
        "enthusiasm": (
            "Stay calm: no exclamation marks.",
            "Stay sober.",
            "",
            "Be lively.",
            "Be excited: exclamation marks are welcome.",
        ),
        "helpfulness": (
            "Only remark on it; give no advice.",
            "Advise only where it is needed.",
            "",
            "Suggest what could be done.",
            "Always name the next useful step, and what it takes.",
        ),
        "verbosity": (
            "Use eight words at most.",
            "Use one short sentence.",
            "",
            "Use two or three sentences.",
            "Explain in detail, in up to five sentences.",
        ),
    }
)
"""The traits that words read; how often it speaks is no matter of words."""

_OF_MOOD: _Sentences = (
    "Things went badly lately: be considerate.",
    "Things did not go well lately: do not gloat.",
    "",
    "",
    "Things go well lately: you may show that you are glad.",
)
"""By (valence + 1) / 2."""

_OF_RAPPORT: _Sentences = (
    "",
    "",
    "",
    "You know this person: you may use their name, and refer to what you went through.",
    "You are old friends: use their name, and refer to what you went through together.",
)

_LENGTHS: tuple[tuple[int, int], ...] = ((3, 8), (5, 15), (10, 30), (20, 50), (30, 90))
"""The fewest and the most words that suit each band of verbosity."""


_EXCLAMATIONS = (0, 1, 1, 2, 3)
"""How many exclamation marks suit each band of enthusiasm."""
_SARCASM = (
    "oh great", "oh look", "what a surprise", "how original", "who could have guessed",
    "brilliant idea", "nice going", "way to go", "slow clap", "good luck with that",
    "congratulations, you", "yeah right", "genius",
)  # fmt: skip
"""Turns of phrase that are sarcastic nearly wherever they stand; ours."""
_SARCASTIC = re.compile(
    "|".join(rf"(?<!\w){re.escape(each)}" for each in _SARCASM), re.I
)
_MOST = 1.5
"""By how much a response may be longer than suits before it counts: models cannot count."""
_SENTENCES = re.compile(r"(?<=[.!?\u2026])\s+")


class Tone(Struct, frozen=True):
    """What a model is told of its character."""

    text: str
    digest: str
    """Of template, skills and the bands that were read: part of the arm."""
    skills: tuple[str, ...] = ()
    """Those whose knowledge is told, as `<name>@<version>`."""


_NO_TONE = Tone("", "")


def band(value: float) -> int:
    """Return the band of a value from 0 to 1: 0 lowest to 4 highest."""
    known = round6(value)
    return sum(known >= edge for edge in _EDGES)


def tone(
    template: PersonalityTemplate | None,
    traits: Mapping[Trait, float],
    valence: float = 0.0,
    rapport: float = 0.5,
) -> Tone:
    """Return what a model is told of a character, by traits, mood and rapport."""
    name, character = (template.name, template.character) if template else ("", "")
    bands = tuple(band(traits[trait]) for trait in OF_TRAITS)
    return _tone(name, character, bands, band((valence + 1.0) / 2.0), band(rapport))


def knowing(spoken: Tone | None, skills: Skills) -> Tone | None:
    """Return a tone with what the skills in force know; None if there is nothing to tell."""
    told = {
        version_of(name, skill): skill.knowledge
        for name, skill in skills.items()
        if skill.knowledge
    }
    if not told:
        return spoken
    return _knowing(spoken or _NO_TONE, tuple(told), tuple(told.values()))


def shortest_and_longest(traits: Mapping[Trait, float]) -> tuple[int, int]:
    """Return the fewest and the most words that suit a verbosity."""
    return _LENGTHS[band(traits["verbosity"])]


def faults(
    text: str, traits: Mapping[Trait, float], *, is_threat: bool
) -> dict[str, str]:
    """Return by rule why a text is out of character, as far as it can be counted."""
    words, loud = len(text.split()), text.count("!")
    most, found = shortest_and_longest(traits)[1], _SARCASTIC.search(text)
    suit = _EXCLAMATIONS[band(traits["enthusiasm"])]
    told: dict[str, str] = {}
    if words > _MOST * most:
        told["length"] = f"{words} words, {most} suit"
    if loud > suit:
        told["exclamations"] = f"{loud} exclamation marks, {suit} suit"
    # The lowest band: never.
    if found is not None and (is_threat or band(traits["sarcasm"]) == 0):
        told["sarcasm"] = f'"{found[0]}" under threat' if is_threat else f'"{found[0]}"'
    return told


def trimmed(
    text: str, traits: Mapping[Trait, float], *, is_threat: bool
) -> tuple[str, tuple[str, ...]]:
    """Return a text without what is out of character, and the rules that it broke."""
    broken = tuple(faults(text, traits, is_threat=is_threat))
    if "sarcasm" in broken:
        parts = _SENTENCES.split(text)
        kept = " ".join(each for each in parts if not _SARCASTIC.search(each))
        text = kept or _SARCASTIC.sub("", text).strip(" ,.!?") or text
    if "length" in broken:
        text = _shortened(text, int(_MOST * shortest_and_longest(traits)[1]))
    if "exclamations" in broken:
        suit = _EXCLAMATIONS[band(traits["enthusiasm"])]
        first, *others = re.sub("!+", "!", text).split("!")
        ends = ("!" if at < suit else "." for at in range(len(others)))
        text = first + "".join(
            end + each for end, each in zip(ends, others, strict=True)
        )
    return text, broken


def _shortened(text: str, most: int) -> str:
    """Return the first sentences of a text that have no more words than that."""
    kept: list[str] = []
    for each in _SENTENCES.split(text):
        if len(" ".join((*kept, each)).split()) > most:
            break
        kept.append(each)
    return " ".join(kept) or " ".join(text.split()[:most]) + "\u2026"


# Kept for the same reason as tones are.
@lru_cache(maxsize=256)
def _knowing(spoken: Tone, skills: tuple[str, ...], known: tuple[str, ...]) -> Tone:
    text = "\n\n".join(each.strip() for each in (spoken.text, *known) if each)
    digest = ids.digest(*(each.encode() for each in (spoken.digest, *skills, *known)))
    return Tone(text, digest, skills)


# Kept, so that equal tones are one object: what prompts are made of is known by identity.
@lru_cache(maxsize=256)
def _tone(
    name: str, character: str, bands: tuple[int, ...], mood: int, rapport: int
) -> Tone:
    told = [
        sentences[at] for sentences, at in zip(OF_TRAITS.values(), bands, strict=True)
    ]
    told += [_OF_MOOD[mood], _OF_RAPPORT[rapport]]
    sentences = " ".join(each for each in told if each)
    text = "\n".join(each for each in (character.strip(), sentences) if each)
    # Bands that say the same are one voice: only what is told is part of the digest.
    return Tone(text, ids.digest(name.encode(), text.encode()))
