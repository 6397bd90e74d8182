"""Being called: a name, a wake word or a polite opening before a command changes nothing."""

import pytest

from echoic.packs import phrases as shipped
from schemas.values.phrase_matching import heard
from tests.handlers.mind.test_told import alive, held, says

KNOWN = shipped.shipped(("en", "de"))
NAMES = ("companion", "my-house", "Jürgen")


@pytest.mark.parametrize(
    "text",
    [
        "hey companion be quiet",
        "Hey Companion, be quiet!",
        "companion be quiet",
        "Companion. Be quiet.",
        "Hey companion! Could you be quiet, please?",
        "could you be quiet please",
        "could you please be quiet",
        "please could you be quiet",
        "can you be quiet now",
        "would you please be quiet companion",
        "be quiet, companion",
        "my house, be quiet",
        "hey my-house be quiet please",
        "Jürgen be quiet",
        "ok Jürgen, be quiet now please",
        "hey companion sei still",
        "companion, kannst du bitte still sein",
        "könntest du bitte still sein",
        "Hallo Jürgen, sei bitte still",
    ],
)
def test_a_name_before_a_command_is_no_part_of_it(text: str) -> None:
    """Nor is a courtesy, wherever it stands."""
    found = heard(text, KNOWN, NAMES)

    assert found is not None
    assert (found.means, found.topic) == ("quiet", "")


@pytest.mark.parametrize(
    ("text", "means", "topic"),
    [
        ("hey companion remind me tomorrow at 7 to call Lee", "remind", "call lee"),
        ("companion set a timer for ten minutes", "timer", ""),
        ("could you remind me tomorrow at 7 to call Lee", "remind", "call lee"),
        ("companion, stop telling me about the oven", "suppress", "the oven"),
        ("könntest du mich morgen um 7 an Lee erinnern", "remind", "lee"),
    ],
)
def test_any_command_may_be_called(text: str, means: str, topic: str) -> None:
    """With its topic and its time."""
    found = heard(text, KNOWN, NAMES)

    assert found is not None
    assert (found.means, found.topic, found.is_unclear) == (means, topic, False)


@pytest.mark.parametrize(
    "text",
    [
        "companion",
        "could you be quiet about it",
        "my companion is quiet",
        "the companion told me to be quiet",
        "could you tell me why he should be quiet",
        "be quiet companion of mine",
        "hey you there be quiet",
    ],
)
def test_what_only_has_such_words_is_for_the_model(text: str) -> None:
    """Only what is a command but for them is one."""
    assert heard(text, KNOWN, NAMES) is None


def test_the_agent_goes_by_its_own_name_and_wake_words() -> None:
    """The agent of the scenario is called Ana."""
    scenario = alive(wake_words=("computer",))
    says(scenario, "hey ana be quiet")
    assert held(scenario).peace.restraints
    says(scenario, "computer, unmute")
    assert not held(scenario).peace.restraints
