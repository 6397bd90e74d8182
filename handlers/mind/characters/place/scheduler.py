"""Conversations: who hears, who is asked, who speaks next, and when it is over.

The place owns them, and this is its law: pure, on times that it is given. The rules are the
source design's ("How `talk` integrates with Conversation Scheduler"); what that leaves open
is decided here: who takes part is who has spoken; words that answer what was said before the
last speech are dropped when another begins, for their speaker is asked anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil, fsum, hypot

from msgspec import Struct
from msgspec.structs import replace

from schemas.messages.conversations import Conversation, ReadyWords, Speech, SpokenLine
from schemas.packs.characters import Place
from schemas.state import limits
from schemas.state.character import Present
from schemas.values.exact_math import clamp, round6

_TOKENS_PER_WORD = 4 / 3
"""Of English, as model vendors give it, where the number of tokens is not told."""

_EXTROVERT, _INTROVERT = 0.6, 0.4
"""Over the one a crowd draws, under the other it drives off (source design)."""

_NEVER = datetime.max.replace(tzinfo=UTC)


class Heard(Struct, frozen=True):
    """What a hearer is told of a speech."""

    hearer: str
    distance: float
    likelihood: float
    conversation: Conversation
    speech: Speech
    is_asked: bool
    """Whether it is asked what it says to it."""
    lines: tuple[SpokenLine, ...]
    """What was said before, for who has not heard the last speech."""
    is_last: bool
    """Whether it is time to say goodbye."""


class Begun(Struct, frozen=True):
    """A speech that begins."""

    words: ReadyWords
    conversation: str | None
    """None: nobody hears it."""
    pulls: Mapping[str, float]
    """Whom the crowd draws (over 0) or drives off (under 0), and how much."""


def likelihood(extraversion: float, distance: float, hearing: float = 15.0) -> float:
    """Return how likely somebody answers what they hear; nobody surely does or does not.

    The source design gives words only; these numbers follow its three examples.
    """
    near = 0.5 * (1.0 - distance / hearing)
    return round6(clamp(0.15 + 0.7 * extraversion + near - 0.25, 0.02, 0.98))


def seconds_of(text: str, tokens: float | None, tokens_per_s: float) -> float:
    """Return how long a text takes to say, by its tokens, or by its words without them."""
    if tokens is None:
        # Rounded first: 3 words are 4 tokens, whatever 3 * (4/3) is in binary.
        tokens = ceil(round6(len(text.split()) * _TOKENS_PER_WORD))
    return round6(max(tokens, 1) / tokens_per_s)


def distance(one: Present, other: Present) -> float:
    """Return how far two are apart, in tiles."""
    return round6(hypot(one.x - other.x, one.y - other.y))


class Scheduler:
    """The conversations of a place at one time; mutable, but local to one occasion."""

    def __init__(
        self,
        rules: Place,
        present: Mapping[str, Present],
        conversations: Sequence[Conversation],
        now: datetime,
    ) -> None:
        """Take the conversations as they were before the occasion."""
        self.heard: list[Heard] = []
        self.begun: list[Begun] = []
        self.over: list[Conversation] = []
        self.late = False
        """Whether what was said came too late to be said."""
        self.what: dict[str, list[str]] = {}
        """What happened, by conversation."""
        self._rules = rules
        self._present = present
        self._now = now
        self._open = {each.id: each for each in conversations}

    @property
    def conversations(self) -> tuple[Conversation, ...]:
        """Those that go on, oldest first."""
        return tuple(self._open.values())

    def said(
        self, words: ReadyWords, id_: str, answers: tuple[str, int] | None = None
    ) -> None:
        """Somebody says something, perhaps to a conversation's speech of that number."""
        speaker = words.speaker
        talk = self._of(speaker) or self._near(speaker)
        if answers is not None and (
            talk is None or answers != (talk.id, talk.speeches)
        ):
            # What it answers is over: another spoke since, or the conversation ended.
            self.late = True
        elif talk is None:
            self._alone_or_begin(words, id_)
        elif talk.speech is None:
            self._speak(talk, words)
        elif len(talk.ready) < limits.CONVERSATION_MEMBERS:
            others = (each for each in talk.ready if each.speaker != speaker)
            ready = (*others, words)
            self._keep(replace(talk, ready=ready), f"{speaker} is ready")

    def moved(self, agent: str) -> None:
        """Somebody is elsewhere: whoever is too far from the middle leaves."""
        talk = self._of(agent)
        while talk is not None:
            middle = self._middle(talk)
            far = {
                each: distance(self._present[each], middle)
                for each in talk.members
                if each in self._present and middle is not None
            }
            furthest = max(sorted(far), key=far.__getitem__, default=None)
            if furthest is None or far[furthest] <= self._rules.hearing:
                return
            self.left(furthest, "went too far")
            talk = self._open.get(talk.id)

    def left(self, agent: str, why: str = "leaves") -> None:
        """Somebody takes part no more."""
        for talk in self.conversations:
            waiting = (each.speaker for each in talk.ready)
            if agent in (*talk.members, *talk.asked, *waiting):
                self._leave(talk, agent, why)

    def run(self) -> None:
        """Do what is due: ask hearers, let the next speak, end what is over."""
        for id_ in tuple(self._open):
            talk = self._open[id_]
            if _asks_at(talk, self._rules) <= self._now and not talk.is_asked:
                talk = self._ask(talk)
            if talk.speech is not None and talk.speech.until <= self._now:
                self._finish(talk)
            elif _ends_at(talk, self._rules) <= self._now:
                self._end(talk, "nobody answers")

    def due(self) -> datetime | None:
        """Return when something is due next; None: nothing is."""
        times = []
        for talk in self.conversations:
            if talk.speech is None:
                times.append(_ends_at(talk, self._rules))
            elif not talk.is_asked:
                times.append(_asks_at(talk, self._rules))
            else:
                times.append(talk.speech.until)
        return min(times, default=None)

    def _alone_or_begin(self, words: ReadyWords, id_: str) -> None:
        hearers = self._hearers(words.speaker)
        if not hearers or len(self._open) >= limits.CONVERSATIONS:
            self.begun.append(Begun(words, None, {}))
            return
        self._speak(Conversation(id=id_), words)

    def _of(self, agent: str) -> Conversation | None:
        """Return the conversation that somebody takes part in."""
        found = (each for each in self.conversations if agent in each.members)
        return next(found, None)

    def _near(self, agent: str) -> Conversation | None:
        """Return the conversation that somebody's words belong to: who was asked, or near."""
        here = self._present.get(agent)
        for talk in self.conversations:
            middle = self._middle(talk)
            if (
                here is None
                or middle is None
                or len(talk.members) >= limits.CONVERSATION_MEMBERS
            ):
                continue
            if agent in talk.asked or distance(here, middle) <= self._rules.hearing:
                return talk
        return None

    def _middle(self, talk: Conversation) -> Present | None:
        """Return the mean of the members' positions."""
        there = [self._present[each] for each in talk.members if each in self._present]
        if not there:
            return None
        x, y = fsum(each.x for each in there), fsum(each.y for each in there)
        count = len(there)
        return Present(x=x / count, y=y / count, at=self._now)

    def _hearers(self, speaker: str, within: Iterable[str] = ()) -> dict[str, float]:
        """Return who hears somebody, and from how far: none who talks with others."""
        here = self._present.get(speaker)
        if here is None:
            return {}
        busy = {each for talk in self.conversations for each in talk.members}
        free = [
            each
            for each in sorted(self._present)
            if each != speaker and (each in within or each not in busy)
        ]
        far = {each: distance(here, self._present[each]) for each in free}
        return {each: far[each] for each in free if far[each] <= self._rules.hearing}

    def _speak(self, talk: Conversation, words: ReadyWords) -> None:
        """Let somebody begin; they take part from here on."""
        speaker, members = words.speaker, talk.members
        if speaker not in members:
            members = (*members, speaker)
        until = self._now + timedelta(seconds=words.seconds)
        # Who was asked answers the last speech; who was not queued of their own accord.
        ready = tuple(
            each
            for each in talk.ready
            if each.speaker != speaker and each.speaker not in talk.asked
        )
        after = replace(
            talk,
            members=members,
            speech=Speech(words=words, since=self._now, until=until),
            is_asked=False,
            asked=(),
            ready=ready,
            quiet_since=None,
            speeches=talk.speeches + 1,
        )
        self._keep(after, f"{speaker} speaks for {words.seconds:g} s")
        self.begun.append(Begun(words, talk.id, self._pulls(after)))

    def _ask(self, talk: Conversation) -> Conversation:
        """Tell all hearers what is said, and ask the likeliest what they say to it."""
        speech, rules = talk.speech, self._rules
        assert speech is not None, "only a speech has a time to ask at"
        far = self._hearers(speech.words.speaker, talk.members)
        odds = {
            each: likelihood(self._present[each].extraversion, far[each], rules.hearing)
            for each in far
        }
        waiting = {each.speaker for each in talk.ready}
        likeliest = sorted(far, key=lambda each: (-odds[each], far[each], each))
        is_over = talk.speeches >= rules.longest
        free = [each for each in likeliest if each not in waiting]
        asked = () if is_over else tuple(free[: rules.at_once])
        told = tuple(likeliest)
        # Who came with words of their own has not heard what was said before them.
        if talk.speeches == 1 or speech.words.speaker in talk.told:
            told = (*told, speech.words.speaker)
        after = replace(talk, is_asked=True, asked=asked, told=told)
        for each in likeliest[: limits.HEARERS]:
            lines = () if each in talk.told else talk.lines
            is_last = talk.speeches >= rules.longest - 1
            self.heard.append(
                Heard(
                    each,
                    far[each],
                    odds[each],
                    after,
                    speech,
                    each in asked,
                    lines[-rules.lines :],
                    is_last,
                )
            )
        self._keep(after, f"asks {', '.join(asked) or 'nobody'}")
        return after

    def _finish(self, talk: Conversation) -> None:
        """End a speech, and let the next who is ready begin."""
        speech = talk.speech
        assert speech is not None, "only a speech ends"
        words = speech.words
        line = SpokenLine(speaker=words.speaker, text=words.text[: limits.UTTERANCE])
        lines = (*talk.lines, line)[-self._rules.lines :]
        talk = replace(talk, speech=None, lines=lines, quiet_since=self._now)
        self._keep(talk, f"{words.speaker} has spoken")
        if talk.speeches >= self._rules.longest:
            self._end(talk, f"{talk.speeches} speeches are enough")
        elif words.goodbye:
            self._leave(talk, words.speaker, "says goodbye")
        else:
            self._next(talk)

    def _next(self, talk: Conversation) -> None:
        """Let the next speak: in the order they were asked, then as they came."""
        turns = {each: place for place, each in enumerate(talk.asked)}
        # Stable, so who was not asked keeps the order in which they came.
        ready = sorted(talk.ready, key=lambda each: turns.get(each.speaker, len(turns)))
        if ready:
            self._speak(talk, ready[0])
        elif _ends_at(talk, self._rules) <= self._now:
            self._end(talk, "nobody answers")

    def _leave(self, talk: Conversation, agent: str, why: str) -> None:
        was_member = agent in talk.members
        after = replace(
            talk,
            members=tuple(each for each in talk.members if each != agent),
            asked=tuple(each for each in talk.asked if each != agent),
            ready=tuple(each for each in talk.ready if each.speaker != agent),
        )
        self._keep(after, f"{agent} {why}")
        speech = after.speech
        left = {*after.members, *(each.speaker for each in after.ready)}
        if was_member and len(left) <= 1:
            self._end(after, "at most one is left")
        elif speech is not None and speech.words.speaker == agent:
            silent = replace(after, speech=None, quiet_since=self._now)
            self._keep(silent, f"{agent} is cut off")
            self._next(silent)
        elif speech is None:
            self._next(after)

    def _pulls(self, talk: Conversation) -> dict[str, float]:
        """Return whom a crowd draws or drives off: those in hearing who take no part."""
        middle, force = self._middle(talk), self._rules.crowd_force
        if len(talk.members) < self._rules.crowd or middle is None:
            return {}
        found = {}
        for each in sorted(self._present):
            one = self._present[each]
            near = distance(one, middle) <= self._rules.hearing
            if near and each not in talk.members:
                if one.extraversion > _EXTROVERT:
                    found[each] = force
                elif one.extraversion < _INTROVERT:
                    found[each] = -force
        return found

    def _end(self, talk: Conversation, why: str) -> None:
        self._note(talk.id, f"over: {why}")
        self.over.append(talk)
        del self._open[talk.id]

    def _keep(self, talk: Conversation, what: str) -> None:
        self._note(talk.id, what)
        self._open[talk.id] = talk

    def _note(self, id_: str, what: str) -> None:
        self.what.setdefault(id_, []).append(what)


def _asks_at(talk: Conversation, rules: Place) -> datetime:
    """Return when hearers are asked; the end of time if nobody speaks."""
    if talk.speech is None:
        return _NEVER
    ahead = timedelta(seconds=rules.ahead_s)
    return max(talk.speech.since, talk.speech.until - ahead)


def _ends_at(talk: Conversation, rules: Place) -> datetime:
    """Return when a conversation in which nobody speaks is over."""
    if talk.quiet_since is None or talk.speech is not None:
        return _NEVER
    return talk.quiet_since + timedelta(seconds=rules.silence_s)
