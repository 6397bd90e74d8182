"""Reminders in words: set, told back, listed, moved, cancelled, snoozed; those that repeat."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from echoic.packs import phrases as shipped
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.executive import ReminderSet
from schemas.messages.results import ClockTicked
from schemas.values.phrase_matching import heard
from tests import factories
from tests.handlers.mind.test_told import GARDEN, held, says
from tests.scenario import Scenario, one, said

START = datetime(2026, 11, 27, 0, 7, 59, tzinfo=UTC)
"""A Friday, about eight minutes past one in Berlin."""


def at_home() -> Scenario:
    """A scenario in Berlin, with a model that is never to be asked."""
    executive = {"phrases": shipped.shipped(("en", "de")), "timezone": "Europe/Berlin"}
    scenario = Scenario(
        GARDEN, relevance=0.5, model=factories.MODEL, executive=executive
    )
    scenario.at = START
    return scenario


def answer(scenario: Scenario, text: str, person: str | None = "ana") -> str:
    """What is answered to words of a person's, without asking a model."""
    turn = says(scenario, text, person)
    assert not said(turn, ModelAsked), text
    return one(turn, Decided).text or ""


def rings(scenario: Scenario) -> Any:
    """The turn at the next reminder's time."""
    due = min(each.due for each in held(scenario).reminders.awaited)
    scenario.at = due - timedelta(seconds=1)
    return scenario.wait(1).tell(ClockTicked(due_at=due))


@pytest.mark.parametrize(
    ("words", "answered"),
    [
        (
            "remind me to call Zoë tomorrow at 7",
            "OK, I'll remind you tomorrow, Saturday, at 07:00.",
        ),
        (
            "remind me to take the pills at 8 and at 20",
            "OK, I'll remind you today at 08:00 and today at 20:00.",
        ),
        (
            "remind me every day at 8 pm to take the pills",
            "OK, I'll remind you every day at 20:00, first today at 20:00.",
        ),
        (
            "remind me on Mondays and Thursdays at 8 to run",
            "OK, I'll remind you every Monday and Thursday at 08:00, "
            "first on Monday, 30 November, at 08:00.",
        ),
        (
            "set a timer for ten minutes",
            "OK, your timer is up in 10 min, today at 01:18.",
        ),
        (
            "stop telling me about the weather until tomorrow",
            "OK, I'll stop telling you about the weather until tomorrow, Saturday, at 00:00.",
        ),
        (
            "be quiet until tomorrow morning",
            "OK, I'll be quiet until tomorrow, Saturday, at 08:00. I'll still warn you.",
        ),
        (
            "be quiet tonight",
            "OK, I'll be quiet until today at 08:00. I'll still warn you.",
        ),
        ("remind me today at 1 am to sleep", "I can't: that time is past, or there is"),
        ("remind me to call Zoë next week", "I did not understand when."),
        ("set a timer", "I did not understand how long."),
        ("set a timer for the pasta", "I did not understand how long."),
        ("what are my reminders?", "You have no reminders."),
        ("cancel my reminder", "There is no such reminder."),
        ("snooze", "There is nothing to say again"),
        (
            "Erinnere mich morgen um sieben an Zoë",
            "Gut, ich erinnere dich morgen, Samstag, um 07:00 Uhr.",
        ),
        (
            "erinnere mich jeden Tag um 20 Uhr an die Tabletten",
            "Gut, ich erinnere dich jeden Tag um 20:00 Uhr, zuerst heute um 20:00 Uhr.",
        ),
        (
            "stell einen Timer auf zehn Minuten",
            "Gut, der Timer endet in 10 min, heute um 01:18 Uhr.",
        ),
        ("welche Erinnerungen habe ich", "Du hast keine Erinnerungen."),
    ],
)
def test_what_will_be_done_is_said_back(words: str, answered: str) -> None:
    """With its day and time, in the person's zone; or that it was not understood."""
    assert answer(at_home(), words).startswith(answered)


def test_two_times_are_two_reminders_without_a_time_in_their_words() -> None:
    """The topic is as the person wrote it."""
    scenario = at_home()
    answer(scenario, "remind me to take Zoë's pills at 8 and at 20")

    assert [each.text for each in held(scenario).reminders.awaited] == [
        "You wanted me to remind you: take Zoë's pills."
    ] * 2
    assert [each.due.hour for each in held(scenario).reminders.awaited] == [7, 19]


def test_what_it_is_about_is_kept_as_written() -> None:
    """With letters that are others where words are compared."""
    scenario = at_home()
    answer(scenario, "erinnere mich morgen früh daran, die Blumen zu gießen")
    answer(scenario, "remind me to call O'Neil, Zoë's boss, tomorrow at 9")

    assert [each.text for each in held(scenario).reminders.awaited] == [
        "Ich sollte dich erinnern an: die Blumen zu gießen.",
        "You wanted me to remind you: call O'Neil, Zoë's boss.",
    ]


def test_what_is_not_understood_changes_nothing() -> None:
    """Neither a reminder nor a modulation is left behind."""
    scenario = at_home()
    for words in (
        "remind me every other day at 8 to run",
        "stop telling me about the weather until the cows come home",
        "watch for the post tomorrow",
    ):
        assert answer(scenario, words).startswith("I did not understand")

    assert not held(scenario).reminders.awaited
    assert not held(scenario).peace.modulations


def test_a_recurring_reminder_keeps_its_hour_across_a_change_of_the_clock() -> None:
    """Each is a decision of its own; the fold sets the next, in the zone."""
    scenario = at_home()
    scenario.at = datetime(2026, 10, 24, 12, 0, tzinfo=UTC)
    answer(scenario, "remind me every day at 8 to take the pills")
    texts, dues = [], []
    for _ in range(3):
        dues.append(held(scenario).reminders.awaited[0].due)
        texts.append(one(rings(scenario), DeliveryAsked).text)

    assert [f"{each:%d %H:%M}" for each in dues] == [
        "25 07:00", "26 07:00", "27 07:00",
    ]  # fmt: skip
    assert set(texts) == {"You wanted me to remind you: take the pills."}
    (left,) = held(scenario).reminders.awaited
    assert left.due.day == 28


def test_a_recurring_reminder_is_said_once_after_an_outage() -> None:
    """What came due meanwhile is left out, and its next time is to come."""
    scenario = at_home()
    answer(scenario, "remind me every hour to drink")
    scenario.at += timedelta(hours=5, minutes=30)
    turn = scenario.wait(1).tell(ClockTicked(due_at=scenario.at))

    assert len(said(turn, Decided)) == 1
    (left,) = held(scenario).reminders.awaited
    assert left.due - scenario.at == timedelta(minutes=30, seconds=-1)


def test_reminders_are_listed_moved_and_cancelled() -> None:
    """Those that concern the speaker, soonest first; of several one must be named."""
    scenario = at_home()
    answer(scenario, "remind me tomorrow at 7 to call Zoë")
    answer(scenario, "remind me every day at 20:00 to take the pills")
    answer(scenario, "remind me at 5 to feed the cat", person="ben")

    assert answer(scenario, "what are my reminders") == (
        "You have 2: take the pills, every day at 20:00; "
        "call Zoë, tomorrow, Saturday, at 07:00."
    )
    assert answer(scenario, "cancel my reminder").startswith("Which one? You have 2:")
    assert len(held(scenario).reminders.awaited) == 3
    assert answer(scenario, "move my reminder to call Zoë to Monday at nine") == (
        "OK, I'll remind you on Monday, 30 November, at 09:00 instead."
    )
    assert answer(scenario, "cancel the reminder to take the pills") == (
        "OK, I cancelled it: take the pills, every day at 20:00."
    )
    assert answer(scenario, "cancel my reminder") == (
        "OK, I cancelled it: call Zoë, on Monday, 30 November, at 09:00."
    )
    assert [each.by for each in held(scenario).reminders.awaited] == ["ben"]


def test_a_reminder_is_snoozed_by_who_heard_it() -> None:
    """For ten minutes or as long as was said; one that repeats stays as it is."""
    scenario = at_home()
    answer(scenario, "remind me every day at 8 to take the pills")
    rings(scenario)

    assert answer(scenario, "snooze", person="ben").startswith("There is nothing")
    assert answer(scenario, "snooze") == "OK, again in 10 min, today at 08:10."
    assert answer(scenario, "remind me again in half an hour") == (
        "OK, again in 30 min, today at 08:30."
    )
    assert len(held(scenario).reminders.awaited) == 3
    again = one(rings(scenario), DeliveryAsked)
    assert again.text == "You wanted me to remind you: take the pills."
    assert len(held(scenario).reminders.awaited) == 2


def test_a_timer_is_cancelled_as_one() -> None:
    """And not taken for another reminder."""
    scenario = at_home()
    answer(scenario, "remind me at 8 to stir")
    answer(scenario, "set a timer for ten minutes")

    assert answer(scenario, "stop the timer") == (
        "OK, I cancelled it: Your timer is up: 10 min, today at 01:18."
    )
    assert answer(scenario, "stop the timer") == "There is no timer."
    assert [each.text for each in held(scenario).reminders.awaited] == [
        "You wanted me to remind you: stir."
    ]


def test_none_is_set_where_not_all_fit() -> None:
    """A promise of two is not half kept."""
    scenario = at_home()
    for minute in range(99):
        scenario.control(ReminderSet(text="Stir.", in_s=3_600.0 + minute))

    refused = answer(scenario, "remind me to take the pills at 8 and at 20")

    assert refused.startswith("I can't: there are too many reminders.")
    assert len(held(scenario).reminders.awaited) == 99


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("cancel my reminder for tomorrow", "milk"),
        ("cancel my reminder for tomorrow morning", "milk"),
        ("cancel my reminder for tomorrow at seven", "milk"),
        ("lösche meine Erinnerung für morgen", "milk"),
        ("cancel my reminder for tonight", "bread"),
        ("cancel my reminder for Sunday", "eggs"),
        ("cancel my reminder for the milk", None),
        ("cancel my reminder for Monday", None),
        ("cancel my reminder for tomorrow at eight", None),
    ],
)
def test_a_reminder_is_meant_by_its_day(words: str, told: str | None) -> None:
    """What it is about goes first; else those that are due then."""
    scenario = at_home()
    for thing in ("tomorrow at 7 to buy milk", "tonight at 8 to buy bread"):
        answer(scenario, f"remind me {thing}")
    answer(scenario, "remind me on Sunday at noon to buy eggs")

    said_ = answer(scenario, words)

    if told is None:
        assert "no such reminder" in said_ or "milk" in said_
    else:
        assert told in said_
        assert not any(told in each.text for each in held(scenario).reminders.awaited)
        assert len(held(scenario).reminders.awaited) == 2


@pytest.mark.parametrize(
    ("words", "due"),
    [
        ("remind me today at midnight to sleep", "tomorrow, Saturday, at 00:00"),
        ("remind me at midnight to sleep", "tomorrow, Saturday, at 00:00"),
        ("erinnere mich heute um Mitternacht an den Müll", "morgen, Samstag, um 00:00"),
        ("erinnere mich um neun Uhr fünf an die Tabletten", "heute um 09:05 Uhr"),
        ("erinnere mich an die Tabletten um neun Uhr fünf", "heute um 09:05 Uhr"),
        ("weck mich um sechs Uhr fünf", "heute um 06:05 Uhr"),
        ("erinnere mich um neun Uhr fünf Eier zu kochen", "heute um 09:00 Uhr"),
        ("erinnere mich um neun Uhr an fünf Eier", "heute um 09:00 Uhr"),
    ],
)
def test_a_time_is_the_one_that_was_said(words: str, due: str) -> None:
    """Midnight is the coming one; minutes below ten follow an hour where nothing else fits."""
    assert due in answer(at_home(), words)


WAYS = [
    ("create a reminder to call Lee at 5", "remind", "call lee"),
    ("add a reminder for Monday at 9 to call Lee", "remind", "call lee"),
    ("set a reminder to call Lee for tomorrow at 5", "remind", "call lee"),
    ("erstelle eine Erinnerung an Lee für morgen um 9", "remind", "lee"),
    ("timer 10 minutes", "timer", ""),
    ("set a pasta timer for 10 minutes", "timer", "pasta"),
    ("set a 5 minute timer for the eggs", "timer", "the eggs"),
    ("setze einen Timer auf eine Stunde", "timer", ""),
    ("cancel my 10 minute timer", "cancel_timer", ""),
    ("cancel the pizza timer", "cancel_timer", "pizza"),
    ("breche den Timer ab", "cancel_timer", ""),
    ("Timer aus", "cancel_timer", ""),
    ("Timer löschen", "cancel_timer", ""),
    ("den Pizza Timer stoppen", "cancel_timer", "pizza"),
    ("turn off the alarm", "cancel", ""),
    ("mach den Wecker aus", "cancel", ""),
    ("stoppe alle Timer", "cancel_all", ""),
    ("clear all reminders", "cancel_all", ""),
    ("move my alarm to 7:30", "move", ""),
    ("what alarms do I have set", "reminders", ""),
    ("woran sollst du mich erinnern", "reminders", ""),
    ("snooze for another ten minutes", "snooze", ""),
    ("remind me in ten minutes again", "snooze", ""),
    ("erinner mich in fünf Minuten nochmal", "snooze", ""),
    ("erinner mich in fünf Minuten noch mal", "snooze", ""),
    ("erinnere mich um 8 daran noch einmal anzurufen", "remind", "noch einmal anzurufen"),
    ("do not disturb me until 6", "quiet", ""),
    ("sei für eine Stunde ruhig", "quiet", ""),
    ("nicht stören", "quiet", ""),
    ("du kannst wieder sprechen", "unmute", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "means", "topic"), WAYS)
def test_the_same_is_asked_for_in_many_ways(text: str, means: str, topic: str) -> None:
    """None of them is left to a model, which can set and cancel nothing."""
    found = heard(text, shipped.shipped(("en", "de")))

    assert found is not None
    assert (found.means, found.topic, found.is_unclear) == (means, topic, False)


def test_timers_have_names() -> None:
    """By which, or by how long they run, one of several is cancelled."""
    scenario = at_home()
    answer(scenario, "set a pasta timer for ten minutes")
    answer(scenario, "set a timer for an hour")

    assert answer(scenario, "cancel the rice timer") == "There is no timer."
    assert answer(scenario, "cancel the pasta timer").startswith(
        "OK, I cancelled it: Your timer is up: pasta, 10 min"
    )
    assert answer(scenario, "cancel my one hour timer").startswith("OK, I cancelled it")
    assert not held(scenario).reminders.awaited
