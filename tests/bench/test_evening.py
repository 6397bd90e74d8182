"""The judge of an evening, judged: by minds whose worth is known, and by single moments."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.evening import matters, report
from bench.evening.grammar import HELD_OUT, Evening, drawn
from bench.evening.judged import Judgement, Need
from bench.evening.judging import judge
from bench.evening.matters import Happening, Step, Truth, Wish
from bench.evening.playing import Course, Saying, played
from bench.evening.situation import Situation
from packs.home.sensor import events as home

SEEDS = range(1, 9)
PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"

Said = tuple[float, str, int]
"""When; what; and which event it answers, by its place, or `NONE`."""
NONE = 99


def course(*happened: tuple[float, Happening], said: tuple[Said, ...] = ()) -> Course:
    """An hour made up, with Ada at home."""
    arrives = "home", home.presence("ada", "kitchen"), Truth(person={"home": True})
    steps = [Step(at, *each) for at, each in ((0.0, arrives), *happened)]
    ids = tuple(map(str, range(len(steps))))
    sayings = [
        Saying(at, text, "say", () if place == NONE else (str(place),))
        for at, text, place in said
    ]
    evening = Evening(0, ("ada",), tuple(steps), ((0.0, "well"),))
    return Course(evening, ids, tuple(sayings))


def verdicts(found: Judgement) -> list[str]:
    """What became of each need."""
    return [each.verdict for each in found.needs]


def faults(found: Judgement) -> list[str]:
    """How each word annoys that does."""
    return [fault for _, fault in found.faults]


def busy(activity: str) -> Happening:
    """Ada is at something, or at nothing."""
    truth = Truth(person={"busy": activity})
    return "home", home.state("ada", "is at it", busy=bool(activity)), truth


def wants(wish: Wish) -> Happening:
    """Ada wants something."""
    return matters.words("ada", f"{wish.ask}, please", Truth(wish=wish))


GONE = "home", home.presence("ada", "out"), Truth(person={"home": False})
MAIL = matters.useful("mail", "study")
LEAK = matters.alert("leak", "attic")
BELL = matters.alert("bell", "")
CLOSED, OPEN = tuple(reversed(matters.lasting("garage", 10, "ada")))


# ---- minds of known worth


def silent(evening: Evening) -> Course:
    """A mind that never speaks."""
    return Course(evening, tuple(map(str, range(len(evening.steps)))))


def talkative(evening: Evening) -> Course:
    """A mind that says whatever happens, at once, and agrees to all."""
    sayings = [
        Saying(
            step.at + 0.1,
            "OK." if step.is_persons else step.event.text,
            "say",
            (str(n),),
        )
        for n, step in enumerate(evening.steps)
    ]
    return replace(silent(evening), sayings=tuple(sayings))


def considerate(evening: Evening) -> Course:
    """A mind that knows what is true, and says at the first right moment what is needed."""
    made = silent(evening)
    # What was told of decides what is needed again.
    while True:
        found = judge(made)
        first = next((e for e in found.needs if e.verdict in ("lost", "late")), None)
        if first is None:
            break
        made = replace(made, sayings=(*made.sayings, told_of(first, found)))
        made = replace(made, sayings=tuple(sorted(made.sayings, key=lambda e: e.at)))
    answers = [
        Saying(step.at + 1, "Yes.", "say", (str(n),))
        for n, step in enumerate(evening.steps)
        if step.is_persons
    ]
    both = sorted((*made.sayings, *answers), key=lambda each: each.at)
    return replace(made, sayings=tuple(both))


def told_of(need: Need, found: Judgement) -> Saying:
    """What tells of a need at the first moment that is right."""
    opens = need.at
    steps = found.course.evening.steps
    moments = [each.at for each in steps] + [
        each.truth.wish.until
        for each in steps
        if each.truth.wish is not None and each.truth.wish.until is not None
    ]
    for moment in sorted({need.at, *moments}):
        if moment >= need.at and is_right(found, need, moment):
            opens = moment
            break
    answers = () if need.what == "reminder" else (str(need.step),)
    return Saying(opens, " ".join(need.words), "say", answers)


def is_right(found: Judgement, need: Need, at: float) -> bool:
    """Whether a need may be told of at a moment."""
    now = Situation()
    for step in found.course.evening.steps:
        now = now.after(step.at, step) if step.at <= at else now
    return now.is_open(need.worth, at, need.topic)


def of_all(mind: Callable[[Evening], Course]) -> report.Figures:
    """What a mind comes to in some evenings."""
    evenings = [drawn(seed, 1 + seed % 2, unseen=False) for seed in SEEDS]
    return report.figures(judge(mind(each)) for each in evenings)


def test_who_never_speaks_is_no_good() -> None:
    found = of_all(silent)
    assert found.in_time == 0
    assert found.annoyances == 0
    assert found.alerts_lost > 0
    assert found.answered == 0
    assert found.promises == 0


def test_who_always_speaks_is_no_good() -> None:
    found = of_all(talkative)
    assert found.annoyances > 10
    assert found.broken > 0.3 * found.promises


def test_all_that_is_wanted_can_be_done() -> None:
    """No two rules of the judge contradict each other, in any of these evenings."""
    found = of_all(considerate)
    assert found.in_time == 1
    assert found.annoyances == 0
    assert found.broken == 0
    assert found.answered == found.questions


# ---- single moments


@pytest.mark.parametrize(
    ("happened", "said", "verdict"),
    [
        ([(60, LEAK)], [(65, "Water!", 1)], "in time"),
        ([(60, LEAK)], [(75, "Water!", 1)], "late"),
        ([(60, LEAK)], [], "lost"),
        ([(60, MAIL)], [(600, "There is mail.", NONE)], "in time"),
        ([(60, MAIL)], [(700, "There is mail.", NONE)], "late"),
        (
            [(50, busy("call")), (60, MAIL), (900, busy(""))],
            [(1400, "Mail.", 2)],
            "in time",
        ),
        (
            [(50, busy("call")), (60, BELL), (900, busy(""))],
            [(85, "The door!", 2)],
            "late",
        ),
        ([(50, busy("call")), (60, MAIL)], [], "moot"),
        ([(50, wants(Wish("suppress", topic="the mail"))), (60, MAIL)], [], "moot"),
        ([(60, OPEN), (100, CLOSED)], [], "moot"),
    ],
)
def test_a_need(
    happened: list[tuple[float, Happening]], said: list[Said], verdict: str
) -> None:
    assert verdicts(judge(course(*happened, said=tuple(said)))) == [verdict]


def test_what_is_on_a_list_is_not_lost() -> None:
    made = replace(course((60, MAIL)), kept=frozenset({"1"}))
    assert verdicts(judge(made)) == ["kept"]


def test_what_goes_on_is_needed_again_after_a_while() -> None:
    reports = [(at, OPEN) for at in (60.0, 360.0, 1400.0)]
    found = judge(course(*reports, said=((61, "The garage is open.", 1),)))
    assert verdicts(found) == ["in time", "lost"]
    nags = ((61, "The garage is open.", 1), (361, "The garage is open.", 2))
    assert faults(judge(course(*reports, said=nags))) == ["repeated"]


def test_several_in_one_are_all_named_or_counted() -> None:
    lamps = [
        (60 + n, matters.useful("lamp", room)) for n, room in enumerate(matters.ROOMS)
    ]
    texts = {"The bedroom lamp is on.": 1, "The bedroom lamp is on, and 4 more.": 5}
    for text, told in texts.items():
        made = course(*lamps)
        saying = Saying(70, text, "say", tuple("12345"))
        found = judge(replace(made, sayings=(saying,)))
        assert verdicts(found).count("in time") == told


@pytest.mark.parametrize(
    ("happened", "fault", "event"),
    [
        ((50, GONE), "nobody", MAIL),
        ((50, busy("call")), "busy", MAIL),
        ((50, busy("call")), "", LEAK),
        ((50, busy("call")), "", BELL),
        ((50, wants(Wish("quiet", 600.0))), "quiet", MAIL),
        ((50, wants(Wish("quiet", 600.0))), "", LEAK),
        ((50, wants(Wish("mute"))), "mute", LEAK),
        ((50, wants(Wish("suppress", topic="the mail"))), "unwanted", MAIL),
        ((50, MAIL), "", LEAK),
        ((50, MAIL), "needless", matters.needless(0, "ada")),
    ],
)
def test_a_word_annoys(
    happened: tuple[float, Happening], fault: str, event: Happening
) -> None:
    found = judge(course(happened, (60, event), said=((70, "It is so.", 2),)))
    assert faults(found) == ([fault] if fault else [])


def test_a_promise() -> None:
    """It is made by words or by a control, and broken by one word."""
    quiet = wants(Wish("quiet", 600.0))
    agreed, asked, broke = (51, "OK.", 1), (51, "For how long?", 1), (70, "Mail.", 2)
    for said, made, broken in (
        ((agreed,), True, ""),
        ((agreed, broke), True, "Mail."),
        ((asked, broke), False, ""),
        ((broke,), False, ""),
    ):
        (promise,) = judge(course((50, quiet), (60, MAIL), said=said)).promises
        assert (promise.is_made, promise.broken) == (made, broken)


def test_a_watch_and_a_reminder_are_kept_by_words() -> None:
    watch = Wish("watch", topic="foxes", words=("fox",))
    reminder = Wish("remind", words=("timer",), due=500.0)
    asked = [
        (50.0, wants(watch)),
        (55.0, wants(reminder)),
        (60.0, matters.watched("foxes")),
    ]
    agreed = ((51, "OK.", 1), (56, "OK.", 2))
    kept = ((61, "A fox!", 3), (501, "The timer is up.", NONE))
    for said, broken in ((agreed, ["lost", "lost"]), (agreed + kept, ["", ""])):
        found = judge(course(*asked, said=said))
        assert [each.broken for each in found.promises] == broken
        assert faults(found) == []


def test_a_question_is_answered_in_time_and_truly() -> None:
    ask = matters.words("ada", "what did I miss?", Truth(question="missed"))
    held = [(50.0, wants(Wish("mute", 100.0))), (60.0, LEAK), (110.0, ask)]
    for text, at, answered in (
        ("Water leaks.", 111, True),
        ("Water leaks.", 150, False),
        ("Nothing is waiting for you.", 111, False),
    ):
        found = judge(course(*held, said=((at, text, 3),)))
        assert [each for _, each in found.questions] == [answered]


# ---- the mind as it is


def test_the_same_seed_is_the_same_evening() -> None:
    assert drawn(7, 2, unseen=True) == drawn(7, 2, unseen=True)
    assert played(drawn(7, 2, unseen=False)) == played(drawn(7, 2, unseen=False))


def test_three_kinds_of_trouble_are_held_out() -> None:
    """A blackout is more at once than any tuning evening has."""
    assert len(HELD_OUT) == 3
    at_once = {
        unseen: max(
            sum(each.at <= other.at < each.at + 4 for other in evening.steps)
            for seed in range(1, 40)
            for evening in [drawn(seed, 1, unseen=unseen)]
            for each in evening.steps
        )
        for unseen in (False, True)
    }
    assert at_once[False] < 9 <= at_once[True]


def test_the_page_has_both_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in ("before", "now"):
        begins = text.index(f"<!-- evening {name} begins -->")
        assert (
            "200 unseen" in text[begins : text.index(f"<!-- evening {name} ends -->")]
        )
