"""People of any name: one stable token each, and the name kept."""

import unicodedata
from typing import Literal

import orjson
import pytest

from schemas.codec.decode import read_input
from schemas.messages.controls import ProfileSet
from schemas.messages.executive import FactStated, PersonsGranted
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.sensing import Sensed
from schemas.packs import conditions
from schemas.packs.condition_parser import parse
from schemas.values.persons import token_of, told
from schemas.values.record import Record
from schemas.values.subjects import is_token
from streams.jetstream.keys import speaker
from tests.handlers.mind.test_told import alive, held, says

NAMES = [
    "Zoë", "Jürgen", "娜娜", "Nguyễn Thị Hồng", "Łukasz", "Анна", "محمد", "אסתר", "さくら",
    "O'Brien", "Anna Lee", "Jean-Luc Ñ", "김민준", "🦊", "a" * 65,
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_name_has_a_token(name: str) -> None:
    """The same in both forms of its letters, and taken as it is from then on."""
    token = token_of(name)

    assert is_token(token)
    assert token_of(token) == token
    assert token_of(unicodedata.normalize("NFD", name)) == token
    assert token_of(f"  {name} ") == token


def test_tokens_are_stable_and_tell_names_apart() -> None:
    """A name that is a token stays; those that look alike to ASCII do not meet."""
    assert token_of("ada") == "ada"
    assert token_of("Zoë") == "Zoe_06ebccb7604b0abbd706"
    assert token_of("娜娜").startswith("person_")
    alike = ["Zoë", "Zoé", "Zoe", "Zoê", "ZOË", "Zo ë", "娜娜", "娜", "🦊"]
    assert len({token_of(each) for each in alike}) == len(alike)


@pytest.mark.parametrize("unseen", ["\u200b", "\u202e", "\ufeff", "\u00ad", "\u2069"])
def test_what_nobody_sees_makes_nobody_else(unseen: str) -> None:
    """It is copied with a name; joiners that letters need are part of one."""
    assert token_of(f"ada{unseen}") == token_of(f"{unseen}ada") == "ada"
    assert Sensed(text="hi", person=f"Zo{unseen}ë").checked().person == token_of("Zoë")
    assert told({"person": f"Zoë{unseen}"})["called"] == "Zoë"
    assert token_of("Zo\u200cë") != token_of("Zoë")
    with pytest.raises(ValueError, match="1 to 200 characters"):
        token_of(unseen)


@pytest.mark.parametrize("name", ["", "  ", "a\nb\x07", "x" * 201])
def test_what_is_no_name_is_refused(name: str) -> None:
    """In words, and not by a pattern."""
    with pytest.raises(ValueError, match="a person's name has 1 to 200 characters"):
        Sensed(text="hello", person=name).checked()


def test_a_vote_is_the_persons_whose_name_it_bears() -> None:
    """So that rapport, and forgetting, meet the one who spoke."""
    vote = FeedbackGiven(decision_id="d", rating="positive", actor="Zoë").checked()

    assert vote.actor == token_of("Zoë")
    assert FeedbackGiven(decision_id="d", rating="positive", actor="ada").actor == "ada"
    assert speaker({"actor": "Zoë"}) == token_of("Zoë")


def test_every_message_takes_a_name_and_keeps_it() -> None:
    """Read again, it is the same."""
    event = Sensed(text="hello", person="Zoë").checked()
    fact = FactStated(
        subject="tea", relation="is", object="hot", person="Zoë"
    ).checked()
    profile = ProfileSet(person="Zoë", address="Madam").checked()
    token = token_of("Zoë")

    assert (event.person, event.called) == (token, "Zoë")
    assert (fact.person, fact.called) == (token, "Zoë")
    assert (profile.person, profile.name, profile.address) == (token, "Zoë", "Madam")
    assert PersonsGranted(source="game", persons=("Zoë",)).checked().persons == (token,)
    assert Sensed.from_bytes(event.to_bytes()) == event
    assert Sensed(text="hello", person="ada").called is None


def read(body: dict[str, object]) -> Sensed:
    """An event of a sensor, as it is read from the log."""
    record = Record(
        subject="ev.5.in.ana.sensor.game.vital",
        headers={"ce-id": "1"},
        body=orjson.dumps(body),
        sequence=1,
        time_ns=0,
    )
    message = read_input(record).message
    assert isinstance(message, Sensed), message
    return message


def test_a_bare_event_of_a_sensor_may_name_anybody() -> None:
    """It is quarantined no more."""
    event = read({"text": "Hello", "person": "Jürgen"})

    assert (event.person, event.called) == (token_of("Jürgen"), "Jürgen")


Form = Literal["NFC", "NFD"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("declared", ["NFC", "NFD"])
def test_text_is_of_one_form_wherever_it_is_compared(
    form: Form, declared: Form
) -> None:
    """Whichever form an event or a pack has: conditions, `in`, entities, names of fields."""
    kitchen = unicodedata.normalize(form, "Küche")
    event = read(
        {
            "text": f"{kitchen}: warm",
            "fields": {"room": kitchen, unicodedata.normalize(form, "größe"): 1},
            "entities": [kitchen],
        }
    )

    assert event.text == "Küche: warm"
    assert event.entities == ("Küche",)
    for text in ('room = "Küche"', 'room in ["Küche", "Bad"]'):
        when = parse(unicodedata.normalize(declared, text))
        assert conditions.test(when)(event.fields), text
    assert event.fields["größe"] == 1


def test_a_person_of_any_name_is_reminded_and_known_by_it() -> None:
    """Both by a message and by the profile that a model is told."""
    scenario = alive(prompt_tokens=500)
    says(scenario, "remind me at 9 to call", person="Zoë")
    token = token_of("Zoë")

    (reminder,) = held(scenario).reminders.awaited
    assert (reminder.person, reminder.by) == (token, token)
    assert held(scenario).memory.profiles[token].name == "Zoë"
