"""Which phrase a person's words are, and what they name: a topic, a span, a time."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from schemas.values import spoken_moments, spoken_times, word_tables, words_of_time
from schemas.values.phrases import TOPIC, WORDS_MOST, Heard, Meaning, Phrases
from schemas.values.recurrence import When
from schemas.values.unicode_text import assigned, words

_SPAN, _TIME, _WHEN = "{span}", "{time}", "{when}"

_VAGUE_MOST = 5
"""How many words may stand for a time that is not understood."""
_WORDS_MOST = 18
"""How many words a phrase has at most that is no request, without its courtesies."""
_VAGUE_BEGINS = 3
"""In the first of how many of them a time is named."""
_VAGUE_FIRST = 2
"""Likewise at the beginning of a sentence."""
_CLOSER_MOST = 6
"""How many words a name, a courtesy or a context has at most."""
_CLAUSES_MOST = 6
"""How many clauses a request has at most, with the reasons for it."""
_TOPIC_MOST = 8
"""How many words a topic has that is to be kept in mind."""

_REQUESTS = frozenset({"remind", "timer", "move", "cancel", "snooze"})
"""What may be asked for in more words than other phrases have."""
_KEPT = frozenset({"suppress", "heighten", "focus"})
"""What is about a topic that stays."""
_ASKED = frozenset(
    {"why", "why_silent", "catch_up", "reminders", "help", "known", "said"}
)
_ASKED |= {"happened", "cheer_up", "yes", "no", *_REQUESTS}
"""What may be said as a question without a word for one: "anything new?"."""

_QUESTIONS = frozenset(
    {"why", "why_silent", "known", "said", "happened", "help", "undo"}
)
_QUESTIONS |= {"catch_up", "reminders"}
"""Behind which no reason stands: "what can I say, I love cheese"."""

_BEFORE_TIMES = frozenset(
    {"for", "until", "till", "für", "bis", "from", "any", "anymore"}
)
"""Words with which a time may follow a topic, or what else is no part of it."""


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

    Each word has to be accounted for. Beside the phrase may stand its reason, or who is
    spoken to; `names` are those of the companion.
    """
    # What is a letter is asked of each Python's tables below: only of what all of them know.
    text = assigned(text)
    spoken = tuple(known)
    called = _runs([" ".join(words(each)) for each in names])
    text = _LISTED.sub(_joined(spoken), text)
    # Below zero there is no time, so such a number can only be not understood.
    for is_vague in (False, True) if _NEGATIVE.search(text) is None else (True,):
        languages = [_Language(each, _table(each), called, is_vague) for each in spoken]
        # Words are told apart without marks, and these change what is meant.
        is_one = _SENTENCE.search(text) is None
        found = _clause(text, languages) if is_one else None
        if found is None or (found.topic and _has_tie(found)):
            parts = [each for each in _CLAUSES.split(text) if words(each)]
            found = _among(parts, languages)
        if found is not None:
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
_SENTENCE = re.compile(
    r"(?<!\b[ap]\.m)(?<!\d[ap]\.m)(?<!\d)[.]\s+\w|[?!;:]\s+\w", re.IGNORECASE
)
"""Not after "a.m." and a number, which is a German date: "am 3. Mai"."""
_CLAUSES = re.compile(
    r"(?:(?<!\b[ap]\.m)(?<!\d[ap]\.m)(?<!\d)\.+|[?!;:,\u2026]+)\s+|\s[-\u2013\u2014]+\s|\n",
    re.IGNORECASE,
)
_QUOTE = re.compile(
    r"[\"\u201c-\u201f\u00ab\u00bb\u2039\u203a`]|(?<!\w)['\u2018][^'\u2019]+['\u2019](?!\w)"
)
_LISTED = re.compile(r",\s+(?=(?:\w{2,3}\s+)?\d)")
"""A comma between moments: without it "at 8, 12 and 20" would be at 8:12."""
_NEGATIVE = re.compile(r"(?<!\w)[-\u2212]\d")

_TIMED = re.compile(r"\{(span|time|when)\}")
_UNCLEAR = {"is_unclear": True, "whens": (), "span_s": None}
_AND = re.compile(r" (?:and|und) ")


def _clause(text: str, known: Sequence["_Language"]) -> Heard | None:
    """Return the phrase that a text is in whole, but for the reason at its end."""
    said, decimals = words(text), spoken_times.decimals(text)
    found = _certain(said, decimals, text, known)
    if found is not None and not found.topic:
        return found
    # "I am on the phone so be quiet", "be quiet because I am on the phone".
    for at in range(1, len(said)):
        for language in known:
            tie, begun = (_run(said, at, each) for each in language.table.links)
            # One word may go on with what was said: "mute the television".
            if not tie and (found is not None or begun < 2):
                continue
            head, tail = said[:at], said[at + tie :]
            if tail and _is_aside(tail, language):
                first = _certain(head, decimals, text, known)
                if first is not None and (tie or not first.topic):
                    return None if first.means in _REQUESTS | _QUESTIONS else first
            elif tie and found is None and _is_aside(head, language):
                last = _certain(tail, decimals, text, known)
                if last is not None:
                    return last
    return found


def _certain(
    said: Sequence[str],
    decimals: frozenset[tuple[str, str]],
    text: str,
    known: Sequence["_Language"],
) -> Heard | None:
    """Return the phrase that words are, unless marks of their text speak against it."""
    found = _whole(said, decimals, known)
    if found is None or _is_twofold(found, known):
        return None
    if found.means in _REQUESTS:
        return found
    # What somebody quotes, or asks after, is not asked for.
    is_echo = text.rstrip().endswith("?") and found.means not in _ASKED
    if _QUOTE.search(text) or (is_echo and not _is_put(said, found.phrases)):
        return None
    return found


def _is_put(said: Sequence[str], phrases: Phrases) -> bool:
    """Tell whether a request is put as a question: `could you …?`, `… will you?`"""
    asked = _table(phrases).asked
    courtesies = phrases.courtesies
    start = next((at for at, each in enumerate(said) if each not in courtesies), 0)
    return any(_run(said, at, asked) for at in {start, max(len(said) - 2, 0)})


def _among(parts: Sequence[str], known: Sequence["_Language"]) -> Heard | None:
    """Return the one phrase among clauses of which the others change nothing."""
    found: Heard | None = None
    for part in parts if 1 < len(parts) <= _CLAUSES_MOST else ():
        said = words(part)
        if any(_opening(said, each) == len(said) for each in known):
            continue
        if any(_closing(said, each) == 0 for each in known):
            continue
        here = _clause(part, known)
        if here is None:
            is_aside = any(_is_aside(said, each) for each in known)
            if is_aside and (found is None or found.means not in _QUESTIONS):
                continue
            return None
        # "I am working" is a reason beside what else is asked for.
        if found is None or found.means == "context" or here.means == "context":
            found = here if found is None or found.means == "context" else found
        elif (here.means, here.topic, here.named) != (
            found.means,
            found.topic,
            found.named,
        ):
            return None
        elif found.span_s is None and not found.whens:
            found = here
    return found


def _is_aside(said: Sequence[str], known: "_Language") -> bool:
    """Tell whether a clause can stand beside a phrase: as its reason, not as a report."""
    is_report = any(_run(said, at, known.table.reports) for at in range(len(said)))
    return not is_report and _run(said, 0, known.table.links[1]) > 0


def _has_tie(found: Heard) -> bool:
    said, ties = found.topic.split(), _table(found.phrases).links[0]
    is_request = found.means in _REQUESTS
    return not is_request and any(_run(said, at, ties) for at in range(len(said)))


def _opening(said: Sequence[str], known: "_Language") -> int:
    """Return how many words at a beginning change nothing: names, courtesies, openers."""
    start = 0
    while start < len(said):
        openers = known.table.openers
        found = max(_run(said, start, each) for each in (openers, known.names))
        if not found and said[start] not in known.phrases.courtesies:
            break
        start += found or 1
    return start


def _closing(said: Sequence[str], known: "_Language") -> int:
    """Return at which word such words at the end begin."""
    end, ends = len(said), (known.table.closers, known.names)
    while end > 0:
        starts = range(max(end - _CLOSER_MOST, 0), end)
        found = (
            at for at in starts if any(_run(said, at, e) >= end - at for e in ends)
        )
        start = next(
            found, end - 1 if said[end - 1] in known.phrases.courtesies else end
        )
        if start == end:
            break
        end = start
    return end


def _joined(known: Sequence[Phrases]) -> str:
    """Return what stands for a comma before a number: a joint of these languages."""
    joints = (each.calendar.ands[0] for each in known if each.calendar)
    return f" {next(joints, '')} "


def _is_twofold(found: Heard, known: Sequence["_Language"]) -> bool:
    """Tell whether a topic holds another phrase: "the oven and be quiet"."""
    further = _AND.split(found.topic)[1:]
    return any(_whole(each.split(), frozenset(), known) is not None for each in further)


class _Said(NamedTuple):
    """Words as they are held against patterns."""

    words: Sequence[str]
    decimals: frozenset[tuple[str, str]]
    is_vague: bool
    """Whether to look only for times that are not understood."""
    is_long: bool
    """Whether there are so many that they can only ask for a reminder."""


def _whole(
    all_: Sequence[str],
    decimals: frozenset[tuple[str, str]],
    known: Iterable["_Language"],
) -> Heard | None:
    unclear: Heard | None = None
    for language in known:
        if len(all_) > language.phrases.longest:
            continue
        # What is a courtesy elsewhere may be part of a phrase: "not now".
        for each in _with_fewer_courtesies(all_, language):
            is_long = len(each) > _WORDS_MOST
            sought = _Said(each, decimals, language.is_vague, is_long)
            found = _heard(sought, language)
            if found is not None and (language.is_vague or not found.is_unclear):
                return found
            # With other words taken for courtesies all of it may be understood.
            unclear = unclear or found
    return unclear


def _heard(said: _Said, language: "_Language") -> Heard | None:
    phrases, here = language.phrases, frozenset(said.words)
    # Without words to say so, what is not understood is no phrase.
    sought = phrases.unclear if said.is_vague else phrases.patterns
    unclear: Heard | None = None
    for each in language.table.candidates(said.words):
        is_request = each.means in _REQUESTS
        # What names no time can only be one that is missing, of what needs one.
        is_fit = is_request or not (
            said.is_long or (said.is_vague and not each.is_timed)
        )
        if not is_fit or each.means not in sought:
            continue
        if any(wanted.isdisjoint(here) for wanted in each.needs):
            continue
        # Checked already: a further time, all patterns of the phrases would be, each time.
        empty = Heard.model_construct(
            means=each.means, phrases=phrases, is_unclear=said.is_vague
        )
        found = _places(each.nodes, said, empty)
        if found is None or not _may_be_of(found):
            continue
        if not _is_left_over(found):
            return found
        # Another pattern may understand all of it.
        unclear = unclear or found
    return unclear and unclear.model_copy(update=_UNCLEAR)


def _may_be_of(found: Heard) -> bool:
    """Tell whether the topic is one of such a meaning."""
    if found.means not in _KEPT or not found.topic:
        return True
    said = found.topic.split()
    untold = found.phrases.untold.get(found.means, ())
    return len(said) <= _TOPIC_MOST and not any(
        word_tables.first_of(said[at:], untold) for at in range(len(said))
    )


def _is_left_over(found: Heard) -> bool:
    """Tell whether a topic has a word of time, so that more was said than is understood.

    It matters to what does something: whatever can be answered as not understood.
    """
    is_promise = found.means in found.phrases.unclear
    return is_promise and words_of_time.left_over(words(found.topic), found.phrases)


def _with_fewer_courtesies(
    said: Sequence[str], known: "_Language"
) -> Iterator[Sequence[str]]:
    start, end = _opening(said, known), _closing(said, known)
    ways = [said[start:end], said[start:], said]
    # Phrases recorded without fractions knew courtesies at their ends alone.
    if known.phrases.fractions:
        bare = [each for each in said if each not in known.phrases.courtesies]
        # "Could you be quiet please" and "could you please be quiet" are one.
        ways += [bare[_opening(bare, known) : _closing(bare, known)], bare]
    for at, each in enumerate(ways):
        if each and each not in ways[:at]:
            yield each


# ---- patterns, as they are held against words


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


_Runs = Mapping[str, Sequence[Sequence[str]]]
"""Runs of words by their first, the longest first."""


class _Table(NamedTuple):
    """What is said in a language, as words are held against it."""

    first: Mapping[str, Sequence[_Pattern]]
    """Patterns by a word that they begin with."""
    holding: Mapping[str, Sequence[_Pattern]]
    """Those that begin with a place, by a word that they have; under "" those without."""
    openers: _Runs
    closers: _Runs
    links: tuple[_Runs, _Runs]
    """Ties, and how a reason begins."""
    reports: _Runs
    asked: _Runs

    def candidates(self, said: Sequence[str]) -> list[_Pattern]:
        """Return the patterns that words may fit."""
        first = self.first.get(said[0], ()) if said else ()
        holding = (self.holding.get(word, ()) for word in ("", *said))
        found = {each.place: each for some in (first, *holding) for each in some}
        return [found[place] for place in sorted(found)]


class _Language(NamedTuple):
    """A language in which something may have been said."""

    phrases: Phrases
    table: _Table
    names: _Runs
    is_vague: bool
    """Whether to look only for times that are not understood."""


def _runs(phrases: Iterable[str]) -> _Runs:
    found: dict[str, list[list[str]]] = {}
    for each in sorted(phrases, key=len, reverse=True):
        if run := words(each):
            found.setdefault(run[0], []).append(run)
    return found


def _run(said: Sequence[str], at: int, runs: _Runs) -> int:
    """Return how many words the longest run is that stands there; 0: none does."""
    known = runs.get(said[at]) if at < len(said) else None
    if known is None:
        return 0
    found = (len(each) for each in known if list(said[at : at + len(each)]) == each)
    return max(found, default=0)


def _table(phrases: Phrases) -> _Table:
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
) -> _Table:
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
    openers, closers, ties, asides = map(_runs, links)
    asked = _runs((*asks, *links[0]))
    return _Table(
        first, holding, openers, closers, (ties, asides), _runs(reports), asked
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


def _places(
    nodes: Sequence[_Node],
    said: _Said,
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
                whole = _places((*way, *rest), said, found, at, is_timed=is_timed)
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
            is_odd = said.is_vague and not at and found.means not in _REQUESTS
            if told is None or (is_odd and told[1] > _VAGUE_FIRST):
                return None
            found, at, is_timed = told[0], at + told[1], is_timed or node in _PLACES
    # What is not understood is a time; elsewhere words are clear or no phrase.
    is_clear = not said.is_vague or is_timed
    return found if at == len(said.words) and at and is_clear else None


def _told(
    node: str, rest: Sequence[_Node], said: _Said, found: Heard
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
        return word_tables.longest(said, phrases.manners)
    counts = range(min(len(said), _CLOSER_MOST), 0, -1)
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
    nodes: Sequence[_Node], said: _Said, found: Heard, at: int, *, is_timed: bool
) -> Heard | None:
    """Return what a topic, and what the pattern has behind it, tell."""
    whole = len(said.words)
    # After a topic any words may be part of it, so a time must be understood.
    for end in range(at + 1, at if said.is_vague else whole):
        named = found.model_copy(update={"topic": " ".join(said.words[at:end])})
        if nodes and (rest := _places(nodes, said, named, end, is_timed=is_timed)):
            return rest
    if at < whole and _is_empty(nodes):
        is_fit = not said.is_vague or is_timed or found.means in _REQUESTS
        named = found.model_copy(update={"topic": " ".join(said.words[at:])})
        return named if is_fit else None
    return None


def _taken(
    place: str, pattern: Sequence[_Node], said: _Said, found: Heard
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
    if place == _WHEN and found.means not in _REQUESTS:
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
    place: str, pattern: Sequence[_Node], said: _Said, found: Heard
) -> tuple[Heard, int] | None:
    """Return how many words stand in the place of a time and are not understood."""
    phrases, is_request = found.phrases, found.means in _REQUESTS
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
