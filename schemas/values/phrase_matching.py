"""Which phrase a person's words are, and what they name: a topic, a span, a time."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from schemas.values import phrase_patterns, spoken_moments, spoken_times, words_of_time
from schemas.values.phrases import WORDS_MOST, Heard, Meaning, Phrases
from schemas.values.recurrence import When
from schemas.values.unicode_text import assigned, words

_WORDS_MOST = 18
"""How many words a phrase has at most that is no request, without its courtesies."""
_CLAUSES_MOST = 6
"""How many clauses a request has at most, with the reasons for it."""
_TIME_MOST = 8
"""How many words tell for how long, with what leads to them."""
_TOPIC_MOST = 8
"""How many words a topic has that is to be kept in mind."""

_KEPT = frozenset({"suppress", "heighten", "focus"})
"""What is about a topic that stays."""
_ASKED = frozenset(
    {"why", "why_silent", "catch_up", "reminders", "help", "known", "said"}
)
_ASKED |= {"happened", "cheer_up", "yes", "no", *phrase_patterns.REQUESTS}
"""What may be said as a question without a word for one: "anything new?"."""

_ABOUT = frozenset(
    {"suppress", "heighten", "focus", "known", "said", "remind", "cancel", "move"}
)
"""What is about something: evidence tells that it is asked for, not about what."""

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
    text: str,
    known: Iterable[Phrases],
    names: Sequence[str] = (),
    *,
    supposes: bool = False,
) -> Heard | None:
    """Return the phrase that a person's words are; None if they are none.

    Each word has to be accounted for. Beside the phrase may stand its reason, or who is
    spoken to; `names` are those of the companion. What fits none is heard by what its words
    speak for where one `supposes`: where nobody else understands it.
    """
    # What is a letter is asked of each Python's tables below: only of what all of them know.
    text = assigned(text)
    spoken = tuple(known)
    called = phrase_patterns.runs([" ".join(words(each)) for each in names])
    text = _LISTED.sub(_joined(spoken), text)
    # Below zero there is no time, so such a number can only be not understood.
    for is_vague in (False, True) if _NEGATIVE.search(text) is None else (True,):
        languages = [
            _Language(each, phrase_patterns.table(each), called, is_vague)
            for each in spoken
        ]
        # Words are told apart without marks, and these change what is meant.
        is_one = _SENTENCE.search(text) is None
        found = _clause(text, languages) if is_one else None
        if found is None or (found.topic and _has_tie(found)):
            parts = [each for each in _CLAUSES.split(text) if words(each)]
            found = _among(parts, languages)
        if found is not None:
            return found
    likely = (_supposed(text, each, names) for each in spoken if supposes)
    return next(filter(None, likely), None)


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

_ASKED_BEFORE = re.compile(r"[?]\s+\w")
"""A question that more is said after: who answers oneself asks for nothing."""
_TO_ANOTHER = re.compile(r"\s*([^\W\d_]+),\s")
"""How a text begins that names whom it is said to."""

_UNCLEAR = {"is_unclear": True, "whens": (), "span_s": None}
_AND = re.compile(r" (?:and|und) ")


def _supposed(text: str, phrases: Phrases, names: Sequence[str]) -> Heard | None:
    """Return what words that fit no pattern ask for by their evidence; None if it is unsure."""
    evidence, to = phrases.evidence, _TO_ANOTHER.match(text)
    if evidence is None or _QUOTE.search(text) or _ASKED_BEFORE.search(text):
        return None
    own = {*map(str.lower, names)}
    if to and not any(e in own or e in evidence.weights for e in words(to[1])):
        return None
    means, _, named = (evidence.meant(text) or "").partition(" ")
    if not means or means in _ABOUT:
        return None
    # Its labels are meanings: the table is made of what is heard.
    found = Heard.model_construct(
        means=cast(Meaning, means), named=named, phrases=phrases
    )
    found = _timed(text, found)
    return None if means == "timer" and found.span_s is None else found


def _timed(text: str, found: Heard) -> Heard:
    """Return what was heard with the time that is told anywhere in its words, if any is."""
    said, decimals = words(text), spoken_times.decimals(text)
    lasting = phrase_patterns.table(found.phrases).lasting
    for start in range(len(said)):
        for end in range(min(start + _TIME_MOST, len(said)), start, -1):
            part = phrase_patterns.Clause(said[start:end], decimals, False, False)
            timed = phrase_patterns.fitted(lasting, part, found)
            if timed is not None and timed.span_s:
                return timed
    return found


def _clause(text: str, known: Sequence["_Language"]) -> Heard | None:
    """Return the phrase that a text is in whole, but for the reason at its end."""
    said, decimals = words(text), spoken_times.decimals(text)
    found = _certain(said, decimals, text, known)
    if found is not None and not found.topic:
        return found
    # "I am on the phone so be quiet", "be quiet because I am on the phone".
    for at in range(1, len(said)):
        for language in known:
            tie, begun = (
                phrase_patterns.run(said, at, each) for each in language.table.links
            )
            # One word may go on with what was said: "mute the television".
            if not tie and (found is not None or begun < 2):
                continue
            head, tail = said[:at], said[at + tie :]
            if tail and _is_aside(tail, language):
                first = _certain(head, decimals, text, known)
                if first is not None and (tie or not first.topic):
                    return (
                        None
                        if first.means in phrase_patterns.REQUESTS | _QUESTIONS
                        else first
                    )
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
    if found.means in phrase_patterns.REQUESTS:
        return found
    # What somebody quotes, or asks after, is not asked for.
    is_echo = text.rstrip().endswith("?") and found.means not in _ASKED
    if _QUOTE.search(text) or (is_echo and not _is_put(said, found.phrases)):
        return None
    return found


def _is_put(said: Sequence[str], phrases: Phrases) -> bool:
    """Tell whether a request is put as a question: `could you …?`, `… will you?`"""
    asked = phrase_patterns.table(phrases).asked
    courtesies = phrases.courtesies
    start = next((at for at, each in enumerate(said) if each not in courtesies), 0)
    return any(
        phrase_patterns.run(said, at, asked) for at in {start, max(len(said) - 2, 0)}
    )


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
    is_report = any(
        phrase_patterns.run(said, at, known.table.reports) for at in range(len(said))
    )
    return not is_report and phrase_patterns.run(said, 0, known.table.links[1]) > 0


def _has_tie(found: Heard) -> bool:
    said, ties = found.topic.split(), phrase_patterns.table(found.phrases).links[0]
    is_request = found.means in phrase_patterns.REQUESTS
    return not is_request and any(
        phrase_patterns.run(said, at, ties) for at in range(len(said))
    )


def _opening(said: Sequence[str], known: "_Language") -> int:
    """Return how many words at a beginning change nothing: names, courtesies, openers."""
    start = 0
    while start < len(said):
        openers = known.table.openers
        found = max(
            phrase_patterns.run(said, start, each) for each in (openers, known.names)
        )
        if not found and said[start] not in known.phrases.courtesies:
            break
        start += found or 1
    return start


def _closing(said: Sequence[str], known: "_Language") -> int:
    """Return at which word such words at the end begin."""
    end, ends = len(said), (known.table.closers, known.names)
    while end > 0:
        starts = range(max(end - phrase_patterns.RUN_MOST, 0), end)
        found = (
            at
            for at in starts
            if any(phrase_patterns.run(said, at, e) >= end - at for e in ends)
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


class _Language(NamedTuple):
    """A language in which something may have been said."""

    phrases: Phrases
    table: phrase_patterns.Table
    names: phrase_patterns.Runs
    is_vague: bool
    """Whether to look only for times that are not understood."""


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
            sought = phrase_patterns.Clause(each, decimals, language.is_vague, is_long)
            found = _heard(sought, language)
            if found is not None and (language.is_vague or not found.is_unclear):
                return found
            # With other words taken for courtesies all of it may be understood.
            unclear = unclear or found
    return unclear


def _heard(said: phrase_patterns.Clause, language: "_Language") -> Heard | None:
    phrases, here = language.phrases, frozenset(said.words)
    # Without words to say so, what is not understood is no phrase.
    sought = phrases.unclear if said.is_vague else phrases.patterns
    unclear: Heard | None = None
    for each in language.table.candidates(said.words):
        is_request = each.means in phrase_patterns.REQUESTS
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
        found = phrase_patterns.fitted(each.nodes, said, empty)
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
    untold = phrase_patterns.runs(found.phrases.untold.get(found.means, ()))
    return len(said) <= _TOPIC_MOST and not any(
        phrase_patterns.run(said, at, untold) for at in range(len(said))
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
