"""Moments as people say them, in English and German: read whole, or not understood."""

from collections.abc import Iterable
from datetime import UTC, datetime

import pytest

from echoic.packs import phrases as shipped
from schemas.values import recurrence, timezones
from schemas.values.phrase_matching import heard
from schemas.values.unicode_text import words

ZONE = "Europe/Berlin"
NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
"""A Friday, at one o'clock there."""
KNOWN = shipped.shipped(("en", "de"))

ASKED = [
    # Of days.
    ("remind me to call Zoë tomorrow at 7", "11-28 07:00"),
    ("remind me tomorrow at 7 to call Zoë", "11-28 07:00"),
    ("remind me tomorrow to call Zoë at 7", "11-28 07:00"),
    ("tomorrow at 7 remind me to call Zoë", "11-28 07:00"),
    ("remind me at 7 tomorrow to call Zoë", "11-28 07:00"),
    ("remind me to call Zoë at 7 tomorrow", "11-28 07:00"),
    ("remind me tomorrow at nine", "11-28 09:00"),
    ("remind me tomorrow at half past nine", "11-28 09:30"),
    ("remind me tomorrow morning to call Zoë", "11-28 08:00"),
    ("remind me tomorrow morning at 7:15 to call Zoë", "11-28 07:15"),
    ("remind me tomorrow evening to call Zoë", "11-28 19:00"),
    ("remind me tomorrow night at 11 to lock up", "11-28 23:00"),
    ("remind me tomorrow at 3 pm about the parcel", "11-28 15:00"),
    ("remind me tomorrow afternoon at 3 about the parcel", "11-28 15:00"),
    ("remind me the day after tomorrow at noon", "11-29 12:00"),
    ("remind me tonight to take the bins out", "11-27 20:00"),
    ("remind me to take the bins out tonight at 9", "11-27 21:00"),
    ("remind me at 9 tonight to take the bins out", "11-27 21:00"),
    ("remind me tonight at one to sleep", "11-28 01:00"),
    ("remind me this evening to water the plants", "11-27 19:00"),
    ("remind me this afternoon at 4 to eat", "11-27 16:00"),
    ("remind me today at 6 to eat", "11-27 18:00"),
    ("remind me in the evening to eat", "11-27 19:00"),
    ("remind me in the morning to call Zoë", "11-28 08:00"),
    ("remind me at 7 in the morning to call Zoë", "11-28 07:00"),
    ("remind me at 7 o'clock in the evening", "11-27 19:00"),
    ("remind me on Monday at 8 to call Zoë", "11-30 08:00"),
    ("remind me monday morning to call Zoë", "11-30 08:00"),
    ("remind me next Tuesday at 14:30 about the dentist", "12-01 14:30"),
    ("remind me to pay the rent on Friday at 8", "12-04 08:00"),
    ("remind me on Monday and Thursday at 8 to run", "11-30 08:00, 12-03 08:00"),
    ("remind me on the 3rd of December at 9 to call", "12-03 09:00"),
    ("remind me on December 3rd at 9 to call", "12-03 09:00"),
    ("remind me on 3 December 2027 at 9 to call", "2027-12-03 09:00"),
    ("remind me on the twenty-first of January at noon", "2027-01-21 12:00"),
    ("remind me on May 5 at 10 am about the birthday", "2027-05-05 10:00"),
    ("remind me on the 1st at 9 to pay", "12-01 09:00"),
    ("remind me on 2027-02-01 at 9 to pay", "2027-02-01 09:00"),
    ("remind me in two days at nine to pay", "11-29 09:00"),
    ("remind me in a week to pay", "12-04 13:00"),
    ("remind me in three days", "11-30 13:00"),
    # Of spans and times of the day.
    ("remind me in ten minutes to stir", "11-27 13:10"),
    ("remind me to stir in an hour and a half", "11-27 14:30"),
    ("remind me to stir ten minutes from now", "11-27 13:10"),
    ("remind me in ten minutes' time to stir", "11-27 13:10"),
    ("remind me at six to eat", "11-27 18:00"),
    ("remind me at 7 a.m. to run", "11-28 07:00"),
    ("remind me at 7am to run", "11-28 07:00"),
    ("remind me at 7p.m. to run", "11-27 19:00"),
    ("remind me at 8:30pm to run", "11-27 20:30"),
    ("remind me to call mom at 7:30am tomorrow", "11-28 07:30"),
    ("remind me at 7pm and at 9:15pm to eat", "11-27 19:00, 11-27 21:15"),
    ("remind me at quarter to 7pm to eat", "11-27 18:45"),
    ("remind me by 5 to leave", "11-27 17:00"),
    ("remind me to leave at noon", "11-28 12:00"),
    ("remind me at quarter to three to leave", "11-27 14:45"),
    ("remind me at 18:30 to boil the eggs for ten minutes", "11-27 18:30"),
    ("remind me at 8 to say good morning to Lee", "11-27 20:00"),
    # As speech recognition writes them, and to 24 hours.
    ("remind me of milk at 10 to 5", "11-27 16:50"),
    ("remind me about milk at 20 past 5", "11-27 17:20"),
    ("remind me at 10 to call Lee", "11-27 22:00"),
    ("remind me to get up at 630 tomorrow", "11-28 06:30"),
    ("remind me at 1830 to eat", "11-27 18:30"),
    ("set an alarm for 836pm", "11-27 20:36"),
    ("remind me at 09:05 to call", "11-28 09:05"),
    ("remind me at 9:05 to call", "11-27 21:05"),
    ("remind me tonight at 5:30 p.m. to pick them up", "11-27 17:30"),
    ("erinnere mich um 10 vor 8 an Lee", "11-27 19:50"),
    ("erinnere mich um 5 vor halb 8 an Lee", "11-27 19:25"),
    ("erinnere mich um 06:30 an Lee", "11-28 06:30"),
    # In other words.
    ("create a reminder to call Lee at 5", "11-27 17:00"),
    ("add a reminder for Monday at 9 to call Lee", "11-30 09:00"),
    ("schedule a reminder to call Lee for tomorrow at 9", "11-28 09:00"),
    ("set alarm for 7", "11-27 19:00"),
    ("alarm for 7 tomorrow", "11-28 07:00"),
    ("stelle den Wecker auf 7 Uhr", "11-27 19:00"),
    ("stell mir einen Wecker für morgen um 6:30", "11-28 06:30"),
    ("Wecker auf halb acht", "11-27 19:30"),
    ("erstelle eine Erinnerung an Lee für morgen um 9", "11-28 09:00"),
    # Several.
    ("remind me to take the pills at 8 and at 20", "11-28 08:00, 11-27 20:00"),
    ("remind me to take the pills at 8 and 20", "11-28 08:00, 11-27 20:00"),
    (
        "remind me to drink at 8, 12 and 20",
        "11-28 08:00, 11-28 12:00, 11-27 20:00",
    ),
    ("remind me to stretch in 20 minutes and again in 40 minutes",
     "11-27 13:20, 11-27 13:40"),
    ("remind me tomorrow at 8 and at 20 to take the pills", "11-28 08:00, 11-28 20:00"),
    ("remind me to eat at 3 pm and at 7 pm", "11-27 15:00, 11-27 19:00"),
    ("remind me tomorrow at 7 and on Monday at 9 to call", "11-28 07:00, 11-30 09:00"),
    # What comes again.
    ("remind me every day at 8 pm to take the pills", "11-27 20:00 daily"),
    ("remind me every day at eight to take the pills", "11-28 08:00 daily"),
    ("remind me to take the pills every day at eight", "11-28 08:00 daily"),
    ("remind me daily at 7 to run", "11-28 07:00 daily"),
    ("remind me every morning to run", "11-28 08:00 daily"),
    ("remind me every morning at 6:30 to run", "11-28 06:30 daily"),
    ("remind me every evening at 9 to lock up", "11-27 21:00 daily"),
    ("remind me every night at ten to lock up", "11-27 22:00 daily"),
    ("remind me every Monday at 8 to run", "11-30 08:00 weekly 0"),
    ("remind me on Mondays at 8 to run", "11-30 08:00 weekly 0"),
    ("remind me every Monday and Thursday at 8 to run", "11-30 08:00 weekly 0 3"),
    ("remind me every weekday at 7 to get up", "11-30 07:00 weekly 0 1 2 3 4"),
    ("remind me on weekdays at 7 to get up", "11-30 07:00 weekly 0 1 2 3 4"),
    ("remind me to take the pills every day at 8 and at 20",
     "11-28 08:00 daily, 11-27 20:00 daily"),
    ("remind me every two hours to drink", "11-27 15:00 every 7200"),
    ("remind me every hour to drink", "11-27 14:00 every 3600"),
    ("remind me every 30 minutes to stretch", "11-27 13:30 every 1800"),
    ("remind me every month on the 1st at 9 to pay", "12-01 09:00 monthly"),
    ("remind me every year on May 5 at 9 about the birthday", "2027-05-05 09:00 yearly"),
    ("wake me up tomorrow at 6:30", "11-28 06:30"),
    ("set an alarm for 7", "11-27 19:00"),
    ("set an alarm for tomorrow at 7", "11-28 07:00"),
    ("set a reminder for tomorrow at nine to call Lee", "11-28 09:00"),
    ("set a reminder to call Lee tomorrow at nine", "11-28 09:00"),
    # In German.
    ("Erinnere mich morgen um 7 an Zoë", "11-28 07:00"),
    ("erinnere mich morgen um sieben Uhr an die Wäsche", "11-28 07:00"),
    ("erinnere mich an die Wäsche morgen um sieben", "11-28 07:00"),
    ("erinnere mich morgen früh an die Wäsche", "11-28 08:00"),
    ("erinnere mich morgen früh um halb sieben an die Wäsche", "11-28 06:30"),
    ("erinnere mich morgen Abend um acht an die Tonne", "11-28 20:00"),
    ("erinnere mich heute Abend an die Tonne", "11-27 19:00"),
    ("erinnere mich heute Abend um neun Uhr an die Tonne", "11-27 21:00"),
    ("erinnere mich übermorgen um 12 Uhr an Lee", "11-29 12:00"),
    ("erinnere mich am Montag um 8 an Lee", "11-30 08:00"),
    ("erinnere mich am Montagmorgen an Lee", "11-30 08:00"),
    ("erinnere mich Freitagabend an Lee", "11-27 19:00"),
    ("erinnere mich am Montagmorgen um 7 an Lee", "11-30 07:00"),
    ("erinnere mich um neun Uhr dreißig an Lee", "11-27 21:30"),
    ("erinnere mich um achtzehn Uhr fünfundvierzig an Lee", "11-27 18:45"),
    ("erinnere mich um 9 Uhr eine Pizza zu bestellen", "11-27 21:00"),
    ("erinnere mich in fünfunddreißig Minuten an Lee", "11-27 13:35"),
    ("erinnere mich am einunddreißigsten Dezember um 9 an Lee", "12-31 09:00"),
    ("erinnere mich nächsten Dienstag um 14 Uhr 30 an Lee", "12-01 14:30"),
    ("erinnere mich am 3. Dezember um 9 Uhr an Lee", "12-03 09:00"),
    ("erinnere mich am 3.12. um 9 Uhr an Lee", "12-03 09:00"),
    ("erinnere mich am ersten Mai um neun an Lee", "2027-05-01 09:00"),
    ("erinnere mich in zwei Tagen um neun an Lee", "11-29 09:00"),
    ("erinnere mich in zehn Minuten an den Tee", "11-27 13:10"),
    ("erinnere mich jeden Tag um acht an die Tabletten", "11-28 08:00 daily"),
    ("erinnere mich täglich um 20 Uhr an die Tabletten", "11-27 20:00 daily"),
    ("erinnere mich jeden Morgen um 6 an den Lauf", "11-28 06:00 daily"),
    ("erinnere mich jeden Montag um 8 an den Lauf", "11-30 08:00 weekly 0"),
    ("erinnere mich montags um 8 an den Lauf", "11-30 08:00 weekly 0"),
    ("erinnere mich jeden Montag und Donnerstag um 8 an den Lauf",
     "11-30 08:00 weekly 0 3"),
    ("erinnere mich werktags um 7 Uhr an Lee", "11-30 07:00 weekly 0 1 2 3 4"),
    ("erinnere mich alle zwei Stunden an das Wasser", "11-27 15:00 every 7200"),
    ("erinnere mich um 8 und um 20 Uhr an die Tabletten", "11-28 08:00, 11-27 20:00"),
    ("erinnere mich in 20 Minuten und noch einmal in 40 Minuten an Lee",
     "11-27 13:20, 11-27 13:40"),
    ("kannst du mich morgen um 7 an Zoë erinnern", "11-28 07:00"),
    ("weck mich morgen um halb sieben", "11-28 06:30"),
]  # fmt: skip

REFUSED = [
    "remind me at 2575 to call",
    "remind me at 690 to call",
    "remind me at half 630 to call",
    "erinner mich später nochmal",
    "remind me tomorrow to call Zoë",
    "remind me on Monday",
    "remind me later to call Zoë",
    "remind me to call Zoë sometime",
    "remind me to call Zoë soon",
    "remind me to call Zoë next week",
    "remind me to call Zoë at the weekend",
    "remind me to call Zoë in a week or two",
    "remind me every blue moon to eat",
    "remind me every other day at 8 to run",
    "remind me every day to run",
    "remind me every second Monday at 8 to run",
    "remind me every day at 8 until Friday to run",
    "remind me to run every day at 8 for a month",
    "remind me twice a day to drink",
    "remind me to eat at two at 7 pm",
    "remind me at 6 to call Zoë at 7",
    "remind me at 25 to call",
    "remind me at 8:75 to call",
    "remind me at 13 pm to call",
    "remind me at 13pm to call",
    "remind me at 20:30pm to call",
    "remind me tonight at 7 am to call",
    "remind me on the 31st of February at 9 to call",
    "remind me on December 40 at 9 to call",
    "remind me yesterday to call",
    "remind me today at 6 am to call",
    "remind me in -5 minutes to call",
    "remind me every 5 seconds to blink",
    "remind me tomorrow at 7ish to call",
    "remind me around dinner on Monday to call",
    "remind me to call Zoë tomorrow or on Monday",
    "remind me to pay the rent on the first of every month at 9",
    "remind me",
    "remind me this weekend to clean",
    "remind me 5 minutes before 8 to go",
    "remind me tomorrow between 8 and 9 to go",
    "remind me to turn it off at 9 and to sleep at 10",
    "set a timer for 5 min and another for 10 min",
    "erinnere mich am Wochenende um 10 an Lee",
    "erinnere mich irgendwann an Lee",
    "erinnere mich morgen an Lee",
    "erinnere mich nächste Woche an Lee",
    "erinnere mich jeden zweiten Tag um 8 an Lee",
    "erinnere mich um 25 Uhr an Lee",
    "erinnere mich um 9 Uhr 10 Minuten zu laufen",
    "erinnere mich um neun Uhr zehn Minuten zu laufen",
    "erinnere mich am 31. Februar um 9 an Lee",
    "erinnere mich jeden Tag an Lee",
    "erinnere mich gestern an Lee",
    "erinnere mich an Lee bis Freitag um 8",
]

UNTIL = [
    ("stop telling me about the weather until tomorrow", "11-28 00:00"),
    ("stop telling me about the weather until tomorrow morning", "11-28 08:00"),
    ("stop telling me about the weather until Monday at 8", "11-30 08:00"),
    ("don't tell me about the weather until six", "11-27 18:00"),
    ("no more about the weather until the evening", "11-27 19:00"),
    ("stop telling me about the weather until the cows come home", "?"),
    ("stop telling me about the weather for ages", "?"),
    ("stop telling me about the weather for the rest of the day", "11-28 00:00"),
    ("nichts mehr über das Wetter für den Rest des Tages", "?"),
    ("stop telling me about the weather every morning", "?"),
    ("be quiet until tomorrow", "11-28 00:00"),
    ("be quiet until tomorrow morning at 7", "11-28 07:00"),
    ("mute until Monday", "11-30 00:00"),
    ("be quiet tonight", "11-28 08:00"),
    ("could you be quiet tonight please", "11-28 08:00"),
    ("quiet this evening", "11-28 00:00"),
    ("leave me alone this afternoon", "11-27 18:00"),
    ("don't say anything tonight", "11-28 08:00"),
    ("be quiet this morning", "?"),
    ("be quiet tonight and tomorrow", "?"),
    ("be quiet at 8", "?"),
    ("be quiet tomorrow morning", "?"),
    ("sei heute Nacht still", "11-28 08:00"),
    ("kannst du heute Nacht still sein", "11-28 08:00"),
    ("sei still heute Abend", "11-28 00:00"),
    ("lass mich heute Nachmittag in Ruhe", "11-27 18:00"),
    ("sei morgen früh still", "?"),
    ("focus on the exam until 6 pm", "11-27 18:00"),
    ("nichts mehr über das Wetter bis morgen", "11-28 00:00"),
    ("bis morgen nichts mehr über das Wetter", "11-28 00:00"),
    ("sei bis morgen früh still", "11-28 08:00"),
    ("sei still bis Montag um 8 Uhr", "11-30 08:00"),
    ("nichts mehr über das Wetter bis irgendwann", "?"),
]


def told(text: str) -> str:
    """The moments of a sentence, in the zone; `?` if it is not understood."""
    found = heard(text, KNOWN)
    assert found is not None, "it is taken for no phrase"
    is_silent = not found.whens and found.span_s is None
    if found.is_unclear or (is_silent and found.means in ("remind", "timer")):
        return "?"
    seen = [_shown(each, found.means) for each in found.whens]
    return "?" if "" in seen else ", ".join(seen)


def _shown(when: recurrence.When, means: str) -> str:
    if means not in ("remind", "timer", "move", "snooze"):
        end = recurrence.began(when, NOW, ZONE)
        return _at(end) if end is not None and not when.is_repeated else ""
    if not when.has_time:
        return ""
    moments = recurrence.moments(when, NOW, ZONE)
    repeat = recurrence.repeat_of(when) if when.is_repeated else None
    again = _again(repeat) if repeat is not None else ""
    return ", ".join(f"{_at(each)}{again}" for each in moments)


def _at(moment: datetime) -> str:
    there = timezones.local(moment, ZONE)
    return f"{there:%m-%d %H:%M}" if there.year == 2026 else f"{there:%Y-%m-%d %H:%M}"


def _again(repeat: recurrence.Repeat) -> str:
    if repeat.every_s is not None:
        return f" every {repeat.every_s:g}"
    if repeat.day is not None:
        return " yearly" if repeat.month else " monthly"
    if repeat.weekdays == recurrence.EVERY_DAY:
        return " daily"
    return " weekly " + " ".join(map(str, repeat.weekdays))


@pytest.mark.parametrize(("text", "expected"), ASKED)
def test_moments_are_understood(text: str, expected: str) -> None:
    """With their days, and all of them; no word of a time stays in the topic."""
    assert told(text) == expected


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_left_over_is_not_understood(text: str) -> None:
    """Rather than set for another time than was said."""
    assert told(text) == "?"


@pytest.mark.parametrize(("text", "expected"), UNTIL)
def test_an_end_is_understood_or_nothing_is_promised(text: str, expected: str) -> None:
    """A day alone ends what was asked for as it begins."""
    assert told(text) == expected


def test_tables_have_the_words_that_are_looked_up() -> None:
    """Lower case, and "ss" for what German writes as one letter."""
    for language in KNOWN:
        calendar = language.calendar
        assert calendar is not None
        tables: list[Iterable[str]] = [
            language.numbers, language.units, language.fractions, language.before_hours,
            language.times, calendar.days, calendar.weekdays, calendar.months,
            calendar.ordinals, calendar.parts, calendar.parts_today, calendar.parts_daily,
            calendar.repeats, calendar.periods, calendar.left, language.phantoms,
        ]  # fmt: skip
        for each in (entry for table in tables for entry in table):
            assert " ".join(words(each)) == each
