"""Phrases: what people say to have the companion quieter, livelier, or about other things.

They are data: the program's own are recorded with the settings, others come with packs.
"""

import re
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.values import exact_math, spoken_times
from schemas.values.base import Part, Token
from schemas.values.calendar_words import Calendar, as_heard
from schemas.values.phrase_evidence import Evidence
from schemas.values.reasons import Drop, Silence
from schemas.values.recurrence import When
from schemas.values.unicode_text import words

Meaning = Literal[
    "quiet",
    "mute",
    "unmute",
    "suppress",
    "heighten",
    "focus",
    "talk_more",
    "talk_less",
    "more",
    "less",
    "context",
    "cheer_up",
    "help",
    "undo",
    "why",
    "why_silent",
    "remind",
    "timer",
    "reminders",
    "cancel",
    "cancel_all",
    "cancel_timer",
    "move",
    "snooze",
    "stop",
    "known",
    "said",
    "happened",
    "catch_up",
    "yes",
    "no",
]
Reason = Literal[
    "heuristic",
    "heuristic_alone",
    "llm",
    "llm_alone",
    "fallback",
    "fallback_alone",
    "acknowledged",
    "proactive_alone",
    "proactive_reminder",
    "proactive_milestone",
    "proactive_check_in",
    "proactive_observation",
    "proactive_mood_comment",
    "others",
]
"""Why something was said, by the path of its decision; `_alone` if its event is not known
any more; `proactive_…` by what was due; `others` is added where it answered further events."""

Recounted = Literal["said", "like", "like_once"]
"""What is told of the past, besides facts: what somebody said, how often such events came."""

_Unanswered = Literal["failed", "declined", "absent", "spent", "known"]
"""Why a person's question has no answer: the model failed, had none, is not there, or may
not be asked any more; `known` is added where something is known without it."""

CheckedOn = Literal["topic", "goal", "reminder"]
"""What a check-in may mention."""

TOPIC = "{topic}"
"""A place in a pattern for any words, up to the end or to what follows. Others are `{span}`
for a span of time, `{time}` for one, where a bare number is one, and `{when}` for moments
that say themselves that they are, as `at six` does."""

_PLACES = re.compile(r"\{(\w+)\}")
_PARTS = re.compile(r"<(\w+)>")

_TOPIC_FIRST = re.compile(r"\W*\{topic\}")


def _table() -> Any:
    """Return a field for words by what they are said for."""
    return Field(default_factory=dict, max_length=64)


_FELT_MOST = 0.8
"""However many words tell it, a person's feeling is a guess."""

WORDS_MOST = 12
"""How many words a phrase has at most: who says more says something else."""


_QUOTED = re.compile(
    r"[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u00bb]*[\"\u201c\u201d\u00bb]"
)
_BETWEEN = re.compile(r"[,.;!?\n\u2014\u2013()]+|\s-+\s")
"""What stands between clauses, besides words."""


def _spaced(text: str) -> str:
    return f" {' '.join(words(text))} "


def _has(said: str, known: Sequence[str]) -> bool:
    """Tell whether words with blanks around them hold one of these."""
    return any(_spaced(each) in said for each in known)


def _first(words: Mapping[Any, str], names: Sequence[str]) -> str | None:
    return next((words[each] for each in names if each in words), None)


def filled(text: str, /, **told: str) -> str:
    """Return a text with its places filled in, those that are not told left as they are."""
    # In one pass: what is filled in may hold a place itself.
    return _PLACES.sub(lambda place: told.get(place[1], place[0]), text)


_HeardWords = Annotated[tuple[str, ...], AfterValidator(as_heard)]
_HeardNumbers = Annotated[dict[str, float], AfterValidator(as_heard)]
_HeardMinutes = Annotated[dict[str, int], AfterValidator(as_heard)]
"""Tables whose words are compared with what is said."""


class Phrases(Part):
    """How such things are said in one language, and what is answered."""

    language: Token
    courtesies: _HeardWords = Field(default=(), max_length=64)
    """Words that may stand before or after a phrase and change nothing: `please`."""
    openers: _HeardWords = ()
    """How a request may begin, which changes nothing: `could you`."""
    closers: _HeardWords = ()
    """What may stand after a phrase and changes nothing: `for me`."""
    phantoms: tuple[str, ...] = Field(default=(), max_length=256)
    """What speech recognition makes of noise: such words of a microphone's are nobody's."""
    numbers: _HeardNumbers = Field(default_factory=dict, max_length=128)
    """Numbers in words, such as `ten` or `half an`."""
    units: _HeardNumbers = Field(default_factory=dict, max_length=64)
    """Units of time, in seconds."""
    parts: dict[str, str] = _table()
    """Parts of patterns by name, in which they stand as `<name>`."""
    patterns: dict[Meaning, tuple[str, ...]] = Field(max_length=48)
    """What is said, in whole: `(be|stay) quiet [now]`; `{topic}` stands behind other words,
    `{span}`, `{time}`, `{when}`, `{manner}` and `{context}` anywhere. `{=humor}` takes no
    words: it tells the manner or the context that is meant."""
    evidence: Evidence | None = None
    """What words speak for that fit no pattern. None: they are no phrase."""
    manners: dict[str, str] = Field(default_factory=dict, max_length=1_024)
    """Words for how one speaks, each with the trait that it is more of, or less: `-humor`."""
    asides: _HeardWords = Field(default=(), max_length=128)
    """How a clause begins that may stand beside a phrase, as its reason: `i am`."""
    ties: _HeardWords = ()
    """What joins one to a phrase: `because`."""
    reports: _HeardWords = Field(default=(), max_length=128)
    """What makes words somebody else's, or of another time: `said`."""
    untold: dict[Meaning, tuple[str, ...]] = _table()
    """Words that no topic of that meaning has: `him`."""
    replies: dict[Meaning, str]
    """What is answered; with `{topic}`, or with `{span}` or `{minutes}`, rounded up."""
    refusal: str = Field(min_length=1, max_length=500)
    """What is answered if it cannot be done."""
    check_ins: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] = Field(
        default=(), max_length=64
    )
    """What may be asked when nothing was said for a while."""
    check_ins_about: dict[CheckedOn, tuple[str, ...]] = _table()
    """The same about a `topic` that the person is about, a `goal`, or a `reminder` that is to
    come, each with `{topic}`; these go first."""
    observations: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] = (
        Field(default=(), max_length=64)
    )
    """What may be remarked of events that come often, with `{type}` and `{count}`."""
    mood_comments: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] = (
        Field(default=(), max_length=64)
    )
    """What may be said to somebody who seems to feel bad."""
    feelings: dict[str, Annotated[float, Field(ge=-1.0, le=1.0)]] = Field(
        default_factory=dict, max_length=256
    )
    """Words that tell how a person feels, each from -1 bad to 1 good. Empty: none do."""
    reminder: str = "{topic}"
    """What is said when a reminder is due."""
    reminder_alone: str = ""
    """Likewise, where nobody said of what to remind."""
    reasons: dict[Reason, str] = Field(default_factory=dict, max_length=16)
    """What is answered to `why`, with `{event}`, `{name}`, `{similarity}`, `{confidence}`."""
    recounts: dict[Recounted, str] = _table()
    """What is told to `known`, `said` and `happened`, with `{text}`, `{count}`, `{span}`;
    their replies are what is answered where nothing is known."""
    selves: _HeardWords = ()
    """Words for oneself as a topic: `me`."""
    articles: _HeardWords = ()
    """Words before a name that are no part of it, such as `the`, when one is looked up."""
    longest: int = Field(default=WORDS_MOST, ge=WORDS_MOST, le=40)
    """How many words a request for a reminder or a timer has at most."""
    fractions: _HeardNumbers = _table()
    """What is added to a number or a unit, such as `and a half`; see `spoken_times`."""
    joints: _HeardWords = ()
    """Words between two spans that are one, such as `and`."""
    day_parts: _HeardMinutes = _table()
    """What follows an hour up to 12, such as `pm`: 0 or 12 hours are added."""
    before_hours: _HeardMinutes = _table()
    """What precedes an hour, such as `half past`, in minutes."""
    times: _HeardMinutes = _table()
    """Times of the day with a name, such as `noon`, in minutes since midnight."""
    calendar: Calendar | None = None
    """The words for days, dates and what comes again; None: there are none."""
    timed: dict[Meaning, str] = _table()
    """What is answered instead where a span or a time was said."""
    until: dict[Meaning, str] = _table()
    """The same where it was a time, with `{when}`."""
    unclear: dict[Meaning, str] = _table()
    """What is answered where one was said that is not understood. Empty: such words are no
    phrase."""
    refused: dict[Meaning, str] = _table()
    """What is answered instead of `refusal` if that cannot be done."""

    timer: str = ""
    """What is said when a timer is up, with `{span}`."""
    listed: str = ""
    """What is answered to who asks for reminders, with `{count}` and `{items}`."""
    which: str = ""
    """What is asked where several may be meant, with the same."""
    item: str = ""
    """One of the `{items}`, with `{text}` and `{when}`."""
    missed: str = ""
    """What is answered to who asks what was missed, with `{items}`."""
    missed_more: str = ""
    """What stands behind them where there are more, with `{count}`."""
    missed_offer: str = ""
    """What is added at the end of a mute, with `{count}`."""
    meant: str = ""
    """What is added where a topic is about other events than it names, with `{items}`."""
    verbs: tuple[str, ...] = ()
    """Words that make a sentence of a topic: "tell me when the mail comes"."""
    always: tuple[str, ...] = ()
    """Words with which such a one is told of each time: `whenever`."""
    unspecific: tuple[str, ...] = ()
    """Words of such a one that an event need not hold: `done`, `somebody`, `in`."""
    watched_when: str = ""
    """What is answered to a watch for such a one, with `{topic}`."""

    wishes: dict[str, tuple[str, ...]] = _table()
    """Words that wish for a change, by its kind: `quiet`, `suppress`, `watch`, `trait`,
    `reminder`, `context`, `profile`, `goal`."""
    unwished: tuple[str, ...] = Field(default=(), max_length=128)
    """What makes it no wish of the speaker's, before those words in the same clause."""
    clauses: tuple[str, ...] = Field(default=(), max_length=32)
    """Words with which another clause begins."""
    lesser: tuple[str, ...] = Field(default=(), max_length=64)
    """Words for less of a trait."""
    greater: tuple[str, ...] = Field(default=(), max_length=64)
    """Words for more of it."""
    traits: dict[str, tuple[str, ...]] = _table()
    """Words for each trait, its name first."""
    contexts: dict[str, tuple[str, ...]] = _table()
    """Words for what somebody takes part in."""
    settled: dict[str, str] = _table()
    """What is said of a change that a model understood, with `{topic}` and `{span}`, and
    where nothing was changed: `unsettled`, `refused`, `guest`. Empty: it changes nothing."""
    asks: _HeardWords = Field(default=(), max_length=128)
    """How questions begin: `what`, `are you`."""
    unanswered: dict[_Unanswered, str] = _table()
    """What is said to a question that no model answers, `known` with `{facts}`. Empty:
    nothing is."""
    silences: dict[Silence | Drop, str] = Field(default_factory=dict, max_length=64)
    """What is answered to `why_silent`, by the reason, with `{value}` and
    `{threshold}` of the gate that closed."""
    silent_about: str = "{reason}"
    """The same where the event is known: with `{reason}` and `{event}`."""

    def reason(self, kinds: Sequence[str], **told: str) -> str:
        """Return why something was said: by the first kind that there are words for.

        The reply to `why` if there are for none.
        """
        said = _first(self.reasons, kinds) or self.replies.get("why", self.refusal)
        return filled(said, **told)

    def silence(self, reason: str, **told: str) -> str:
        """Return why nothing was said; the reply to `why_silent` without words for it."""
        otherwise = self.replies.get("why_silent", self.refusal)
        return filled(_first(self.silences, (reason,)) or otherwise, **told)

    def sorry(self, why: str) -> str:
        """Return what is said to a question without an answer; may be empty."""
        return _first(self.unanswered, (why,)) or ""

    def wishes_for(self, kind: str, text: str) -> bool:
        """Tell whether a text wishes by itself for a change of this kind."""
        for clause in self._clauses(text):
            for wish in self.wishes.get(kind, ()):
                before, found, _ = clause.partition(_spaced(wish))
                if found and not _has(f"{before} ", self.unwished):
                    return True
        return False

    def names_trait(self, trait: str, text: str, *, is_more: bool) -> bool:
        """Tell whether a text is about a trait, and about more of it, or less."""
        said = f" {' '.join(words(text))} "
        if not _has(said, self.traits.get(trait, ())):
            return False
        less, more = _has(said, self.lesser), _has(said, self.greater)
        return less == more or more == is_more

    def names_context(self, context: str, text: str) -> bool:
        """Tell whether a text names what somebody takes part in."""
        said = f" {' '.join(words(text))} "
        return _has(said, (context, *self.contexts.get(context, ())))

    def _clauses(self, text: str) -> list[str]:
        """Return the clauses of a text, without what it quotes."""
        parts: list[list[str]] = []
        for part in _BETWEEN.split(_QUOTED.sub(" ", text)):
            # What somebody said may follow a comma: "he said, be quiet".
            is_report = bool(parts and parts[-1]) and parts[-1][-1] in self.unwished
            begun: list[str] = parts.pop() if is_report else []
            for word in words(part):
                if word in self.clauses:
                    parts.append(begun)
                    begun = []
                else:
                    begun.append(word)
            parts.append(begun)
        return [f" {' '.join(each)} " for each in parts if each]

    def is_question(self, text: str) -> bool:
        """Tell whether a text is a question by its mark, or begins as one in this language."""
        if text.rstrip(" \"'\u201d").endswith(("?", "\uff1f")):
            return True
        said = f"{' '.join(words(text))} "
        return any(said.startswith(f"{each} ") for each in self.asks)

    def is_sentence(self, topic: str) -> bool:
        """Tell whether a topic says that something happens."""
        return not {*topic.lower().split()}.isdisjoint(self.verbs)

    def specific(self, topic: str) -> tuple[str, ...]:
        """Return the words of a topic that is a sentence by which its events are known."""
        if not self.is_sentence(topic):
            return ()
        general = {*self.verbs, *self.articles, *self.unspecific}
        return tuple(each for each in words(topic) if each not in general)

    def feeling(self, text: str) -> float | None:
        """Return how a person feels by these words, -0.8 to 0.8; None if they do not tell.

        A question asks, and what is quoted is somebody else's.
        """
        if not self.feelings or self.is_question(text):
            return None
        said, told = _spaced(_QUOTED.sub(" ", text)), []
        # The longest first: "not bad" is nothing bad.
        for each in sorted(self.feelings, key=lambda each: (-len(each), each)):
            before, found, after = said.partition(_spaced(each))
            if found:
                said = f"{before} | {after}"
                told.append(self.feelings[each])
        return (
            exact_math.clamp(exact_math.total(told), -_FELT_MOST, _FELT_MOST)
            if told
            else None
        )

    def recount(self, kind: Recounted, **told: str) -> str:
        """Return something of the past in words; empty if there are no words for it."""
        said = self.recounts.get(kind, "")
        # In one pass: what somebody said may hold a place itself.
        return _PLACES.sub(lambda place: told.get(place[1], place[0]), said)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if missing := [each for each in self.patterns if each not in self.replies]:
            message = "a pattern has no reply: {missing}"
            raise PydanticCustomError("no_reply", message, {"missing": missing[0]})
        for pattern in (each for all_ in self.patterns.values() for each in all_):
            if _TOPIC_FIRST.match(pattern):
                message = "{pattern}: a topic stands behind other words"
                raise PydanticCustomError("topic", message, {"pattern": pattern})
            if any(each not in self.parts for each in _PARTS.findall(pattern)):
                message = "{pattern}: it has a part that there is not"
                raise PydanticCustomError("part", message, {"pattern": pattern})
        return self


class Heard(Part):
    """A phrase that was recognised."""

    means: Meaning
    phrases: Phrases
    """Those it is of, for the reply."""
    topic: str = ""
    named: str = ""
    """The trait or the context of its manner; with `-` before it less of the trait."""
    span_s: float | None = None
    whens: tuple[When, ...] = ()
    """The moments that were said."""
    is_unclear: bool = False
    """Whether a span or a time was said that is not understood."""

    @property
    def trait(self) -> str:
        """The trait that it names."""
        return self.named.removeprefix("-")

    @property
    def is_more(self) -> bool:
        """Whether there is to be more of it: less seriousness is more humor."""
        is_opposite = self.named.startswith("-")
        return (self.means == "more") != is_opposite and self.means in ("more", "less")

    def is_once(self, text: str) -> bool:
        """Tell whether a watch asked for so is for the next time alone."""
        is_sentence = self.phrases.is_sentence(self.topic)
        return is_sentence and not _has(_spaced(text), self.phrases.always)

    def reply(self, seconds: float, when: str = "") -> str:
        """Return what is answered, where what is asked for lasts so long, until `when`."""
        said = self.phrases.replies[self.means]
        if self.means == "heighten" and self.phrases.is_sentence(self.topic):
            said = self.phrases.watched_when or said
        if self.is_unclear:
            said = self.phrases.unclear.get(self.means, said)
        elif self.span_s is not None:
            said = self.phrases.timed.get(self.means, said)
        if when and self.whens and not self.is_unclear:
            said = self.phrases.until.get(self.means, said)
        span, minutes = spoken_times.in_figures(seconds), str(ceil(seconds / 60))
        return filled(said, topic=self.topic, span=span, minutes=minutes, when=when)
