"""Skills: a heuristic's words go through domain, style and the personality's filter.

intent → domain (what is known of the event) → style (by the character at rest) → filter (by
the traits in force) → words. By templates alone, so it takes no model.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from schemas.messages.decisions import Draw, Wording
from schemas.packs import conditions, templates
from schemas.ports.decision_context import Voiced
from schemas.values import ids
from schemas.values.personality import Trait
from schemas.values.reasons import ResponseType
from schemas.values.skills import Skill, SkillLine, Skills, version_of

JOKES: tuple[Trait, ...] = ("humor", "sarcasm")
"""The traits whose words the filter takes out where nobody jokes."""

_DETAILS_FROM = 1
"""The band of verbosity from which a domain adds what it knows."""

_LONGEST_WORDS = 2_000

_LONG = 25
"""What has more words than that bears no turn of style."""


class Saying(Struct, frozen=True, kw_only=True):
    """What is to be put into words, and about which event."""

    text: str
    """The intent: a heuristic's own words."""
    response_type: ResponseType
    type: str
    """The event's."""
    source: str
    fields: Mapping[str, object]


class Manner(Struct, frozen=True, kw_only=True):
    """The character, as far as words read it: in bands."""

    template: str
    at_rest: Mapping[Trait, int]
    """The bands of the traits without contexts."""
    now: Mapping[Trait, int]
    """Those of the traits in force."""
    is_serious: bool
    """Whether nobody jokes, and no style adds a turn: under threat, or in a struggle."""
    longest: int | None = None
    """How many words a style may make of an answer; None: any number."""


class _Words(Struct):
    """The words so far, and what they came by; local to one call."""

    text: str
    used: list[str]
    filtered: list[str]
    draws: list[Draw]
    read: list[str]
    """The bands that were read, each as `trait=band`."""


def voiced(
    saying: Saying, skills: Skills, manner: Manner | None, drawn: Callable[[str], float]
) -> Voiced | None:
    """Return the words of an answer by the skills in force; None if they have no part in it.

    Without a `manner` nobody chose a character, and no style has a say. The digest is of
    template, skills and bands read, and only where words are others.
    """
    words = _Words(saying.text, [], [], [], [])
    for name, skill in skills.items():
        if skill.kind == "style":
            _style(words, saying, name, skill, manner, drawn)
        else:
            _detail(words, saying, name, skill, manner, drawn)
    if not words.used and not words.filtered:
        return None
    template = manner.template if manner is not None else ""
    # Longer ones would be cut by channels, in the middle of what matters.
    text = words.text if len(words.text) <= _LONGEST_WORDS else saying.text
    is_other = text != saying.text
    return Voiced(
        text=text,
        skills=tuple(words.used) if is_other else (),
        wording=Wording(
            intent=saying.text,
            digest=_digest(template, *words.used, *words.read) if is_other else None,
            filtered=tuple(words.filtered) or None,
            draws=tuple(words.draws) or None,
        ),
    )


def details(
    saying: Saying, skills: Skills, drawn: Callable[[str], float]
) -> tuple[str, tuple[str, ...]]:
    """Return what domains and capabilities know of an event, and which of them do."""
    words = _Words("", [], [], [], [])
    for name, skill in skills.items():
        if skill.kind != "style":
            _apply(words, saying, name, skill, None, drawn)
    return words.text, tuple(words.used)


def _detail(
    words: _Words,
    saying: Saying,
    name: str,
    skill: Skill,
    manner: Manner | None,
    drawn: Callable[[str], float],
) -> None:
    """Add what a domain or a capability knows of the event, unless few words are wanted."""
    if manner is not None:
        # At rest: a threat makes few words, but takes no facts away.
        verbosity = manner.at_rest["verbosity"]
        if skill.lines or skill.tables:
            words.read.append(f"verbosity={verbosity}")
        if verbosity < _DETAILS_FROM:
            return
    _apply(words, saying, name, skill, None, drawn)


def _style(
    words: _Words,
    saying: Saying,
    name: str,
    skill: Skill,
    manner: Manner | None,
    drawn: Callable[[str], float],
) -> None:
    """Change the tone by the character at rest, then check that against the traits in force."""
    trait = skill.trait
    if trait is None or manner is None:
        return
    at_rest, now = manner.at_rest[trait], manner.now[trait]
    is_out = trait in JOKES and manner.is_serious
    is_plain = manner.is_serious or _is_plain(saying, words.text)
    has_turn = is_plain and any(True for _ in _lines(saying, skill, at_rest))
    # Asked for at rest and unfit now: in a milder tone, or left out altogether.
    if has_turn or ((is_out or at_rest != now) and _fits(saying, skill, at_rest)):
        words.filtered.append(version_of(name, skill))
    if is_out:
        return
    words.read.append(f"{trait}={now}")
    plainly = skill.model_copy(update={"lines": ()}) if is_plain else skill
    _apply(words, saying, name, plainly, now, drawn, manner.longest)


def _is_plain(saying: Saying, text: str) -> bool:
    """Tell whether a text bears no turn of style: a warning, a reminder, a long answer."""
    is_reminder = (saying.source, saying.type) == ("echoic", "reminder")
    is_alert = saying.response_type == "alert"
    return is_reminder or is_alert or len(text.split()) > _LONG


def _fits(saying: Saying, skill: Skill, at: int) -> bool:
    """Tell whether a style has words for an event in a band."""
    tables = any(_in_band(each.bands, at) for each in skill.tables)
    return tables or any(True for _ in _lines(saying, skill, at))


def _apply(
    words: _Words,
    saying: Saying,
    name: str,
    skill: Skill,
    at: int | None,
    drawn: Callable[[str], float],
    longest: int | None = None,
) -> None:
    before = words.text
    for line in _lines(saying, skill, at):
        text = templates.filled(_taken(words, name, line, drawn), before, saying.fields)
        if text is None:
            continue
        if _is_too_long(text, before, longest):
            words.filtered.append(version_of(name, skill))
        else:
            words.text = text
        break
    for table in skill.tables:
        if _in_band(table.bands, at):
            words.text = _swapped(words.text, table.words)
    if words.text != before:
        words.used.append(version_of(name, skill))


def _is_too_long(text: str, before: str, longest: int | None) -> bool:
    """Tell whether a style makes words too many; what is long by itself may stay so."""
    if longest is None:
        return False
    count = len(text.split())
    return count > longest and count > len(before.split())


def _lines(saying: Saying, skill: Skill, at: int | None) -> Iterator[SkillLine]:
    for line in skill.lines:
        if line.types and saying.response_type not in line.types:
            continue
        when = conditions.read(line.when)
        if _in_band(line.bands, at) and (
            when is None
            or conditions.holds(when, saying.type, saying.source, saying.fields)
        ):
            yield line


def _in_band(bands: Sequence[int], at: int | None) -> bool:
    return not bands or at in bands


def _taken(
    words: _Words, name: str, line: SkillLine, drawn: Callable[[str], float]
) -> str:
    if len(line.texts) == 1:
        return line.texts[0]
    purpose = f"words/{name}"
    value = drawn(purpose)
    words.draws.append(Draw(purpose=purpose, value=value))
    return line.texts[min(int(value * len(line.texts)), len(line.texts) - 1)]


def _swapped(text: str, words: Mapping[str, str]) -> str:
    """Return a text with other words; the first letter keeps its case."""
    return _pattern(tuple(words)).sub(
        lambda found: _cased(words[_key(words, found[0])], found[0]), text
    )


def _key(words: Mapping[str, str], found: str) -> str:
    return next(each for each in words if each.lower() == found.lower())


def _cased(word: str, like: str) -> str:
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


# Of the tables of shipped skills and packs, of which there are few.
@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    # The longest first: "do not know" goes before "do not".
    longest = sorted(words, key=lambda each: (-len(each), each))
    chosen = "|".join(
        (r"\b" if each[0].isalnum() else "")
        + re.escape(each)
        + (r"\b" if each[-1].isalnum() else "")
        for each in longest
    )
    return re.compile(chosen, re.IGNORECASE | re.ASCII)


@lru_cache(maxsize=1024)
def _digest(*of: str) -> str:
    return ids.digest(*(each.encode() for each in of))
