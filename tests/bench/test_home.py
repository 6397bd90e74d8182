"""The judge of a day at home: each verdict and each rule, on days made up for it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bench.home import needs, report
from bench.home.__main__ import SHIPPED
from bench.home.day import Day, Happened, Saying, of_session
from bench.home.judging import Judgement, judge
from bench.home.playing import PACK, played, settings_of
from packs.home.sensor import events
from schemas.messages.sensing import Sensed
from streams.session_files.file import read_session, write_session
from tests.replay.evening import verified

TABLE = needs.load(PACK / "needs.yaml")
PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"
RECORDING = PACK / "recording" / "day.echoic"
TOLD = PACK / "recording" / "told.echoic"

Said = tuple[float, str, int]
"""When, in seconds; what; and which event it answers, by its place, or `NONE`."""
NONE = 99


def judged(
    happened: list[tuple[float, Sensed]], *said: Said, channel: str = "say"
) -> Judgement:
    """The judgement of a day."""
    day = Day(
        tuple(Happened(str(n), at, each) for n, (at, each) in enumerate(happened)),
        tuple(
            Saying(at, text, channel, "suggestion", (str(place),))
            for at, text, place in said
        ),
    )
    return judge(day, TABLE)


def verdicts(found: Judgement) -> list[tuple[str, str]]:
    """Each need with what became of it."""
    return [(each.need.name, each.verdict) for each in found.needs]


def home(*names: str, room: str = "kitchen") -> list[tuple[float, Sensed]]:
    """People at home and awake from the first second."""
    return [(0, events.presence(name, room)) for name in names]


def asleep(name: str, at: float = 0) -> tuple[float, Sensed]:
    """Somebody falls asleep."""
    return at, events.state(name, "sleeps", asleep=True)


def busy(name: str, activity: str, at: float = 0) -> tuple[float, Sensed]:
    """Somebody is at something."""
    return at, events.state(name, "is busy", busy=True, activity=activity)


def asks(name: str, asked: str, **more: str | int) -> Sensed:
    """A person's words, as the source `user` sends them."""
    said = events.message(name, "Well.", {"asks": asked, **more})
    return replace(said, source="user")


DOOR = (100.0, events.door_left_open(3))
WASH = (100.0, events.washing_finished())
FREE = (500.0, events.state("ben", "is free", busy=False, activity="none"))


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ((130.0, "Shut it.", 1), "met"),
        ((160.0, "Shut it.", 1), "met"),
        ((161.0, "Shut it.", 1), "late"),
        ((130.0, "The front door is open.", NONE), "met"),
        ((130.0, "Nice weather.", NONE), "missed"),
        ((701.0, "Shut it.", 1), "missed"),
        ((99.0, "Shut it.", 1), "missed"),
    ],
)
def test_a_need_is_met_late_or_missed(said: Said, verdict: str) -> None:
    """By when it was said, and whether that was about it, by event or by words."""
    found = judged([*home("ada"), DOOR], said)

    assert verdicts(found) == [("door-left-open", verdict)]
    assert bool(found.sayings[0].needed) is (verdict in ("met", "late"))


@pytest.mark.parametrize(
    ("happened", "verdict"),
    [
        ([*home("ada"), DOOR], "missed"),
        # Somebody closed it before it was due.
        ([*home("ada"), DOOR, (150, events.door("ada", is_open=False))], "moot"),
        ([*home("ada"), DOOR, (170, events.door("ada", is_open=False))], "missed"),
        # Nobody could have been told.
        ([DOOR], "moot"),
        ([*home("ada"), asleep("ada"), DOOR], "moot"),
        # The guest is not meant.
        ([*home("cleo"), DOOR], "moot"),
    ],
)
def test_what_nobody_could_be_told_was_no_need(
    happened: list[tuple[float, Sensed]], verdict: str
) -> None:
    """Nor what ended by itself before it was due."""
    assert verdicts(judged(happened)) == [("door-left-open", verdict)]


@pytest.mark.parametrize(
    ("at", "verdict"), [(100.0, "met"), (1100.0, "met"), (1101.0, "late")]
)
def test_who_is_busy_is_to_be_told_afterwards(at: float, verdict: str) -> None:
    """What can wait is due ten minutes after the call, and may be said before."""
    happened = [*home("ben"), busy("ben", "call"), WASH, FREE]

    found = judged(happened, (at, "The washing is done.", 2))

    assert verdicts(found) == [("wash", verdict)]


def test_who_sleeps_is_told_of_a_leak_and_of_no_wash() -> None:
    """An alarm is heard by sleepers; a hint is not."""
    happened = [*home("ben"), asleep("ben"), (9, events.leak("cellar")), WASH]

    found = judged(happened, (10, "A leak!", 2), (110, "The washing is done.", 3))

    assert verdicts(found) == [("leak", "met"), ("wash", "moot")]
    assert [each.annoying for each in found.sayings] == [(), ("machine-by-night",)]


@pytest.mark.parametrize(
    ("channel", "verdict"),
    [("phone-ben", "met"), ("phone-ada", "missed"), ("say", "missed")],
)
def test_who_is_out_is_reached_on_a_channel_of_their_own(
    channel: str, verdict: str
) -> None:
    """A loudspeaker in an empty house reaches nobody, another's phone another."""
    rain = events.rain(1, 12, anybody_home=False)

    found = judged([(100, rain)], (130, "Rain and a window.", 0), channel=channel)

    assert verdicts(found) == [("rain-into-the-empty-house", verdict)]
    assert found.sayings[0].annoying == (
        ("speaks-to-nobody",) if channel == "say" else ()
    )


def test_a_reminder_begins_at_its_time() -> None:
    """It was asked for long before; only the words at that time count."""
    happened = [*home("ada"), (100, asks("ada", "remind", at_s=5000))]

    found = judged(happened, (101, "Yes.", 1), (5030, "Call your mother.", NONE))

    assert verdicts(found) == [("reminder-taken", "met"), ("reminder-rings", "met")]
    assert verdicts(judged(happened)) == [
        ("reminder-taken", "missed"),
        ("reminder-rings", "missed"),
    ]


def test_words_are_answered_by_an_answer_to_them() -> None:
    """Not by whatever else is said meanwhile."""
    happened = [*home("ben"), (100, asks("ben", "question")), (101, events.doorbell())]

    found = judged(happened, (105, "The doorbell rings.", 2))

    assert verdicts(found) == [("question-answered", "missed"), ("bell", "met")]


def test_an_appointment_is_told_in_private() -> None:
    """It is due once the guest is gone; by name or in answer to its event."""
    tablet = events.due("ada", "take your tablet", 5, hidden_from="guests")
    gone = (900.0, events.presence("cleo", "out"))
    happened = [*home("ada", "cleo"), (100, tablet), gone]

    late = judged(happened, (1201, "Please take your tablet.", NONE))
    good = judged(happened, (1000, "Please take your tablet.", NONE))
    bad = judged(happened, (101, "Something is near.", 2))

    assert verdicts(late) == [("appointment", "late")]
    assert verdicts(good) == verdicts(bad) == [("appointment", "met")]
    assert good.sayings[0].annoying == ()
    assert bad.sayings[0].annoying == ("health-before-guests",)


RING = events.due("ben", "the ring", 15, hidden_from="ada")
QUIET = (50.0, asks("ben", "quiet", minutes=60))
STOP = (50.0, asks("ben", "stop", topic="weather"))
SUN = (100.0, events.weather("sunny", 20))

RULES: dict[str, tuple[list[tuple[float, Sensed]], list[Said]]] = {
    "rain-at-night": ([*home("ada", "ben"), asleep("ada"), SUN], [(100, "Sun.", 3)]),
    "machine-by-night": ([*home("ada"), asleep("ada"), WASH], [(100, "Done.", 2)]),
    "wakes-for-nothing": ([*home("ada"), asleep("ada"), DOOR], [(100, "Hm.", 2)]),
    "speaks-to-nobody": ([DOOR], [(100, "The door.", 0)]),
    "in-the-call": ([*home("ben"), busy("ben", "call"), WASH], [(100, "Done.", 2)]),
    "while-typing": (
        [*home("ben"), (1, events.state("ben", "types", typing=True)), WASH],
        [(100, "Done.", 2)],
    ),
    "at-the-table": ([*home("ada"), busy("ada", "dinner"), SUN], [(100, "Sun.", 2)]),
    "in-the-film": ([*home("ada"), QUIET, SUN], [(100, "Sun.", 2)]),
    "laundry-again": (
        [*home("ada"), WASH, (3700, events.washing_waiting(60))],
        [(100, "Done.", 1), (3700, "Still there.", 2)],
    ),
    "window-by-window": (
        [*home("ada"), *((n, events.window_at_risk("study", 9)) for n in (1, 2))],
        [(1, "A window.", 1), (2, "A window.", 2)],
    ),
    "oven-again": (
        [*home("ada"), (1, events.oven_ready(180))],
        [(1, "It is hot.", 1), (500, "It is hot.", 1)],
    ),
    "weather-again": ([*home("ada"), SUN], [(100, "Sun.", 1), (900, "Sun.", 1)]),
    "wash-is-out": (
        [*home("ada"), WASH, (150, events.washing("cleo", started=False))],
        [(200, "The washing is done.", 1)],
    ),
    "courier-is-gone": (
        [
            *home("ada"),
            (1, events.doorbell()),
            (121, events.noted("courier_left", "Ho.")),
        ],
        [(130, "Somebody rings.", 1)],
    ),
    "too-late-for-the-window": (
        [*home("ada"), (1, events.window_at_risk("study", 40))],
        [(3601, "A window is open.", 1)],
    ),
    "appointment-is-past": (
        [*home("ben"), (1, events.due("ben", "x", 5))],
        [(14401, "An appointment.", 1)],
    ),
    "heard-enough-of-it": ([*home("ada"), STOP, SUN], [(100, "Sun.", 2)]),
    "the-ring-before-ada": ([*home("ada", "ben"), (9, RING)], [(9, "Hm.", 2)]),
    "health-before-guests": (
        [*home("ada", "cleo"), (9, events.due("ada", "x", 5, "guests"))],
        [(9, "Hm.", 2)],
    ),
    "to-the-wrong-person": (
        [*home("ben"), (9, events.leave_soon("ada", "work", 9))],
        [(9, "Hm.", 1)],
    ),
    "who-cooks-knows": (
        [*home("ada"), (9, events.oven("ada", on=True, celsius=180))],
        [(9, "It is on.", 1)],
    ),
    "who-airs-knows": (
        [*home("ada"), (9, events.window("study", "ada", is_open=True))],
        [(9, "It is open.", 1)],
    ),
    "who-washes-knows": (
        [*home("ada"), (9, events.washing("ada", started=True))],
        [(9, "It is on.", 1)],
    ),
    "who-comes-knows": (
        [*home("ada"), (9, events.door("ada", is_open=True))],
        [(9, "It is open.", 1)],
    ),
    "readings": ([*home("ada"), (9, events.reading(20, 9))], [(9, "So warm.", 1)]),
    "guest-goes": (
        [*home("ada"), (9, events.goes("ada", 0, last=False))],
        [(9, "Bye.", 1)],
    ),
}


@pytest.mark.parametrize("rule", [each.name for each in TABLE.annoyances])
def test_each_rule_is_broken_alone(rule: str) -> None:
    """The last thing said breaks this rule and no other; before it nothing was broken."""
    happened, said = RULES[rule]

    *before, last = judged(happened, *said).sayings

    assert last.annoying == (rule,)
    assert all(each.annoying == () for each in before)


FINE: dict[str, tuple[list[tuple[float, Sensed]], list[Said]]] = {
    "an alert at night": (
        [*home("ada"), asleep("ada"), (9, events.leak("cellar"))],
        [(9, "A leak!", 2)],
    ),
    "an answer in the quiet": ([*home("ben"), QUIET], [(50, "I am quiet.", 1)]),
    "the answer to words that want no more": (
        [*home("ben"), STOP],
        [(50, "No more of the weather.", 1)],
    ),
    "after the quiet": (
        [*home("ben"), QUIET, (3700, events.weather("sunny", 20))],
        [(3700, "Sun.", 2)],
    ),
    "the bell in a call": (
        [*home("ben"), busy("ben", "call"), (9, events.doorbell())],
        [(9, "Somebody rings.", 2)],
    ),
    "an oven left on, to who left it on": (
        [*home("ada"), (9, events.oven_on(60, "ada", kitchen_empty=True))],
        [(9, "The oven!", 1)],
    ),
    "a secret while the other is out": ([*home("ben"), (9, RING)], [(9, "Go.", 1)]),
    "another wash": (
        [*home("ada"), WASH, (8000, events.washing_finished())],
        [(100, "Done.", 1), (8000, "Done.", 2)],
    ),
    "what somebody does who is not there to hear it": (
        [*home("ben"), (9, events.door("ada", is_open=True))],
        [(9, "It is open.", 1)],
    ),
}


@pytest.mark.parametrize("case", FINE)
def test_what_is_fine_annoys_nobody(case: str) -> None:
    """The exceptions of the rules hold."""
    happened, said = FINE[case]

    found = judged(happened, *said)

    assert [each.annoying for each in found.sayings] == [()] * len(said)


@pytest.mark.parametrize("channel", ["phone-ben", "text"])
def test_what_is_read_in_silence_disturbs_nobody(channel: str) -> None:
    """Only a loudspeaker wakes people, or is overheard."""
    happened = [*home("ada", "ben"), asleep("ada"), (9, RING), SUN]

    found = judged(happened, (9, "The ring.", 3), (100, "Sun.", 4), channel=channel)

    assert [each.annoying for each in found.sayings] == [(), ()]


def test_a_secret_is_not_for_the_other_ones_phone() -> None:
    """A channel of the person whom it is hidden from tells it, too."""
    found = judged([*home("ben"), (9, RING)], (9, "Hm.", 1), channel="phone-ada")

    assert found.sayings[0].annoying == ("the-ring-before-ada",)


def test_an_empty_day_has_no_needs() -> None:
    """Nothing happened, nothing was said."""
    found = judged([])

    assert found == Judgement((), ())
    assert "| x | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |" in report.table({"x": found})


def test_the_same_seed_is_the_same_session(tmp_path: Path) -> None:
    """A day with advice, decisions and votes is the same file each time."""
    first, second = tmp_path / "1", tmp_path / "2"
    write_session(first, played(3, settings_of(3)))
    write_session(second, played(3, settings_of(3)))

    assert first.read_bytes() == second.read_bytes()


def test_the_recorded_day_misses_nothing_and_annoys_nobody_now() -> None:
    """The day of the recording, played by the program as it is."""
    found = judge(of_session(played(SHIPPED, settings_of(SHIPPED))), TABLE)

    assert {each.verdict for each in found.needs} == {"met"}
    assert found.annoying == 0
    assert report.faults({"day": found}) == "Nothing was late, missed or annoying.\n"


def test_the_recorded_day_with_the_executive_is_as_it_must_be() -> None:
    """What was recorded of it missed nothing and annoyed nobody, whatever is played now."""
    found = judge(of_session(read_session(TOLD)), TABLE)
    assert TOLD.stat().st_size <= 300_000
    assert (found.count("met"), found.annoying) == (len(found.needs), 0)


@pytest.mark.parametrize("file", [RECORDING, TOLD], ids=["before", "now"])
async def test_the_recorded_day_is_small_and_verifies(file: Path) -> None:
    """At most 300 KB, and decided again byte for byte."""
    session = read_session(file)
    found = await verified(session)

    assert RECORDING.stat().st_size <= 300_000
    assert found.divergence is None
    assert found.identical == found.total > 300


def test_the_page_shows_the_recorded_day() -> None:
    """The recording's line of the page is what the judge says of it."""
    found = judge(of_session(read_session(RECORDING)), TABLE)
    line = report.table({"day": found}).splitlines()[-1]

    assert line in PAGE.read_text(encoding="utf-8")
    assert report.details("day", found).count("\n") == (
        len(found.needs) + len(found.sayings) + 2
    )
    assert "| annoyance | times | days |" in report.faults({"day": found})
