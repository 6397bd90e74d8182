"""Its own voice: what a microphone hears of it is nobody's words, and an answer is one."""

from typing import Any

import pytest

from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.executive import OutputRequested
from tests.handlers.mind.test_told import alive, held
from tests.scenario import Scenario, one, said

ECHOES = [
    ("Is the oven still on?", "is the oven still on"),
    ("The washing machine is done.", "The washing machine is done."),
    ("The washing machine is done.", "washing machine is done"),
    ("The washing machine is done, and it is raining outside now.",
     "and it is raining outside now"),
    ("Rain begins in ten minutes. You may want to bring in the laundry.",
     "you may want to bring in the laundry"),
    ("Rain begins in ten minutes. You may want to bring in the laundry.",
     "Rain begins in ten minutes. You may want to bring the laundry."),
    ("Die Waschmaschine ist fertig.", "die waschmaschine ist fertig"),
    ("Der Regen beginnt in zehn Minuten, hol die Wäsche herein.",
     "in zehn Minuten hol die Wäsche herein"),
    ("Yep, you got it! Today is indeed the eighth. How is your day going so far?",
     "yep you got it"),
    ("I am glad to help. The oven is still on.", "the oven is still on"),
    ("Gern geschehen. Das Fenster ist noch offen.", "das fenster ist noch offen"),
    ("OK, I'll be quiet for 10 min. I'll still warn you.",
     "okay I'll be quiet for 10 min I'll still warn you"),
]  # fmt: skip

ANSWERS = [
    ("Is the oven on?", "yes, the oven is on"),
    ("Is the oven on?", "the oven is on"),
    ("The oven is on.", "yes the oven is on I know"),
    ("The oven is on.", "I know"),
    ("The oven is on.", "turn it off"),
    ("The oven is on.", "is it hot"),
    ("The oven is on.", "the oven"),
    ("The oven is still on. Shall I turn it off?", "turn it off"),
    ("The oven is still on. Shall I turn it off?", "yes turn it off please"),
    ("The oven is still on. Shall I turn it off?", "no leave the oven on"),
    ("The oven is still on. Shall I turn it off?", "no, the oven is still needed"),
    ("Do you want tea or coffee?", "tea"),
    ("Do you want tea or coffee?", "tea or coffee"),
    ("Do you want tea or coffee?", "I want coffee"),
    ("Do you want tea or coffee?", "coffee please"),
    ("Do you want tea or coffee?", "neither tea nor coffee"),
    ("Good morning.", "good morning"),
    ("Good morning, Ada.", "good morning"),
    ("Good night.", "good night"),
    ("OK.", "ok"),
    ("You can say: be quiet, talk less, remind me at six, undo that.", "remind me at six"),
    ("You can say: be quiet, talk less, remind me at six, undo that.", "be quiet"),
    ("You can say: be quiet, talk less, remind me at six, undo that.", "talk less"),
    ("You can say: be quiet, talk less, remind me at six, undo that.", "undo that"),
    ("OK, I'll stop telling you about the weather.", "stop telling me about the weather"),
    ("Shall I turn on the light or the heater?", "turn on the light"),
    ("Which room is it, the kitchen or the bath?", "the kitchen"),
    ("It is raining.", "is it raining hard"),
    ("It is raining.", "it is not raining here"),
    ("The post is here.", "who brought the post"),
    ("Rain begins in ten minutes.", "in how many minutes"),
    ("Rain begins in ten minutes.", "remind me in ten minutes"),
    ("How are you?", "how are you"[:7]),
    ("How are you?", "I am fine, how are you"),
    ("Good night. Sleep well.", "sleep well"),
    ("It is late. Do you want tea or coffee now?", "I want tea now"),
    ("It is late. Is the oven still on?", "no the oven is off"),
    ("Thank you.", "thank you"),
    ("Shall I call?", "you call"),
    ("What is your name?", "my name is Ada"),
    ("Somebody is at the door.", "who is at the door"),
    ("Somebody is at the door.", "let them in"),
    ("Ist der Herd an?", "ja, der Herd ist an"),
    ("Ist der Herd an?", "nein, der Herd ist aus"),
    ("Der Herd ist an.", "mach den Herd aus"),
    ("Möchtest du Tee oder Kaffee?", "Tee bitte"),
    ("Guten Morgen!", "guten Morgen"),
    ("Es regnet gleich.", "regnet es gleich sehr"),
    ("Soll ich das Licht ausmachen?", "ja, das Licht ausmachen"),
]  # fmt: skip

PHANTOMS = [
    "Thanks for watching!", "Thank you for watching.", "Please subscribe to my channel.",
    "[Music]", "(applause)", "♪ ♪", "*sighs*", "...", "[BLANK_AUDIO]",
    "Subtitles by the Amara.org community", "Untertitel der Amara.org-Community",
    "Untertitelung des ZDF, 2020", "Vielen Dank fürs Zuschauen!",
    "Vielen Dank für's Zuschauen!", "Thanks for watching! See you in the next video.",
    "Thanks for watching, and don't forget to subscribe!", "[Music] Thanks for watching.",
    "you", "You you you you.", "ご視聴ありがとうございました。", "시청해주셔서 감사합니다!",
    "Abone olmayı unutmayın", "Субтитры сделал DimaTorzok", "www.mooji.org",  # noqa: RUF001
]  # fmt: skip


def speaks(scenario: Scenario, text: str, after_s: float = 2.0) -> None:
    """The companion says so, and some time goes by."""
    scenario.control(OutputRequested(text=text, response_type="alert"))
    scenario.wait(after_s)


def hears(scenario: Scenario, text: str, **more: Any) -> Any:
    """A microphone hears these words."""
    told = {"person": "ana", "microphone": True, **more}
    return scenario.sense(text, source="user", type_="message", **told)


@pytest.mark.parametrize(("spoken", "heard"), ECHOES)
def test_its_own_words_are_nobodys(spoken: str, heard: str) -> None:
    """They are not answered, and not remembered as a person's."""
    scenario = alive(prompt_tokens=500)
    speaks(scenario, spoken)
    decided = one(hears(scenario, heard), Decided)

    assert decided.silence == "own_echo"
    assert held(scenario).presence.heard_at is None
    assert "ana" not in held(scenario).memory.said


@pytest.mark.parametrize(("spoken", "heard"), ANSWERS)
def test_an_answer_is_one(spoken: str, heard: str) -> None:
    """Though it takes up words of what was said."""
    scenario = alive()
    speaks(scenario, spoken)

    assert one(hears(scenario, heard), Decided).silence != "own_echo"


@pytest.mark.parametrize("text", PHANTOMS)
def test_phantoms_are_nobodys(text: str) -> None:
    """Of a microphone; who types them means them."""
    scenario = alive()

    assert one(hears(scenario, text), Decided).silence == "own_echo"
    typed = one(hears(scenario, text, microphone=False), Decided)
    assert typed.silence != "own_echo"


def test_what_is_typed_or_said_later_is_meant() -> None:
    """An echo comes from a microphone, and at once."""
    scenario = alive()
    speaks(scenario, "The washing machine is done.")
    typed = hears(scenario, "the washing machine is done", microphone=False)
    scenario.wait(30)
    later = hears(scenario, "the washing machine is done")

    assert said(typed, ModelAsked)
    assert one(later, Decided).silence is None


def test_an_exchange_with_itself_ends_after_two() -> None:
    """Garbled words are doubtful: two in a row are answered, then a person's turn is due."""
    scenario = alive()
    silences = []
    for text in ("rain is coming in ten minutes", "rain was coming in ten minutes",
                 "rain came in ten minutes"):  # fmt: skip
        speaks(scenario, "rain comes in ten minutes")
        silences.append(one(hears(scenario, text), Decided).silence)
    cleared = one(hears(scenario, "what about tomorrow then"), Decided)
    speaks(scenario, "rain comes in ten minutes")
    again = one(hears(scenario, "rain is coming in ten minutes"), Decided)

    assert silences == [None, None, "own_echo"]
    assert cleared.silence is None
    assert again.silence is None
