"""The judge of an evening: what was needed, what annoyed, which word was kept. Pure.

It knows what is true at each moment, and asks for what a reasonable person would want:

- **Needed.** A danger within ten seconds (an open freezer or a hot oven thirty), whatever
  anybody is doing; a ring at the door within twenty, call or no call; all else that is worth
  a word within one to ten minutes of those in which somebody is there, nobody is in a call
  or types, and nobody asked for quiet. What goes on is needed again when it was told of
  twenty minutes ago. What came about while nothing was to be said, and is on a list that can
  be asked for, counts neither way. What is over before it could be told was no need.
- **Annoying.** Said to an empty house; into a call or somebody's typing, unless it is a
  danger, a ring, an answer, or the reminder of somebody else; in a quiet, likewise; in a
  mute, anything but the answer to who mutes or unmutes; what somebody wants to hear no more
  of; the same again within eight minutes, a ring within fifteen seconds; what is over; what
  nobody wants to be told; remarks of its own beyond two an hour; and what is no sentence. A
  word that breaks several rules counts once.
- **Lost.** A need that nobody was told of, then or later, and that is on no list either.
- **Promised.** A wish for quiet, a mute, no more of something, a watch or a reminder, which
  the companion agreed to in words or made a control of. It is broken by one thing said
  against it, or the one thing not said. Who asks back or says that it cannot promises nothing.
- **Asked.** A question needs words within twenty seconds, or two after the model failed;
  to what was missed, "nothing" is no answer while something was kept back.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from bench.evening.grammar import HOUR_S
from bench.evening.judged import Fault, Judgement, Need, Promise
from bench.evening.matters import REMINDED_S, WATCHED_S, Ask, Step, Truth, Wish, Worth
from bench.evening.playing import Course, Saying
from bench.evening.situation import Situation

_ALOUD = "say"
_AGAIN_S = 1200.0
"""After so long what still goes on is worth another word."""
_REPEATED_S: Mapping[Worth, float] = {"urgent": 15.0}
_REPEATED_USUALLY_S = 480.0
_REMARKS = 2
_GRACE_S = 5.0
"""What is said so soon after something changed could not have known."""
_ROUNDED_S = 0.01
"""What times in seconds may differ by that are the same."""
_ANSWER_S, _AFTER_FAILURE_S = 20.0, 2.0
_COUNTED = re.compile(
    r"\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten) (more|others)\b"
)
_NO_SENTENCE = re.compile(r"\s*([{<\[]|(null|None)$)")
_NOTHING = re.compile(r"\bnothing\b|\bno,|didn't miss", re.IGNORECASE)
_NO_PROMISE = re.compile(
    r"\?|not understand|didn't (catch|get)|can't|cannot|could not|sorry|not sure"
    r"|don't know|no model|unable",
    re.IGNORECASE,
)
_CONTROLS: Mapping[Ask, str] = {
    "quiet": "muted",
    "mute": "muted",
    "unmute": "muted",
    "suppress": "salience_modulated",
    "watch": "salience_modulated|watch",
    "remind": "reminder",
    "change": "",
}
"""Which control, or the one of another name, a wish is made into."""


def judge(course: Course) -> Judgement:
    """Hold a course against what was true."""
    return _Judge(course).judgement()


@dataclass
class _Judge:
    course: Course

    @cached_property
    def steps(self) -> Sequence[Step]:
        return self.course.evening.steps

    @cached_property
    def step_of(self) -> Mapping[str, int]:
        return {id_: index for index, id_ in enumerate(self.course.ids)}

    @cached_property
    def situations(self) -> tuple[list[float], list[Situation]]:
        now, times, found = Situation(), [0.0], [Situation()]
        for step in self.steps:
            now = now.after(step.at, step)
            times.append(step.at)
            found.append(now)
        return times, found

    def at(self, second: float) -> Situation:
        times, found = self.situations
        return found[bisect_right(times, second) - 1]

    @cached_property
    def moments(self) -> list[float]:
        """When anything about when to speak changes."""
        _, found = self.situations
        lapses = {each.quiet_until for each in found} | {
            each.mute_until for each in found
        }
        return sorted({0.0, HOUR_S, *(each.at for each in self.steps), *lapses})

    def judgement(self) -> Judgement:
        needs = tuple(self._met(each) for each in self._needs())
        faults = tuple(self._faults(needs))
        return Judgement(
            course=self.course,
            needs=needs,
            faults=faults,
            promises=tuple(self._promises(needs, faults)),
            questions=tuple(self._questions(needs)),
        )

    # ---- needs

    def _needs(self) -> Iterator[Need]:
        begun: dict[str, int] = {}
        told: dict[str, float] = {}
        over: dict[str, float] = {}
        watches: dict[str, Wish] = {}
        for index, step in enumerate(self.steps):
            truth = step.truth
            match truth.wish:
                case Wish(ask="watch", topic=topic) as wish:
                    watches[topic] = wish
                case Wish(ask="remind", due=float(due)) as wish if due < HOUR_S:
                    yield Need(due, index, "reminder", "useful", "", REMINDED_S, HOUR_S,
                        wish.words, frozenset())  # fmt: skip
                case _:
                    pass
            if truth.topic in watches and truth.topic:
                del watches[truth.topic]
                yield self._need(index, "watch", worth="useful", within_s=WATCHED_S)
            if truth.ends:
                begun.pop(truth.matter, None)
                told.pop(truth.matter, None)
                over[truth.matter] = step.at
            if truth.worth in ("none", "mild"):
                continue
            again = self._last_told(truth.matter, over.get(truth.matter, 0.0), step.at)
            if again is not None and truth.matter in told:
                told[truth.matter] = max(told[truth.matter], again)
            if self._is_new(truth, step.at, begun, told):
                begun[truth.matter] = index
                need = self._met(self._need(index, truth.matter))
                if need.told is not None:
                    told[truth.matter] = need.told.at
                yield need

    def _last_told(self, matter: str, since: float, until: float) -> float | None:
        """Return when a matter was last told of in a span, needed or not."""
        told = (
            each.at
            for each in self.course.sayings
            if since <= each.at < until and self._is_heard(each)
            for id_ in each.answers
            if self.steps[self.step_of[id_]].truth.matter == matter
        )
        return max(told, default=None)

    def _is_new(
        self, truth: Truth, at: float, begun: dict[str, int], told: dict[str, float]
    ) -> bool:
        """Tell whether an event is worth a word, though there may have been like ones."""
        first = begun.get(truth.matter)
        if first is None:
            return True
        if truth.matter in told:
            return at - told[truth.matter] >= _AGAIN_S
        # What nobody was told of is one need, however often it is reported.
        lasts = truth.lasts_s or _AGAIN_S * 3
        return at - self.steps[first].at >= lasts

    def _need(
        self, index: int, what: str, *, worth: Worth | None = None, within_s: float = 0
    ) -> Need:
        step, truth = self.steps[index], self.steps[index].truth
        ends = self._over(index)
        later = (
            each
            for each, other in enumerate(self.steps[index:], index)
            if other.truth.matter == truth.matter and other.at < ends
        )
        return Need(
            at=step.at,
            step=index,
            what=what,
            worth=worth or truth.worth,
            topic=truth.topic if worth is None else "",
            within_s=within_s or truth.within_s,
            ends=ends,
            words=truth.words,
            events=frozenset(self.course.ids[each] for each in later),
        )

    def _over(self, index: int) -> float:
        """Return when nobody has any more use for what an event tells."""
        step = self.steps[index]
        last = step.at + (step.truth.lasts_s or HOUR_S)
        after = (
            other.at
            for other in self.steps[index + 1 :]
            if other.truth.ends and other.truth.matter == step.truth.matter
        )
        return min(next(after, HOUR_S), last, HOUR_S)

    def _met(self, need: Need) -> Need:
        due = self._due(need)
        opened = self.at(need.at).is_open(need.worth, need.at, need.topic)
        held = replace(need, is_held_back=not opened)
        for saying in self.course.sayings:
            if need.at - _ROUNDED_S <= saying.at <= need.ends and self.tells(
                saying, need
            ):
                in_time = due is None or saying.at <= due
                return replace(
                    held, verdict="in time" if in_time else "late", told=saying
                )
        if due is None:
            return held
        kept = bool(need.events & self.course.kept)
        return replace(held, verdict="kept" if kept else "lost")

    def _due(self, need: Need) -> float | None:
        """Return when it must be said at the latest; None: it may not be before its end."""
        left = need.within_s
        after = [each for each in self.moments if need.at < each < need.ends]
        for begins, ends in zip([need.at, *after], [*after, need.ends], strict=True):
            if self.at(begins).is_open(need.worth, begins, need.topic):
                if ends - begins >= left:
                    return begins + left
                left -= ends - begins
        return None

    def tells(self, saying: Saying, need: Need) -> bool:
        """Tell whether something said tells of a need to somebody who is meant."""
        if not self._is_heard(saying):
            return False
        text = saying.text.lower()
        if need.words and all(word.lower() in text for word in need.words):
            return True
        if not need.events & set(saying.answers):
            return False
        # Several in one: each is named, or it is said how many more there are.
        return len(saying.answers) == 1 or bool(_COUNTED.search(text))

    def _is_heard(self, saying: Saying) -> bool:
        return saying.channel != _ALOUD or bool(self.at(saying.at).home)

    # ---- annoyances

    def _faults(self, needs: Sequence[Need]) -> Iterator[tuple[Saying, Fault]]:
        told: dict[str, float] = {}
        remarks = 0
        for saying in self.course.sayings:
            steps = [self.step_of[each] for each in saying.answers]
            met = {each.what: each for each in needs if each.told is saying}
            remarks += not steps and not met
            truths = [self.steps[each].truth for each in steps]
            fault = self._is_untimely(saying, steps)
            if fault is None and not any(self.steps[each].is_persons for each in steps):
                fault = self._intrudes(saying, truths, met.get("reminder"))
                if steps:
                    fault = fault or self._is_unwanted(saying, steps, told)
                elif not met and remarks > _REMARKS:
                    fault = fault or "remark"
            if fault is not None:
                yield saying, fault
            told |= {each.matter: saying.at for each in truths if each.matter}

    def _is_untimely(self, saying: Saying, steps: Sequence[int]) -> Fault | None:
        """Return why not even an answer may be said, and not like this."""
        at, now = saying.at, self.at(saying.at)
        if saying.channel == _ALOUD and not now.home:
            return "nobody"
        if _NO_SENTENCE.match(saying.text):
            return "garbled"
        # Whoever spoke just before: nobody takes back what is on the tongue.
        muted_until = min(now.mute_until, self.at(at - _GRACE_S).mute_until)
        wishes = (self.steps[each].truth.wish for each in steps)
        is_of_mute = any(e is not None and e.ask in ("mute", "unmute") for e in wishes)
        return "mute" if at < muted_until and not is_of_mute else None

    def _intrudes(
        self, saying: Saying, truths: Sequence[Truth], reminder: Need | None
    ) -> Fault | None:
        """Return whom something intrudes on that is no answer."""
        now = self.at(saying.at)
        if saying.channel != _ALOUD or _worst(truths) in ("alert", "urgent"):
            return None
        # Who asked to be reminded is, though another is in a call.
        asker = self.steps[reminder.step].event.person if reminder else None
        is_in_the_way = now.busy.get(asker) if asker else now.is_engaged()
        if is_in_the_way:
            return "busy"
        return "quiet" if saying.at < now.quiet_until and not asker else None

    def _is_unwanted(
        self, saying: Saying, steps: Sequence[int], told: Mapping[str, float]
    ) -> Fault | None:
        """Return why nobody wants to be told of something, whenever it is."""
        at, truths = saying.at, [self.steps[each].truth for each in steps]
        unwanted, worst = self.at(at).unwanted, _worst(truths)
        if any(each.topic and each.topic in unwanted for each in truths):
            return "unwanted"
        if self._is_watched(truths, at):
            return None
        if self._is_repeated(truths, at, told):
            return "repeated"
        if all(self._over(each) + _GRACE_S < at for each in steps) and worst != "mild":
            return "over"
        return "needless" if worst == "none" else None

    def _is_repeated(
        self, truths: Sequence[Truth], at: float, told: Mapping[str, float]
    ) -> bool:
        """Tell whether nothing of it is news: no end, and no long time, lies between."""
        return bool(truths) and all(
            each.matter in told
            and at - told[each.matter]
            < _REPEATED_S.get(each.worth, _REPEATED_USUALLY_S)
            and not self._has_ended(each.matter, told[each.matter], at)
            for each in truths
        )

    def _has_ended(self, matter: str, since: float, until: float) -> bool:
        return any(
            since < each.at <= until
            for each in self.steps
            if each.truth.ends and each.truth.matter == matter
        )

    def _is_watched(self, truths: Sequence[Truth], at: float) -> bool:
        wishes = (e.truth.wish for e in self.steps if e.at <= at)
        topics = {
            each.topic for each in wishes if each is not None and each.ask == "watch"
        }
        return any(each.topic in topics for each in truths)

    # ---- promises and questions

    def _promises(
        self, needs: Sequence[Need], faults: Sequence[tuple[Saying, Fault]]
    ) -> Iterator[Promise]:
        for index, step in enumerate(self.steps):
            if (wish := step.truth.wish) is None:
                continue
            id_ = self.course.ids[index]
            made = [control for event, control in self.course.controls if event == id_]
            answers = [each for each in self.course.sayings if id_ in each.answers]
            agreed = any(not _NO_PROMISE.search(each.text) for each in answers)
            is_set = any(re.search(_CONTROLS[wish.ask], each) for each in made)
            promise = Promise(index, wish, is_set, agreed)
            yield replace(promise, broken=self._breach(promise, needs, faults))

    def _breach(
        self,
        promise: Promise,
        needs: Sequence[Need],
        faults: Sequence[tuple[Saying, Fault]],
    ) -> str:
        """Return what broke a promise; empty: nothing."""
        wish, since = promise.wish, self.steps[promise.step].at + _GRACE_S
        until = self._until(promise)
        if not promise.is_made:
            return ""
        match wish.ask:
            case "quiet" | "mute" | "suppress":
                kind = "unwanted" if wish.ask == "suppress" else wish.ask
                found = (
                    saying.text
                    for saying, fault in faults
                    if fault == kind
                    and since <= saying.at <= until
                    and (kind != "unwanted" or self._is_of(saying, wish.topic))
                )
                return next(found, "")
            case "watch":
                mine = (e for e in needs if e.what == "watch" and e.words == wish.words)
            case _:
                mine = (
                    e for e in needs if e.what == "reminder" and e.step == promise.step
                )
        return next(
            (e.verdict for e in mine if e.verdict in ("late", "kept", "lost")), ""
        )

    def _until(self, promise: Promise) -> float:
        """Return when nobody is bound by a promise any more."""
        ends = promise.wish.until or HOUR_S
        if promise.wish.ask != "mute":
            return ends
        later = self.steps[promise.step :]
        back = (each.at for each in later if each.truth.wish == Wish("unmute"))
        return min(ends, next(back, HOUR_S))

    def _is_of(self, saying: Saying, topic: str) -> bool:
        return any(
            self.steps[self.step_of[e]].truth.topic == topic for e in saying.answers
        )

    def _questions(self, needs: Sequence[Need]) -> Iterator[tuple[int, bool]]:
        failed = dict(self.course.model_failed)
        for index, step in enumerate(self.steps):
            if not step.truth.question or not self._can_hear(step):
                continue
            id_ = self.course.ids[index]
            until = step.at + _ANSWER_S
            if id_ in failed:
                until = max(until, failed[id_] + _AFTER_FAILURE_S)
            if until > HOUR_S:
                continue
            answers = [
                each
                for each in self.course.sayings
                if id_ in each.answers and each.at <= until
            ]
            yield index, bool(answers) and not self._denies(step, answers, needs)

    def _can_hear(self, step: Step) -> bool:
        return step.at >= self.at(step.at).mute_until

    def _denies(
        self, step: Step, answers: Sequence[Saying], needs: Sequence[Need]
    ) -> bool:
        """Tell whether it said that nothing was missed, though something was."""
        if step.truth.question != "missed":
            return False
        kept_back = any(
            each.is_held_back
            and step.at - _AGAIN_S < each.at < step.at < each.ends
            and each.verdict in ("kept", "lost")
            for each in needs
        )
        return kept_back and all(_NOTHING.search(each.text) for each in answers)


def _worst(truths: Sequence[Truth]) -> Worth:
    """Return what is worth most of what is told."""
    order: tuple[Worth, ...] = ("alert", "urgent", "useful", "mild", "none")
    return min((each.worth for each in truths), key=order.index, default="useful")
