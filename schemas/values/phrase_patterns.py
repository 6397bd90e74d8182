"""Patterns of phrases, and what words that fit one tell: a topic, a span, a time, a manner.

A pattern has words, choices, `(be|stay)` and `[now]`, and places. What it fits it fits whole.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from schemas.values import spoken_moments, spoken_times, words_of_time
from schemas.values.phrases import TOPIC, Heard, Meaning, Phrases
from schemas.values.recurrence import When
from schemas.values.unicode_text import words

_SPAN, _TIME, _WHEN = "{span}", "{time}", "{when}"
_VAGUE_MOST = 5
"""How many words may stand for a time that is not understood."""
_VAGUE_BEGINS = 3
"""In the first of how many of them a time is named."""
_VAGUE_FIRST = 2
"""Likewise at the beginning of a sentence."""
RUN_MOST = 6
"""How many words a name, a courtesy or a context has at most."""
REQUESTS = frozenset({"remind", "timer", "move", "cancel", "snooze"})
"""What may be asked for in more words than other phrases have."""
_TIMED = re.compile(r"\{(span|time|when)\}")


class Clause(NamedTuple):
    """Words as they are held against patterns."""

    words: Sequence[str]
    decimals: frozenset[tuple[str, str]]
    is_vague: bool
    """Whether to look only for times that are not understood."""
    is_long: bool
    """Whether there are so many that they can only ask for a reminder."""


class _Choice(NamedTuple):
    """A place of a pattern for one of several runs of words, or of places."""

    by_first: dict[str, list[tuple["_Node", ...]]]
    others: list[tuple["_Node", ...]]
    """Those that begin with no word: with a place, or with nothing."""


_Node = str | _Choice


class _Pattern(NamedTuple):
    place: int
    """Which of all it is: of several that fit the first is meant."""
    means: Meaning
    nodes: tuple[_Node, ...]
    is_timed: bool
    """Whether it has a place for a time."""
    needs: tuple[frozenset[str], ...]
    """Of each of these one word must be there."""


Runs = Mapping[str, Sequence[Sequence[str]]]
"""Runs of words by their first, the longest first."""


class Table(NamedTuple):
    """What is said in a language, as words are held against it."""

    first: Mapping[str, Sequence[_Pattern]]
    """Patterns by a word that they begin with."""
    holding: Mapping[str, Sequence[_Pattern]]
    """Those that begin with a place, by a word that they have; under "" those without."""
    openers: Runs
    closers: Runs
    links: tuple[Runs, Runs]
    """Ties, and how a reason begins."""
    reports: Runs
    asked: Runs
    lasting: tuple[_Node, ...]
    """How long something is to last: the part `while`; empty: there is none."""

    def candidates(self, said: Sequence[str]) -> list[_Pattern]:
        """Return the patterns that words may fit."""
        first = self.first.get(said[0], ()) if said else ()
        holding = (self.holding.get(word, ()) for word in ("", *said))
        found = {each.place: each for some in (first, *holding) for each in some}
        return [found[place] for place in sorted(found)]


def runs(phrases: Iterable[str]) -> Runs:
    found: dict[str, list[list[str]]] = {}
    for each in sorted(phrases, key=len, reverse=True):
        if run := words(each):
            found.setdefault(run[0], []).append(run)
    return found


def run(said: Sequence[str], at: int, runs: Runs) -> int:
    """Return how many words the longest run is that stands there; 0: none does."""
    known = runs.get(said[at]) if at < len(said) else None
    if known is None:
        return 0
    found = (len(each) for each in known if list(said[at : at + len(each)]) == each)
    return max(found, default=0)


def table(phrases: Phrases) -> Table:
    return _compiled(
        tuple(phrases.patterns.items()),
        tuple(phrases.parts.items()),
        (phrases.openers, phrases.closers, phrases.ties, phrases.asides),
        phrases.reports,
        phrases.asks,
    )


# Phrases are few, and all that is said is held against them.
@lru_cache(maxsize=64)
def _compiled(
    written: tuple[tuple[Meaning, tuple[str, ...]], ...],
    parts: tuple[tuple[str, str], ...],
    links: tuple[tuple[str, ...], ...],
    reports: tuple[str, ...],
    asks: tuple[str, ...],
) -> Table:
    first: dict[str, list[_Pattern]] = {}
    holding: dict[str, list[_Pattern]] = {}
    all_ = [(means, each) for means, texts in sorted(written) for each in texts]
    # What fits without a topic is meant before what fits with one.
    all_.sort(key=lambda each: TOPIC in each[1])
    for place, (means, text) in enumerate(all_):
        whole = _with_parts(text, dict(parts))
        ways = _choices(_TOKEN.findall(whole))
        nodes = ways[0] if len(ways) == 1 else (_choice(ways),)
        needs = tuple(_needs(nodes))
        made = _Pattern(place, means, nodes, bool(_TIMED.search(whole)), needs)
        begins, is_any = _firsts(nodes)
        index = holding if is_any else first
        by = min(needs, key=len, default=frozenset({""})) if is_any else begins
        for word in by:
            index.setdefault(word, []).append(made)
    openers, closers, ties, asides = map(runs, links)
    asked = runs((*asks, *links[0]))
    lasts = dict(parts).get("while", "")
    lasting = _choices(_TOKEN.findall(_with_parts(lasts, dict(parts))))
    return Table(
        first,
        holding,
        openers,
        closers,
        (ties, asides),
        runs(reports),
        asked,
        (_choice(lasting),),
    )


_TOKEN = re.compile(r"[()\[\]|]|\{=?[\w-]+\}|[^\s()\[\]|{}]+")
_PART = re.compile(r"<(\w+)>")
_PLACES = {_SPAN, _TIME, _WHEN}


def _with_parts(pattern: str, parts: Mapping[str, str]) -> str:
    """Return a pattern with its parts, and theirs, in their places."""
    while "<" in pattern:
        pattern = _PART.sub(lambda part: f"({parts[part[1]]})", pattern)
    return pattern


def _choices(tokens: list[str]) -> list[tuple[_Node, ...]]:
    """Return the ways that a pattern allows, up to its end or that of a bracket."""
    ways: list[list[_Node]] = [[]]
    while tokens and tokens[0] not in ")]":
        token = tokens.pop(0)
        if token == "|":
            ways.append([])
        elif token in "([":
            inner = _choices(tokens)
            tokens.pop(0)
            if token == "[":
                inner.append(())
            ways[-1] += inner[0] if len(inner) == 1 else [_choice(inner)]
        else:
            ways[-1] += [token] if token[0] == "{" else words(token)
    return list(map(tuple, ways))


def _choice(ways: Sequence[tuple[_Node, ...]]) -> _Choice:
    by_first: dict[str, list[tuple[_Node, ...]]] = {}
    others: list[tuple[_Node, ...]] = []
    for each in ways:
        first, is_any = _firsts(each)
        if is_any or not first or _is_empty(each):
            others.append(each)
            continue
        for word in first:
            by_first.setdefault(word, []).append(each)
    return _Choice(by_first, others)


def _firsts(nodes: Sequence[_Node]) -> tuple[set[str], bool]:
    """Return the words that a run can begin with, and whether others can stand there."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, str):
            if node.startswith("{="):
                continue
            return (found, True) if node[0] == "{" else (found | {node}, False)
        found |= node.by_first.keys()
        is_open = False
        for each in node.others:
            words_, is_any = _firsts(each)
            found |= words_
            if is_any:
                return found, True
            is_open = is_open or _is_empty(each)
        if not is_open:
            return found, False
    return found, False


def _is_empty(nodes: Sequence[_Node]) -> bool:
    """Tell whether a run can be of no words."""
    return all(
        node.startswith("{=")
        if isinstance(node, str)
        else any(map(_is_empty, node.others))
        for node in nodes
    )


def _needs(nodes: Sequence[_Node]) -> Iterator[frozenset[str]]:
    for node in nodes:
        if isinstance(node, str):
            if node[0] != "{":
                yield frozenset({node})
        elif not node.others:
            yield frozenset(node.by_first)


def fitted(
    nodes: Sequence[_Node],
    said: Clause,
    found: Heard,
    at: int = 0,
    *,
    is_timed: bool = False,
) -> Heard | None:
    """Return what words that fit a pattern tell; None if they do not fit."""
    for index, node in enumerate(nodes):
        rest = nodes[index + 1 :]
        if isinstance(node, _Choice):
            first = said.words[at] if at < len(said.words) else ""
            for way in (*node.by_first.get(first, ()), *node.others):
                whole = fitted((*way, *rest), said, found, at, is_timed=is_timed)
                if whole is not None:
                    return whole
            return None
        if node[0] != "{":
            if at >= len(said.words) or said.words[at] != node:
                return None
            at += 1
        elif node == TOPIC:
            return _topic(rest, said, found, at, is_timed=is_timed)
        else:
            told = _told(node, rest, said._replace(words=said.words[at:]), found)
            # What begins with many words that are no time is another sentence.
            is_odd = said.is_vague and not at and found.means not in REQUESTS
            if told is None or (is_odd and told[1] > _VAGUE_FIRST):
                return None
            found, at, is_timed = told[0], at + told[1], is_timed or node in _PLACES
    # What is not understood is a time; elsewhere words are clear or no phrase.
    is_clear = not said.is_vague or is_timed
    return found if at == len(said.words) and at and is_clear else None


def _told(
    node: str, rest: Sequence[_Node], said: Clause, found: Heard
) -> tuple[Heard, int] | None:
    """Return what the words in a place tell, and how many they are."""
    if node in _PLACES:
        if not said.words:
            return None
        return (_vaguely if said.is_vague else _taken)(node, rest, said, found)
    named = _named(node, said.words, found.phrases)
    if named is None:
        return None
    return found.model_copy(update={"named": named[0]}), named[1]


def _named(node: str, said: Sequence[str], phrases: Phrases) -> tuple[str, int] | None:
    """Return the trait or the context that words begin with, and how many they are."""
    if node.startswith("{="):
        return node[2:-1], 0
    if node == "{manner}":
        return spoken_times.longest(said, phrases.manners)
    counts = range(min(len(said), RUN_MOST), 0, -1)
    runs = ((" ".join(said[:count]), count) for count in counts)
    return next(
        (
            (name, count)
            for run, count in runs
            for name, each in phrases.contexts.items()
            if run in each
        ),
        None,
    )


def _topic(
    nodes: Sequence[_Node], said: Clause, found: Heard, at: int, *, is_timed: bool
) -> Heard | None:
    """Return what a topic, and what the pattern has behind it, tell."""
    whole = len(said.words)
    # After a topic any words may be part of it, so a time must be understood.
    for end in range(at + 1, at if said.is_vague else whole):
        named = found.model_copy(update={"topic": " ".join(said.words[at:end])})
        if nodes and (rest := fitted(nodes, said, named, end, is_timed=is_timed)):
            return rest
    if at < whole and _is_empty(nodes):
        is_fit = not said.is_vague or is_timed or found.means in REQUESTS
        named = found.model_copy(update={"topic": " ".join(said.words[at:])})
        return named if is_fit else None
    return None


def _taken(
    place: str, pattern: Sequence[_Node], said: Clause, found: Heard
) -> tuple[Heard, int] | None:
    """Return what the words in the place of a time tell, and how many they are."""
    if place == _SPAN:
        span = spoken_times.span(said.words, found.phrases, said.decimals)
        if span is None:
            return None
        return found.model_copy(update={"span_s": span[0]}), span[1]
    is_led = place == _TIME
    taken = spoken_moments.moments(
        said.words, found.phrases, said.decimals, is_led=is_led
    )
    if taken is None:
        return None
    whens, count = _with_late_minute(pattern, said.words, found.phrases, taken)
    if place == _WHEN and found.means not in REQUESTS:
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


def _vaguely(
    place: str, pattern: Sequence[_Node], said: Clause, found: Heard
) -> tuple[Heard, int] | None:
    """Return how many words stand in the place of a time and are not understood."""
    phrases, is_request = found.phrases, found.means in REQUESTS
    if place == _WHEN:
        count = _untimely(pattern, said.words, phrases, is_request=is_request)
    else:
        count = _vague(pattern, said.words, phrases, is_led=place == _TIME)
    return (found, count) if count else None


def _with_late_minute(
    pattern: Sequence[_Node],
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
    if count + 1 < len(said) and not _may_follow(said[count + 1], pattern):
        return taken
    if count + 1 == len(said) and not _is_empty(pattern):
        return taken
    late = whens[-1].model_copy(update={"time": (time[0], int(number))})
    return (*whens[:-1], late), count + 1


def _may_follow(word: str, pattern: Sequence[_Node]) -> bool:
    return word in _firsts(pattern)[0]


def _vague(
    pattern: Sequence[_Node], said: Sequence[str], phrases: Phrases, *, is_led: bool
) -> int:
    """Return how many words stand where a time should; 0 if they cannot be meant as one."""
    ends = (at for at, word in enumerate(said) if _may_follow(word, pattern))
    count = next(ends, len(said) if _is_empty(pattern) else 0)
    meant = said[:count]
    if not meant or count > _VAGUE_MOST:
        return 0
    # "Sei nicht still" has no time in the middle, "sei 99 Dekaden still" has.
    is_counted = meant[0][:1].isdecimal() or any(
        each in phrases.units for each in meant[:2]
    )
    is_counted |= count == 1 and meant[0] in phrases.numbers
    is_open = is_led and count == len(said)
    begun = meant[:_VAGUE_BEGINS]
    is_timely = is_counted or is_open or words_of_time.left_over(begun, phrases)
    return count if is_timely else 0


def _untimely(
    pattern: Sequence[_Node], said: Sequence[str], phrases: Phrases, *, is_request: bool
) -> int:
    """Return how many words stand where moments should and are none; 0 if none is meant."""
    ends = (at for at, word in enumerate(said) if _may_follow(word, pattern))
    count = next(ends, len(said) if _is_empty(pattern) else 0)
    meant = said[:count]
    if phrases.calendar is None or not meant or meant[0] in phrases.calendar.questions:
        return 0
    is_begun = words_of_time.left_over(meant[:_VAGUE_BEGINS], phrases)
    is_timely = is_request and words_of_time.is_timely(meant, phrases)
    return count if is_begun or is_timely else 0
