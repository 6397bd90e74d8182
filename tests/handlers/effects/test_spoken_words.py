"""Words for speech: what one says of a text, in English and German."""

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from echoic import doctor
from echoic.config.load import load
from handlers.effects.speech import Speaker, SpeechCommand
from handlers.effects.spoken_words import _numbers, spoken, with_numbers
from tests.handlers.effects.test_speech import speech_asked

CASES = [
    # Mark-up.
    ("**Hello** there.", "Hello there."),
    ("__Hello__ there.", "Hello there."),
    ("***Really*** now.", "Really now."),
    ("That is ~~wrong~~ right.", "That is wrong right."),
    ("# Weather\nIt is sunny.", "Weather. It is sunny."),
    ("## What now?\nGo in.", "What now? Go in."),
    ("> It rains.\n> Take care.", "It rains. Take care."),
    ("First line\nof one sentence.", "First line of one sentence."),
    ("One paragraph\n\nAnother one", "One paragraph. Another one"),
    ("- milk\n- eggs\n- bread", "milk. eggs. bread."),
    ("You need:\n* milk\n* eggs", "You need: milk. eggs."),
    ("1. Open it.\n2. Close it.", "Open it. Close it."),
    ("- [ ] milk\n- [x] eggs", "milk. eggs."),
    ("Before\n\n---\n\nAfter", "Before. After"),
    ("Run `echoic up` now.", "Run echoic up now."),
    ("The file `snake_case_name` is there.", "The file snake_case_name is there."),
    ("Look:\n```python\nprint(1)\n```\nThat is all.", "Look: That is all."),
    ("<b>Hello</b><br>there", "Hello there"),
    ("Salt &amp; pepper", "Salt & pepper"),
    ("It costs \\*five\\* euros", "It costs *five* euros"),
    ("#dinner is ready", "dinner is ready"),
    ("Note[^1] this.", "Note this."),
    # Tables.
    ("| room | warmth |\n|---|---|\n| hall | 20 |\n| bath | 24 |",
     "room, warmth. hall, 20. bath, 24."),
    ("Raum | Grad | gut\n--- | --- | ---\nFlur | 20 | ja",
     "Raum, Grad, gut. Flur, 20, ja."),
    # Links.
    ("See [the page](https://example.org/a?b=c).", "See the page."),
    ("See https://www.example.org/a/b?c=d.", "See example.org."),
    ("See <https://example.org/a>.", "See example.org."),
    ("![a cat](cat.png) is here", "a cat is here"),
    ("Mehr auf https://wetter.example/heute, dort steht es.",
     "Mehr auf wetter.example, dort steht es."),
    # Emoji.
    ("It is sunny ☀️ today 😀.", "It is sunny today."),
    ("👍🏽 Done!", "Done!"),
    ("👨‍👩‍👧 The family is home.", "The family is home."),
    ("Off to Berlin 🇩🇪!", "Off to Berlin!"),
    ("Great :) see you", "Great see you"),
    ("Schön! 🎉🎉", "Schön!"),
    ("Good :thumbsup:", "Good"),
    ("It is 20 °C and costs 5 €.", "It is 20 °C and costs 5 €."),
    ("😀", ""),
    # Emphasis is kept.
    ("You *must* go.", "You must go."),
    ("You _must_ go.", "You must go."),
    ("*Never* do that.", "Never do that."),
    ("I said *no*.", "I said no."),
    ("That is *really very* good.", "That is really very good."),
    ("Du *musst* gehen.", "Du musst gehen."),
    ("Das ist *nicht* gut.", "Das ist nicht gut."),
    ("*Nie* wieder!", "Nie wieder!"),
    ("Ich sagte *nein*.", "Ich sagte nein."),
    # A stage direction goes.
    ("*waves* Hello!", "Hello!"),
    ("Hello! *waves*", "Hello!"),
    ("*Smiles softly.* Yes, of course.", "Yes, of course."),
    ("Well *scratches head* I think so.", "Well I think so."),
    ("Fine. *puts the kettle on* Tea?", "Fine. Tea?"),
    ("(laughs) That is good.", "That is good."),
    ("[smiling] Welcome home.", "Welcome home."),
    ("I see (it is late).", "I see (it is late)."),
    ("*lächelt* Guten Abend!", "Guten Abend!"),
    ("Na gut. *seufzt leise*", "Na gut."),
    ("(räuspert sich) Es regnet.", "Es regnet."),
    ("*waves*", ""),
    # How it is to be said, which is no word of it.
    ("[happy] It is great.", "It is great."),
    ("[inquisitive] What is this?", "What is this?"),
    ("(happy) It is great.", "It is great."),
    ("[mood: sad] It rains.", "It rains."),
    ("Well, [pause] yes.", "Well, yes."),
    ("<emotion>happy</emotion> It is great.", "It is great."),
    ("[traurig] Es regnet.", "Es regnet."),
    ("(sad) but true", "(sad) but true"),
    ("I am (happy) here.", "I am (happy) here."),
    ("*She smiles at you.* Hello.", "Hello."),
    ("*He opens it.* Come in.", "He opens it. Come in."),
    ("*sie lächelt* Hallo.", "Hallo."),
    # Where it was read.
    ("It rains [1][2].", "It rains."),
    ("It rains [3, 4], they say.", "It rains, they say."),
    ("It rains【1†source】.", "It rains."),
    ("[1] The almanac says so.", "[1] The almanac says so."),
    ("See [the page](https://example.org/a_(b)).", "See the page."),
    ("See [2](https://example.org).", "See 2."),
    # What cannot be seen, and half of an emphasis.
    ("Hello\u200bthere, sun\u00adny\u202e day\ufeff.", "Hellothere, sunny day."),
    ("It is **really", "It is really"),
    ("It is really**", "It is really"),
    ("2**3 is 8, _x_", "2**3 is 8, x"),
    # No mark-up at all.
    ("5 * 3 * 2 is 30", "5 * 3 * 2 is 30"),
    ("It is -5 degrees.", "It is -5 degrees."),
    ("We are #1 in C#.", "We are #1 in C#."),
    ("3 < 5 and 7 > 2", "3 < 5 and 7 > 2"),
    ("Wait... what?", "Wait... what?"),
    ("Küche: 20,5 Grad", "Küche: 20,5 Grad"),
    ("", ""),
]  # fmt: skip


ENGLISH = [
    ("It is 21.5 °C.", "It is twenty-one point five degrees Celsius."),
    ("3 km/h", "three kilometres per hour"),
    ("50% off", "fifty percent off"),
    ("7:30", "seven thirty"),
    ("at 7:05 am", "at seven oh five am"),
    ("7:00", "seven o'clock"),
    ("at 7:00 pm", "at seven pm"),
    ("19:00", "nineteen hundred"),
    ("0:15", "zero fifteen"),
    ("1 °C", "one degree Celsius"),
    ("-5 °C", "minus five degrees Celsius"),
    ("It is -5 degrees", "It is minus five degrees"),
    ("\u22120.5 °C", "minus zero point five degrees Celsius"),
    ("1,234 steps", "one thousand two hundred and thirty-four steps"),
    ("1.234", "one point two three four"),
    ("20,5 degrees", "twenty point five degrees"),
    ("in 1999 it", "in nineteen ninety-nine it"),
    ("in 2026", "in twenty twenty-six"),
    ("May 1", "May first"),
    ("1 May", "the first of May"),
    ("on the 1 May", "on the first of May"),
    ("May 2026", "May twenty twenty-six"),
    ("21st century", "twenty-first century"),
    ("the 30s", "the 30s"),
    ("1990s", "1990s"),
    ("v1.2.3", "v1.2.3"),
    ("version 3.5", "version 3.5"),
    ("1.2.3", "1.2.3"),
    ("192.168.1.10", "192.168.1.10"),
    ("+49 30 123456", "plus four nine, three zero, one two three four five six"),
    ("0171 2345678", "zero one seven one, two three four five six seven eight"),
    ("code 4711", "code four seven one one"),
    ("4711234567", "four seven one one two three four five six seven"),
    ("007", "zero zero seven"),
    ("MP3", "MP3"),
    ("A4", "A4"),
    ("3D", "3D"),
    ("COVID-19", "COVID-19"),
    ("5-minute", "five-minute"),
    ("5-10 minutes", "5-10 minutes"),
    ("5-10 min", "five to ten minutes"),
    ("555-1234", "555-1234"),
    ("2026-11-28", "2026-11-28"),
    ("28/11", "28/11"),
    ("24/7", "24/7"),
    ("$3.50", "three dollars fifty"),
    ("€5", "five euros"),
    ("1 €", "one euro"),
    ("3.50 €", "three euros fifty"),
    ("5,000,000", "five million"),
    ("5 * 3 * 2 is 30", "five * three * two is thirty"),
    ("We are #1", "We are #1"),
    ("Wait 10 s.", "Wait ten seconds."),
    ("I have 1.", "I have one."),
    ("7:30:15", "7:30:15"),
    ("20.50 m", "twenty point five zero metres"),
    ("5 m²", "five square metres"),
    ("0.5 l", "zero point five litres"),
    ("No. 5", "No. five"),
    ("100 W", "one hundred watts"),
    ("192.168.100.200", "192.168.100.200"),
    ("12.345.678", "12.345.678"),
    ("5x", "5x"),
    ("01/02/2026", "01/02/2026"),
    ("$1,234.56", "one thousand two hundred and thirty-four dollars fifty-six"),
]  # fmt: skip

GERMAN = [
    ("Es sind 21,5 °C.", "Es sind einundzwanzig Komma fünf Grad Celsius."),
    ("21,5 Grad", "einundzwanzig Komma fünf Grad"),
    ("21,5°", "einundzwanzig Komma fünf Grad"),
    ("3 km/h", "drei Kilometer pro Stunde"),
    ("50 %", "fünfzig Prozent"),
    ("um 7:30", "um sieben Uhr dreißig"),
    ("um 7:30 Uhr", "um sieben Uhr dreißig"),
    ("7.30 Uhr", "sieben Uhr dreißig"),
    ("7 Uhr", "sieben Uhr"),
    ("21:01", "einundzwanzig Uhr eins"),
    ("0:15", "null Uhr fünfzehn"),
    ("1 °C", "ein Grad Celsius"),
    ("-5 °C", "minus fünf Grad Celsius"),
    ("am 1. Mai", "am ersten Mai"),
    ("der 1. Mai", "der erste Mai"),
    ("1. Mai", "erster Mai"),
    ("im 2. Stock", "im zweiten Stock"),
    ("Platz 1. Du hast", "Platz eins. Du hast"),
    ("1.234 Schritte", "eintausendzweihundertvierunddreißig Schritte"),
    ("1.234,5", "eintausendzweihundertvierunddreißig Komma fünf"),
    ("3.5 Grad", "drei Komma fünf Grad"),
    ("1 h", "eine Stunde"),
    ("1 Nachricht", "1 Nachricht"),
    ("2 Nachrichten", "zwei Nachrichten"),
    ("seit 1999", "seit neunzehnhundertneunundneunzig"),
    ("im Jahr 2026", "im Jahr zweitausendsechsundzwanzig"),
    ("28.11.2026", "28.11.2026"),
    ("192.168.100.200", "192.168.100.200"),
    ("+49 30 123456", "plus vier neun, drei null, eins zwei drei vier fünf sechs"),
    ("0171/2345678", "null eins sieben eins, zwei drei vier fünf sechs sieben acht"),
    ("3,50 €", "drei Euro fünfzig"),
    ("5\u201310 Grad", "fünf bis zehn Grad"),
    ("5-10 °C", "fünf bis zehn Grad Celsius"),
    ("1.000.000", "eine Million"),
    ("Version 2.1", "Version 2.1"),
    ("Code 0815", "Code null acht eins fünf"),
    ("A4", "A4"),
    ("5-fach", "fünf-fach"),
    ("1 kWh", "eine Kilowattstunde"),
    ("2 %", "zwei Prozent"),
    ("21st", "21st"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [("en", *each) for each in ENGLISH] + [("de", *each) for each in GERMAN],
)
def test_numbers_and_units_are_said_as_words(
    language: str, text: str, expected: str
) -> None:
    """What is no number, and what names something, is not counted."""
    assert with_numbers(text, language) == expected


@pytest.mark.parametrize("language", ["en", "de"])
@given(text=st.text("019 .,:-+\u2013/%€$°CkmhstUr", max_size=24))
def test_whatever_stands_there_is_said(language: str, text: str) -> None:
    """And without digits nothing is added."""
    said = with_numbers(text, language)

    assert said == text or any(each.isdigit() for each in text)


def test_numbers_are_words_in_the_language_of_the_voice() -> None:
    """Of the utterance's voice, else the channel's; digits stay where neither is one."""
    told = speech_asked("It is 3 °C")
    german = replace(told, text="Es sind 3 °C", voice="de_DE-thorsten")
    speaks = SpeechCommand("say {text}", voice="en-us", numbers="voice")

    assert speaks.words(told) == "It is three degrees Celsius"
    assert speaks.words(german) == "Es sind drei Grad Celsius"
    assert speaks.words(replace(told, voice="amy")) == "It is 3 °C"
    assert SpeechCommand("say").words(told) == "It is 3 °C"


def test_without_the_extra_digits_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """And `doctor` names it."""
    monkeypatch.setitem(sys.modules, "num2words", None)
    _numbers.cache_clear()
    try:
        assert with_numbers("3 °C", "en") == "3 °C"
    finally:
        _numbers.cache_clear()
    monkeypatch.setattr(doctor, "find_spec", lambda _name: None)
    wanted = load({"speech.numbers": "en"}, environment={})
    (found,) = (
        each for each in doctor.of_installation(wanted) if each.name == "speech"
    )

    assert found.verdict == "problem"
    assert found.advice == "make setup"
    assert "speech" not in {
        each.name for each in doctor.of_installation(load(environment={}))
    }


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_text_is_turned_into_what_one_says(text: str, expected: str) -> None:
    """And what one says stays as it is."""
    assert spoken(text) == expected
    if "*" not in expected:
        assert spoken(expected) == expected


def test_a_command_gets_what_one_says() -> None:
    """As an argument, or on its standard input."""
    told = speech_asked("# Weather\n**Sunny** \u2600 *waves*")

    by_argument = SpeechCommand("say {text}")
    assert by_argument.arguments("id", told) == ["say", "Weather. Sunny"]
    assert SpeechCommand("say").words_for_input(told) == b"Weather. Sunny\n"


async def test_of_a_picture_alone_nothing_is_heard() -> None:
    """The command is not run."""
    speaker = Speaker(SpeechCommand("no-such-command {text}"))

    assert (await speaker.say("ana", "id", speech_asked("*waves*"))).cut is None


@pytest.mark.parametrize(
    "text", ["`x` \x005\x00 y", "\x01110000000\x01 y", "\x00\x01y"]
)
def test_control_characters_stop_no_word(text: str) -> None:
    """Those that stand for code and escapes meanwhile are none of a text's own."""
    assert spoken(text).endswith("y")


@pytest.mark.parametrize(
    "sign",
    [
        "[",
        "[a",
        "![",
        "[^",
        "[a](",
        "[a][",
        "[a](x ",
        "\\[",
        "\n",
        " \n",
        "~~~\n",
        "(",
        "<a ",
        "【",
        "[a](b(",
        "<mood>",
        " **a",
        "x [1",
        "0 00 ",
        "1.,",
    ],
)
def test_no_text_takes_long_to_be_made_speech(sign: str) -> None:
    """What never closes takes no square of its length."""
    began = time.process_time()
    with_numbers(spoken(sign * (20_000 // len(sign))), "en")

    assert time.process_time() - began < 1.0
