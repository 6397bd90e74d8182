"""What is known, was said or happened before is told to who asks, without a model."""

import pytest

from schemas.messages.asks import ModelAsked, RecallAsked
from schemas.messages.controls import ProfileSet
from schemas.messages.decisions import Decided
from tests.handlers.mind.test_memory import alive, says, states
from tests.handlers.mind.test_recall import remembers
from tests.scenario import Scenario, names, one, said


def told(scenario: Scenario, text: str, person: str = "ada") -> str:
    """What a person is answered at once."""
    turn = says(scenario, text, person)
    assert said(turn, ModelAsked) == []
    decided = one(turn, Decided)
    assert (decided.path, decided.final) == ("acknowledged", True)
    return decided.text or ""


@pytest.mark.parametrize(
    ("asked", "nothing"),
    [
        ("What do you know about the boiler?", "I know nothing about the boiler."),
        ("was weißt du über den Kessel?", "Über den Kessel weiß ich nichts."),
        ("what did I say about tea", "I remember nothing that you said about tea."),
        ("Has this happened before?", "Not that I know of."),
        ("what do you know about Ada", "I know nothing about Ada."),
        ("Ist das schon mal passiert?", "Nicht dass ich wüsste."),
    ],
)
def test_nothing_is_known_at_first(asked: str, nothing: str) -> None:
    """That is told, too."""
    assert told(alive(), asked) == nothing


def test_facts_are_told_by_all_names_of_a_thing() -> None:
    """The latest first; those of others to nobody else."""
    scenario = alive()
    states(scenario, "the boiler", "was serviced in", "May")
    states(scenario, "the boiler", "is also known as", "Bertha")
    states(scenario, "Bertha", "leaks", "a little")
    states(scenario, "the boiler", "is paid by", "lee", person="lee")

    wanted = (
        "Bertha leaks a little. The boiler is also known as Bertha."
        " The boiler was serviced in May."
    )
    assert told(scenario, "what do you know about the boiler?") == wanted
    assert told(scenario, "what do you know about bertha") == wanted
    assert "is paid by lee" in told(scenario, "what do you know of the boiler", "lee")
    assert told(scenario, "what do you know about oil") == "I know nothing about oil."


def test_an_article_is_no_part_of_a_name() -> None:
    """What was stated of a thing is found with one before its name and without."""
    scenario = alive()
    states(scenario, "boiler", "is", "broken")
    states(scenario, "the oven", "is", "new")

    for asked in ("the boiler", "a boiler", "boiler"):
        question = f"what do you know about {asked}?"
        assert told(scenario, question) == "Boiler is broken."
    assert told(scenario, "what do you know about an oven") == "The oven is new."
    assert told(scenario, "was weißt du über den boiler") == "Boiler is broken."


def test_one_may_ask_about_oneself() -> None:
    """By any of one's names."""
    scenario = alive()
    scenario.control(ProfileSet(person="ada", name="Ada Byron"))
    states(scenario, "Ada Byron", "likes", "tea", person="ada")
    states(scenario, "lee", "likes", "coffee")

    assert told(scenario, "what do you know about me") == "Ada Byron likes tea."
    assert told(scenario, "was weißt du über mich") == "Ada Byron likes tea."
    assert told(scenario, "what do you know about me", "lee") == "Lee likes coffee."


def test_what_one_said_is_told_to_oneself_alone() -> None:
    """With how long ago; that one asked is nothing that one said."""
    scenario = alive()
    says(scenario, "the tea is cold again")
    scenario.wait(600)
    expected = 'You said "the tea is cold again", 11 min ago.'

    assert told(scenario, "what did I say about tea?") == expected
    assert told(scenario, "what did I say about tea?") == expected
    assert "nothing" in told(scenario, "what did I say about tea?", "lee")
    assert "vor 11 min" in told(scenario, "Was habe ich gesagt über Tea?")


def test_how_often_such_a_thing_happened_is_told() -> None:
    """Of a topic, and of what was spoken of last."""
    scenario = alive()
    for _ in range(3):
        scenario.wait(3_600).sense("a zombie is near")
    assert names(scenario.turns[-1])[-1] == "DeliveryAsked"
    assert told(scenario.wait(1_798), "what do you know of tea") == (
        "I know nothing about tea."
    )

    assert told(scenario, "has this happened before") == (
        "That has happened 2 times, most recently 1 h 30 min ago."
    )
    assert told(scenario, "what do you know about a zombie is near") == (
        "That has happened 3 times, most recently 31 min ago."
    )


def test_a_persons_own_words_are_no_such_thing() -> None:
    """Who speaks of a zombie has not met one; who met one has it counted alone."""
    scenario = alive()
    says(scenario, "a zombie is near")
    asked = "what do you know about a zombie is near"
    assert told(scenario.wait(60), asked) == "I know nothing about a zombie is near."

    scenario.wait(3_600).sense("a zombie is near")
    says(scenario.wait(60), "a zombie is near")

    assert told(scenario.wait(60), asked).startswith("That has happened once")
    assert told(scenario, "has this happened before") == "Not that I know of."


def test_what_the_state_lacks_is_left_to_the_memory() -> None:
    """Where there is one, and a model to tell it; what is known is told at once."""
    scenario = alive(recall=True)
    turn = says(scenario, "what did I say about tea?")
    assert names(turn) == ["Decided", "RecallAsked"]
    assert one(turn, RecallAsked).query == "what did I say about tea?"
    remembers(scenario, turn)
    states(scenario, "tea", "is in", "the tin")
    assert told(scenario, "what do you know about tea") == "Tea is in the tin."
    assert told(scenario, "has this happened before") == "Not that I know of."


def test_a_model_is_told_of_a_thing_by_all_its_names() -> None:
    """Only where that is set: older logs told by one name."""
    prompts = []
    for aliases in (False, True):
        scenario = alive(aliases=aliases)
        states(scenario, "the boiler", "also known as", "Bertha")
        states(scenario, "bertha", "also known as", "the old lady")
        states(scenario, "the old lady", "leaks", "a little")
        turn = scenario.sense("a noise", entities=["the boiler"])
        prompts.append(one(turn, ModelAsked).prompt)
    assert "the old lady leaks a little" not in prompts[0]
    assert "the old lady leaks a little" in prompts[1]
