"""Which phrase a person's words are, and what they name: a topic, a span, a time."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from schemas.values import spoken_moments, spoken_times, word_tables, words_of_time
from schemas.values.phrases import SPAN, TIME, TOPIC, WHEN, WORDS_MOST, Heard, Phrases
from schemas.values.recurrence import When
from schemas.values.unicode_text import assigned, words

_VAGUE_MOST = 5
"""How many words may stand for a time that is not understood."""

_REQUESTS = frozenset({"remind", "timer", "move", "cancel", "snooze"})
"""What may be asked for in more words than other phrases have."""

_BEFORE_TIMES = frozenset({"for", "until", "till", "für", "bis"})
"""Words with which a time may follow a topic."""


def tails(text: str) -> tuple[str, ...]:
    """Return every text that may be the topic of a phrase: each end of it, by words.

    The last word may be a courtesy, and a time may follow, so each comes without as well.
    """
    known = words(text) if len(text) <= 40 * WORDS_MOST else []
    if len(known) > WORDS_MOST:
        return ()
    times = (at for at, word in enumerate(known) if at > 1 and word in _BEFORE_TIMES)
    ends = dict.fromkeys((len(known), len(known) - 1, *times))
    return tuple(" ".join(known[start:end]) for end in ends for start in range(1, end))


def heard(
    text: str, known: Iterable[Phrases], names: Sequence[str] = ()
) -> Heard | None:
    """Return the phrase that a person's words are; None if they are none.

    A reason may follow after a comma, unless the phrase ends in a topic, which may have one.
    `names` are those by which one is spoken to, which may stand before or after it.
    """
    # What is a letter is asked of each Python's tables below: only of what all of them know.
    text = assigned(text)
    called = tuple(" ".join(words(each)) for each in names)
    patterns = tuple(map(partial(_called, called), known))
    text = _after_call(text, patterns)
    text = _LISTED.sub(_joined(patterns), text)
    # Words are told apart without marks, and these change what is meant.
    if _SENTENCE.search(text):
        return None
    # Below zero there is no time, so such a number can only be not understood.
    clear = (False, True) if _NEGATIVE.search(text) is None else (True,)
    for is_vague in clear:
        found = _whole(text, patterns, is_vague=is_vague)
        if found is not None and not _is_twofold(found, patterns):
            return found
        beginning, comma, _ = text.partition(",")
        if comma:
            found = _whole(beginning, patterns, is_vague=is_vague)
            if found is not None and not found.topic:
                return found
    return None


def moments_of(text: str, known: Iterable[Phrases]) -> tuple[When, ...] | None:
    """Return the moments that a text is in whole; None if it is not understood."""
    patterns = tuple(known)
    text = _LISTED.sub(_joined(patterns), assigned(text))
    said, decimals = words(text), spoken_times.decimals(text)
    if _NEGATIVE.search(text):
        return None
    for phrases in patterns:
        found = spoken_moments.moments(said, phrases, decimals, is_led=True)
        if found is not None and found[1] == len(said):
            return found[0]
    return None


def as_written(topic: str, text: str) -> str:
    """Return a topic as it stands in the text that it was read from: with its capitals."""
    sought = topic.split()
    tokens = list(_WORD.finditer(assigned(text)))
    # By the words that each piece has: "gießen" is "giessen" where words are compared.
    read = [
        (place, each) for place, token in enumerate(tokens) for each in words(token[0])
    ]
    for start in range(len(read) - len(sought) + 1):
        run = read[start : start + len(sought)]
        if run and [each for _, each in run] == sought:
            whole = text[tokens[run[0][0]].start() : tokens[run[-1][0]].end()]
            return " ".join(whole.split())
    return topic


_WORD = re.compile(r"\w+")
_CALL = re.compile(r"\s*([^?!.;:,]{1,60})[?!.;:,]\s+")
_SENTENCE = re.compile(
    r"(?<!\b[ap]\.m)(?<!\d[ap]\.m)(?<!\d)[.]\s+\w|[?!;:]\s+\w", re.IGNORECASE
)
"""Not after "a.m." and a number, which is a German date: "am 3. Mai"."""
_LISTED = re.compile(r",\s+(?=(?:\w{2,3}\s+)?\d)")
"""A comma between moments: without it "at 8, 12 and 20" would be at 8:12."""
_NEGATIVE = re.compile(r"(?<!\w)[-\u2212]\d")

_TIMED = re.compile(r"\{(span|time|when)\}")
_UNCLEAR = {"is_unclear": True, "whens": (), "span_s": None}
_AND = re.compile(r" (?:and|und) ")


def _called(names: tuple[str, ...], phrases: Phrases) -> Phrases:
    """Return phrases before which these names may stand, too."""
    if not names:
        return phrases
    openers = (*phrases.openers, *filter(None, names))
    return phrases.model_copy(update={"openers": openers, "closers": names})


def _after_call(text: str, known: Sequence[Phrases]) -> str:
    """Return a text without a sentence before it that only calls: `Hey Echo! …`."""
    found = _CALL.match(text)
    if found is None:
        return text
    said = words(found[1])
    is_call = any(_opening(said, each) == len(said) for each in known)
    return text[found.end() :] if is_call else text


def _opening(said: Sequence[str], phrases: Phrases) -> int:
    """Return how many words at a beginning change nothing: names, courtesies, openers."""
    start = 0
    while start < len(said):
        found = word_tables.first_of(said[start:], phrases.openers)
        if not found and said[start] not in phrases.courtesies:
            break
        start += found or 1
    return start


def _closing(said: Sequence[str], phrases: Phrases) -> int:
    """Return at which word such words at the end begin."""
    end = len(said)
    while end > 0:
        names = (each.split() for each in phrases.closers)
        found = max(
            (
                len(each)
                for each in names
                if each and list(said[:end][-len(each) :]) == each
            ),
            default=0,
        )
        if not found and said[end - 1] not in phrases.courtesies:
            break
        end -= found or 1
    return end


def _joined(known: Sequence[Phrases]) -> str:
    """Return what stands for a comma before a number: a joint of these languages."""
    joints = (each.calendar.ands[0] for each in known if each.calendar)
    return f" {next(joints, '')} "


def _is_twofold(found: Heard, known: Sequence[Phrases]) -> bool:
    """Tell whether a topic holds another phrase: "the oven and be quiet"."""
    further = _AND.split(found.topic)[1:]
    return any(_whole(each, known) is not None for each in further)


class _Said(NamedTuple):
    """Words as they are held against patterns."""

    words: Sequence[str]
    decimals: frozenset[tuple[str, str]]
    is_vague: bool
    """Whether to look only for times that are not understood."""
    is_long: bool
    """Whether there are so many that they can only ask for a reminder."""


def _whole(
    text: str, known: Iterable[Phrases], *, is_vague: bool = False
) -> Heard | None:
    all_ = words(text)
    decimals = spoken_times.decimals(text)
    unclear: Heard | None = None
    for phrases in known:
        if len(all_) > phrases.longest:
            continue
        # What is a courtesy elsewhere may be part of a phrase: "not now".
        for each in _with_fewer_courtesies(all_, phrases):
            is_long = len(all_) > WORDS_MOST
            found = _heard(_Said(each, decimals, is_vague, is_long), phrases)
            if found is not None and (is_vague or not found.is_unclear):
                return found
            # With other words taken for courtesies all of it may be understood.
            unclear = unclear or found
    return unclear


def _heard(said: _Said, phrases: Phrases) -> Heard | None:
    # Without words to say so, what is not understood is no phrase.
    sought = phrases.unclear if said.is_vague else phrases.patterns
    unclear: Heard | None = None
    for means in sorted(sought):
        if said.is_long and means not in _REQUESTS:
            continue
        # Checked already: a further time, all patterns of the phrases would be, each time.
        empty = Heard.model_construct(
            means=means, phrases=phrases, is_unclear=said.is_vague
        )
        for pattern in phrases.patterns.get(means, ()):
            # What names no time can only be one that is missing, of what needs one.
            if said.is_vague and means not in _REQUESTS and not _TIMED.search(pattern):
                continue
            found = _places(_parts(pattern), said, empty)
            if found is None:
                continue
            if not _is_left_over(found):
                return found
            # Another pattern may understand all of it.
            unclear = unclear or found
    return unclear and unclear.model_copy(update=_UNCLEAR)


def _is_left_over(found: Heard) -> bool:
    """Tell whether a topic has a word of time, so that more was said than is understood.

    It matters to what does something: whatever can be answered as not understood.
    """
    is_promise = found.means in found.phrases.unclear
    return is_promise and words_of_time.left_over(words(found.topic), found.phrases)


def _with_fewer_courtesies(
    said: Sequence[str], phrases: Phrases
) -> Iterator[Sequence[str]]:
    start, end = _opening(said, phrases), _closing(said, phrases)
    yield said[start:end]
    yield said
    # Phrases recorded without fractions knew courtesies at their ends alone.
    if phrases.fractions:
        bare = [each for each in said if each not in phrases.courtesies]
        # "Could you be quiet please" and "could you please be quiet" are one.
        yield bare[_opening(bare, phrases) : _closing(bare, phrases)]
        yield bare


# Patterns are few, and each is held against all that is said.
@lru_cache(maxsize=4_096)
def _parts(pattern: str) -> tuple[str, ...]:
    """Return the places of a pattern, and its words as what is said is compared with them."""
    places = (TOPIC, SPAN, TIME, WHEN)
    split = ([each] if each in places else words(each) for each in pattern.split())
    return tuple(part for parts in split for part in parts)


def _places(pattern: Sequence[str], said: _Said, found: Heard) -> Heard | None:
    """Return what words that fit a pattern tell; None if they do not fit."""
    at = 0
    for index, part in enumerate(pattern):
        rest = said._replace(words=said.words[at:])
        if part == TOPIC:
            return _topic(pattern[index + 1 :], rest, found)
        if part in (SPAN, TIME, WHEN):
            taken = _taken(part, pattern[index + 1 :], rest, found)
            if taken is None:
                return None
            found, at = taken[0], at + taken[1]
            continue
        if at >= len(said.words) or said.words[at] != part:
            return None
        at += 1
    # What is not understood is a time; elsewhere words are clear or no phrase.
    is_timed = any(each in pattern for each in (SPAN, TIME, WHEN))
    return found if at == len(said.words) and at and is_timed >= said.is_vague else None


def _topic(pattern: Sequence[str], said: _Said, found: Heard) -> Heard | None:
    """Return what a topic, and a time that the pattern has after it, tell."""
    if not pattern:
        topic = " ".join(said.words)
        return found.model_copy(update={"topic": topic}) if topic else None
    # After a topic any words may be part of it, so a time must be understood.
    for end in range(1, 0 if said.is_vague else len(said.words)):
        topic, rest = " ".join(said.words[:end]), said.words[end:]
        named = found.model_copy(update={"topic": topic})
        timed = _places(pattern, said._replace(words=rest), named)
        if timed is not None:
            return timed
    return None


def _taken(
    place: str, pattern: Sequence[str], said: _Said, found: Heard
) -> tuple[Heard, int] | None:
    """Return what the words in the place of a time tell, and how many they are."""
    if said.is_vague:
        if place == WHEN:
            count = _untimely(pattern, said.words, found.phrases)
        else:
            count = _vague(pattern, said.words, found.phrases)
        return (found, count) if count else None
    if place == SPAN:
        span = spoken_times.span(said.words, found.phrases, said.decimals)
        if span is None:
            return None
        return found.model_copy(update={"span_s": span[0]}), span[1]
    is_led = place == TIME
    taken = spoken_moments.moments(
        said.words, found.phrases, said.decimals, is_led=is_led
    )
    if taken is None:
        return None
    whens, count = _with_late_minute(pattern, said.words, found.phrases, taken)
    if place == WHEN and found.means not in _REQUESTS:
        # Quiet is not begun then: it lasts until the end of that part of today.
        end = spoken_moments.end_of(whens, found.phrases.calendar)
        if end is None:
            return None
        whens = (end,)
    if found.whens:
        # "Tomorrow … at seven": each end of a sentence tells one half.
        one = spoken_moments.merged(found.whens[0], whens[0])
        if one is None or len(found.whens) > 1 or len(whens) > 1:
            return None
        whens = (one,)
    span_s = whens[0].in_s if len(whens) == 1 else None
    return found.model_copy(update={"whens": whens, "span_s": span_s}), count


def _with_late_minute(
    pattern: Sequence[str],
    said: Sequence[str],
    phrases: Phrases,
    taken: tuple[tuple[When, ...], int],
) -> tuple[tuple[When, ...], int]:
    """Return moments of which the last has the minutes below ten that follow it, if any do.

    "Um neun Uhr fünf an …" is five past; in "um neun Uhr fünf Eier …" five is how many: so
    what the pattern has next must stand behind it, or nothing.
    """
    whens, count = taken
    marks = phrases.calendar.clock_ends if phrases.calendar is not None else ()
    number = phrases.numbers.get(said[count], 0.0) if count < len(said) else 0.0
    is_minute = 1.0 <= number < 10.0 and number == int(number)
    time = whens[-1].time
    if not is_minute or said[count - 1] not in marks or time is None or time[1]:
        return taken
    if list(said[count + 1 : count + 2]) != list(pattern[:1]):
        return taken
    late = whens[-1].model_copy(update={"time": (time[0], int(number))})
    return (*whens[:-1], late), count + 1


def _vague(pattern: Sequence[str], said: Sequence[str], phrases: Phrases) -> int:
    """Return how many words stand where a time should; 0 if they cannot be meant as one."""
    if not pattern:
        return len(said) if len(said) <= _VAGUE_MOST else 0
    ends = (at for at, word in enumerate(said) if word == pattern[0])
    count = next(ends, 0)
    # "Sei nicht still" has no time in the middle, "sei 99 Dekaden still" has.
    known = (*phrases.numbers, *phrases.units)
    is_meant = any(each in known or each[:1].isdecimal() for each in said[:count])
    return count if is_meant and count <= _VAGUE_MOST else 0


def _untimely(pattern: Sequence[str], said: Sequence[str], phrases: Phrases) -> int:
    """Return how many words stand where moments should and are none; 0 if none is meant."""
    ends = (at for at, word in enumerate(said) if pattern and word == pattern[0])
    count = next(ends, 0) if pattern else len(said)
    meant = said[:count]
    if phrases.calendar is None or not meant or meant[0] in phrases.calendar.questions:
        return 0
    return count if words_of_time.is_timely(meant, phrases) else 0
