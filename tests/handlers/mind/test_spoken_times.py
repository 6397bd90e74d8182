"""Spans and times of the day in a person's words: understood, or said not to be."""

from datetime import UTC, datetime, timedelta

import pytest

from echoic.packs import phrases as shipped
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.executive import Muted, ReminderSet
from schemas.state import limits
from schemas.values.phrase_matching import heard
from schemas.values.phrases import Phrases
from schemas.values.spoken_times import in_figures
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.handlers.mind.test_told import alive, held, says
from tests.scenario import one, said

SPANS = [
    ("ten minutes", "zehn Minuten", 600),
    ("90 seconds", "90 Sekunden", 90),
    ("half an hour", "eine halbe Stunde", 1_800),
    ("a quarter of an hour", "eine Viertelstunde", 900),
    ("three quarters of an hour", "eine Dreiviertelstunde", 2_700),
    ("an hour and a half", "anderthalb Stunden", 5_400),
    ("one and a half hours", "eineinhalb Stunden", 5_400),
    ("1.5 hours", "1,5 Stunden", 5_400),
    ("two hours and a half", "zweieinhalb Stunden", 9_000),
    ("an hour and ten minutes", "eine Stunde und zehn Minuten", 4_200),
    ("1 hour 20 minutes", "1 Stunde 20 Minuten", 4_800),
    ("twenty-five minutes", "fünfundzwanzig Minuten", 1_500),
    ("1h 30min", "1h 30min", 5_400),
    ("45m", "45min", 2_700),
    ("two days", "zwei Tage", 172_800),
    ("a couple of minutes", "zwei Minuten", 120),
]
"""In English, in German, in seconds."""


@pytest.mark.parametrize(("english", "german", "seconds"), SPANS)
def test_spans_are_understood(english: str, german: str, seconds: int) -> None:
    """Wherever a phrase takes one, in either language."""
    for text in (
        f"be quiet for {english}",
        f"Mute for {english}, please!",
        f"stop telling me about the oven for {english}",
        f"focus on the exam for {english}",
        f"remind me in {english} to call Lee",
        f"remind me to call Lee in {english}",
        f"sei {german} still",
        f"Sei bitte {german} lang still!",
        f"nichts mehr über den Ofen für {german}",
        f"konzentrier dich {german} lang auf die Prüfung",
        f"erinnere mich in {german} an die Wäsche",
    ):
        found = heard(text, shipped.shipped(("en", "de")))
        assert found is not None, text
        assert found.span_s == seconds, text
        assert not found.is_unclear
        # What is taken for a topic has no word of the time.
        assert found.topic in {
            "", "the oven", "the exam", "call lee", "den ofen", "die prüfung", "die wäsche",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("be quiet until six", 18_000),
        ("be quiet until 6pm", 18_000),
        ("be quiet until six in the morning", 61_200),
        ("be quiet until 6:30 am", 63_000),
        ("be quiet until half past six", 19_800),
        ("be quiet until a quarter to two", 2_700),
        ("be quiet until quarter to one", 42_300),
        ("be quiet until midnight", 39_600),
        ("be quiet until noon", 82_800),
        ("be quiet until 18:15", 18_900),
        ("sei bis sechs Uhr still", 18_000),
        ("sei bis halb sieben still", 19_800),
        ("Sei still bis Viertel vor zwei", 2_700),
        ("sei bis sechs Uhr abends still", 18_000),
        ("lass mich bis Mitternacht in Ruhe", 39_600),
        ("remind me to eat at half past six", 19_800),
        ("remind me at six o'clock to eat", 18_000),
        ("focus on the exam until 14 00", 3_600),
    ],
)
def test_times_of_the_day_are_understood(words: str, seconds: int) -> None:
    """It is one o'clock; an hour without its half of the day is the next one."""
    scenario = alive()
    scenario.at = factories.NOON.replace(hour=13) - timedelta(seconds=1)

    says(scenario, words)

    known = held(scenario)
    ends = [each.until for each in known.peace.restraints]
    ends += [each.until for each in known.peace.modulations]
    (end,) = ends + [each.due for each in known.reminders.awaited]
    assert end is not None
    assert end - scenario.at == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("be quiet for ten", "I did not understand how long; quiet for 10 min."),
        (
            "be quiet for many minutes",
            "I did not understand how long; quiet for 10 min.",
        ),
        ("be quiet for 0 minutes", "I did not understand how long; quiet for 10 min."),
        ("be quiet for -5 minutes", "I did not understand how long; quiet for 10 min."),
        ("be quiet until the cows are home", "I did not understand how long"),
        ("mute for ages", "I did not understand how long; I'll say nothing until"),
        ("remind me in a jiffy to call Lee", "I did not understand when."),
        ("remind me at 25", "I did not understand when."),
        ("remind me tomorrow", "I did not understand when."),
        ("remind me to call Lee", "I did not understand when."),
        (
            "sei 99 Dekaden still",
            "Ich habe nicht verstanden, wie lange; ich bin 10 min",
        ),
        ("Ruhe für immer", "Ich habe nicht verstanden, wie lange"),
        ("erinnere mich irgendwann", "Ich habe nicht verstanden, wann."),
        ("sei nicht still", None),
        ("sei nie wieder still", None),
    ],
)
def test_what_is_not_understood_is_said(words: str, answer: str | None) -> None:
    """And what is done instead; what may mean something else is for the model."""
    scenario = alive()

    turn = says(scenario, words)

    if answer is None:
        assert said(turn, ModelAsked)
        return
    decided = one(turn, Decided)
    assert decided.path == "acknowledged"
    assert (decided.text or "").startswith(answer)
    assert not held(scenario).reminders.awaited
    for each in held(scenario).peace.restraints:
        until = None if each.mode == "mute" else scenario.at + timedelta(minutes=10)
        assert each.until == until


def test_a_reply_tells_the_time_that_was_said() -> None:
    """A mute for a time is not said to last until it is taken back."""
    scenario = alive()

    texts = [
        one(says(scenario, each), Decided).text
        for each in (
            "stop telling me about rain for half an hour",
            "focus on the exam for two hours",
            "talk less for 90 seconds",
            "remind me in 36 hours",
            "mute for an hour and a half",
        )
    ]

    assert texts == [
        "OK, I'll stop telling you about rain for 30 min.",
        "OK, the exam it is, for 2 h.",
        "OK, I'll say less for 2 min.",
        "OK, I'll remind you in 1 d 12 h, on Wednesday, 6 May, at 00:00.",
        "OK, I'll say nothing for 1 h 30 min, or until you say: unmute.",
    ]
    suppressed = next(iter(held(scenario).peace.modulations))
    # The topic is known by its vector, though a time follows it.
    assert suppressed.vector == factories.embed("rain")
    lasts = [
        None if each.until is None else (each.until - each.since).total_seconds()
        for each in held(scenario).peace.modulations
    ]
    assert lasts == [1_800, 7_200, 90]


def test_phrases_of_before_are_read_as_they_were() -> None:
    """A log holds the words of its day: no fractions, and nothing that is unclear."""
    (now,) = shipped.shipped(("en",))
    new = {
        "fractions",
        "joints",
        "day_parts",
        "before_hours",
        "times",
        "timed",
        "unclear",
        "calendar",
    }
    before = Phrases.model_validate(now.model_dump(exclude=new))

    assert not any(getattr(before, each) for each in new)
    for text in (
        "be quiet for an hour and a half",
        "be quiet for 1.5 hours",
        "be quiet for twenty five minutes",
        "be quiet for many minutes",
        "be quiet for -5 minutes",
        "be quiet until 6pm",
        "don't please tell me about rain",
    ):
        assert heard(text, [before]) is None, text
    old = heard("be quiet for ten minutes", [before])
    assert old is not None
    assert old.span_s == 600.0


@pytest.mark.parametrize(
    ("seconds", "figures"),
    [
        (0.4, "1 s"), (59, "59 s"), (59.5, "1 min"), (600, "10 min"), (601, "11 min"),
        (3_600, "1 h"), (3_601, "1 h 1 min"), (86_399, "1 d"), (90_000, "1 d 1 h"),
    ],
)  # fmt: skip
def test_spans_in_figures(seconds: float, figures: str) -> None:
    """Rounded up, in at most two units."""
    assert in_figures(seconds) == figures


def test_a_span_too_long_is_not_understood() -> None:
    """Rather than refused without a word."""
    scenario = alive()

    says(scenario, "mute for 999999 weeks")

    (mute,) = held(scenario).peace.restraints
    assert (mute.mode, mute.until) == ("mute", None)
    scenario.control(Muted(mode="mute", off=True))
    assert not held(scenario).peace.restraints


def test_a_reminder_too_many_is_refused_in_words() -> None:
    """There may be a hundred; each that was said makes room."""
    scenario = alive()
    for index in range(limits.REMINDERS):
        scenario.control(ReminderSet(text=f"tea {index}", in_s=3_600.0))

    refused = one(says(scenario, "remind me in an hour to call Lee"), Decided).text

    assert refused == (
        "I can't: there are too many reminders. Cancel one, or wait until one was said."
    )
    assert len(held(scenario).reminders.awaited) == limits.REMINDERS


def test_a_time_that_comes_twice_is_the_next_of_both() -> None:
    """Asked between the two, it is the second, an hour later, and not tomorrow's."""
    scenario = alive()
    executive = {
        "phrases": shipped.shipped(("en", "de")), "timezone": "Europe/Berlin",
    }  # fmt: skip
    scenario.control(
        factories.mind_started(relevance=0.5, executive=executive), agent=SHARED_AGENT
    )
    scenario.at = datetime(2026, 10, 25, 0, 44, 59, tzinfo=UTC)
    says(scenario, "remind me at 2:30 am to turn the roast")
    (reminder,) = held(scenario).reminders.awaited

    assert reminder.due == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


def test_a_tables_words_are_compared_as_what_is_said() -> None:
    """A pack's own table may have ß, capitals and letters in two parts."""
    german = shipped.shipped(("de",))[0].calendar
    assert german is not None
    written = {
        "language": "de",
        "courtesies": ["Bitte"],
        "numbers": {"Dreißig": 30},
        "units": {"MINUTEN": 60, "wo\u0308chlein": 604_800},
        "fractions": {"und eine Halbe": 0.5},
        "calendar": {**german.model_dump(), "days": {"Außermorgen": 3}},
        "patterns": {"quiet": ["sei {span} still", "still bis {time}"]},
        "replies": {"quiet": "Gut."},
        "refusal": "Nein.",
    }
    own = Phrases.model_validate(written)

    span = heard("Sei dreißig Minuten still, bitte!", (own,))
    week = heard("sei dreissig wöchlein still", (own,))
    day = heard("still bis außermorgen", (own,))
    assert None not in (span, week, day)
    assert (span and span.span_s, week and week.span_s) == (1_800, 30 * 604_800)
    assert day
    assert day.whens[0].days == 3
    for each in shipped.shipped(("en", "de")):
        assert Phrases.model_validate_json(each.model_dump_json()) == each
