"""Words for speech: what one says of a text, in English and German."""

import time

import pytest

from handlers.effects.speech import Speaker, SpeechCommand
from handlers.effects.spoken_words import spoken
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
    ],
)
def test_no_text_takes_long_to_be_made_speech(sign: str) -> None:
    """What never closes takes no square of its length."""
    began = time.process_time()
    spoken(sign * (20_000 // len(sign)))

    assert time.process_time() - began < 1.0
