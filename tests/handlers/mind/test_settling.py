"""A person's own words, as a model understood them, change what they ask for, and no more."""

from itertools import product
from typing import Any

import orjson
import pytest

from echoic.packs import personalities, phrases
from handlers.mind.reply import reading
from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed
from schemas.messages.notes import ControlInferred
from schemas.values.phrases import Phrases
from tests import factories
from tests.factories import pack, plain_executive
from tests.scenario import Scenario, names, one, said

HOUSE = pack(types=("vital", "message"), people=[{"name": "ada"}, {"name": "lee"}])
UNSETTLED = (
    "I changed nothing: I am not sure that you want that. Say it once more, plainly."
)
GUEST = "I changed nothing: that is for those who live here to say."
REFUSED = "I can't do that, so nothing was changed."


def wordless() -> tuple[Phrases, ...]:
    """The shipped phrases, of which without a model nothing is understood but "undo"."""
    return tuple(
        each.model_copy(
            update={
                name: {"undo": ("undo",)}
                if name == "patterns"
                else field.get_default(call_default_factory=True)
                for name, field in Phrases.model_fields.items()
                if name in ("patterns", "hearing")
            }
        )
        for each in phrases.shipped(("en", "de"))
    )


def talking(**more: Any) -> Scenario:
    """A house in which Ada and Lee live, with a model."""
    how = {
        "situated": True,
        "settles": True,
        "prompt_tokens": 500,
        "stream": True,
        "phrases": wordless(),
        "templates": personalities.shipped(),
    }
    executive = plain_executive(**{**how, **more})
    return Scenario(HOUSE, relevance=0.0, model=factories.MODEL, executive=executive)


def answered(
    scenario: Scenario, text: str, control: Any, person: str | None = "ada"
) -> Turn:
    """The model's answer to somebody's words."""
    turn = scenario.wait(5).sense(text, source="user", type_="message", person=person)
    if not said(turn, ModelAsked):
        raise AssertionError(f"no model was asked of {text!r}")
    reply = {"control": control, "response": "OK, as you wish."}
    return scenario.answer_model(turn, orjson.dumps(reply).decode())


def set_(turn: Turn) -> list[tuple[str, dict[str, Any]]]:
    """What was changed."""
    return [(each.control, each.fields) for each in said(turn, ControlInferred)]


def told(turn: Turn) -> str:
    """What was said."""
    return one(turn, DeliveryAsked).text


QUIET = {"do": "quiet", "minutes": 30}
RIGHT: list[tuple[str, dict[str, Any], str, str]] = [
    # What is said, what the model understood, what was set, and what is said of it.
    (
        "could you please be quiet for a while?",
        {"do": "quiet"},
        "muted",
        "quiet for 10 min",
    ),
    (
        "I need some peace and quiet for half an hour",
        QUIET,
        "muted",
        "quiet for 30 min",
    ),
    (
        "Be quiet. I'm on the phone.",
        {"do": "quiet", "minutes": 5},
        "muted",
        "quiet for 5 min",
    ),
    (
        "give me peace until lunch, will you",
        {"do": "quiet", "minutes": 90},
        "muted",
        "1 h 30 min",
    ),
    ("zip it for now", {"do": "quiet"}, "muted", "quiet for 10 min"),
    ("leave me alone, I have a headache", QUIET, "muted", "quiet for 30 min"),
    (
        "I'd love it if the telly were off, so please don't talk",
        QUIET,
        "muted",
        "quiet for 30 min",
    ),
    (
        "let me concentrate for an hour",
        {"do": "quiet", "minutes": 60},
        "muted",
        "quiet for 1 h",
    ),
    ("okay okay, pipe down", {"do": "quiet"}, "muted", "quiet for 10 min"),
    ("sei doch bitte endlich mal leise, sei still", QUIET, "muted", "30 min still"),
    (
        "kannst du bitte eine halbe Stunde lang still sein",
        QUIET,
        "muted",
        "30 min still",
    ),
    ("lass mich arbeiten, es ist dringend", QUIET, "muted", "30 min still"),
    (
        "please stop mentioning the weather all the time",
        {"do": "suppress", "about": "the weather"},
        "salience_modulated",
        "stop telling you about the weather for 1 d",
    ),
    (
        "enough about the laundry today",
        {"do": "suppress", "about": "laundry", "minutes": 600},
        "salience_modulated",
        "laundry for 10 h",
    ),
    (
        "I don't want to hear anything of football, spare me",
        {"do": "suppress", "about": "football"},
        "salience_modulated",
        "football",
    ),
    (
        "could you skip the news this week",
        {"do": "suppress", "about": "the news", "minutes": 20_000},
        "salience_modulated",
        "the news for 1 d",
    ),
    (
        "I'm not interested in the garden",
        {"do": "suppress", "about": "the garden"},
        "salience_modulated",
        "the garden",
    ),
    (
        "no more washing machine stories",
        {"do": "suppress", "about": "washing machine"},
        "salience_modulated",
        "washing machine",
    ),
    (
        "forget about the dishwasher",
        {"do": "suppress", "about": "the dishwasher"},
        "salience_modulated",
        "the dishwasher",
    ),
    (
        "quit telling me the oven is on",
        {"do": "suppress", "about": "the oven"},
        "salience_modulated",
        "the oven",
    ),
    (
        "verschon mich mit dem Wetter",
        {"do": "suppress", "about": "Wetter"},
        "salience_modulated",
        "nichts mehr über Wetter",
    ),
    (
        "genug von der Waschmaschine für heute",
        {"do": "suppress", "about": "Waschmaschine"},
        "salience_modulated",
        "Waschmaschine",
    ),
    (
        "let me know if a hedgehog comes by",
        {"do": "watch", "about": "hedgehog"},
        "salience_modulated",
        "watch for hedgehog for 1 d",
    ),
    (
        "tell me when the postman is here",
        {"do": "watch", "about": "the postman"},
        "salience_modulated",
        "the postman",
    ),
    (
        "could you keep an eye out for parcels",
        {"do": "watch", "about": "parcels"},
        "salience_modulated",
        "parcels",
    ),
    (
        "warn me about frost tonight",
        {"do": "watch", "about": "frost", "minutes": 480},
        "salience_modulated",
        "frost for 8 h",
    ),
    (
        "ping me as the bread is done",
        {"do": "heighten", "about": "the bread"},
        "salience_modulated",
        "the bread",
    ),
    (
        "keep me posted on the match",
        {"do": "watch", "about": "the match"},
        "salience_modulated",
        "the match",
    ),
    (
        "notify me, please, of any creepers",
        {"do": "watch", "about": "creepers"},
        "salience_modulated",
        "creepers",
    ),
    (
        "sag bescheid, sobald der Igel kommt",
        {"do": "watch", "about": "Igel"},
        "salience_modulated",
        "achte 1 d lang auf Igel",
    ),
    (
        "could you be less sarcastic",
        {"do": "trait", "trait": "sarcasm", "more": False},
        "trait_adjusted",
        "less sarcasm for 1 d",
    ),
    (
        "be more formal, please, guests are here",
        {"do": "trait", "trait": "formality", "more": True, "minutes": 120},
        "trait_adjusted",
        "more formality for 2 h",
    ),
    (
        "be a bit funnier",
        {"do": "trait", "trait": "humor", "more": True},
        "trait_adjusted",
        "more humor",
    ),
    (
        "no more jokes today",
        {"do": "trait", "trait": "humor", "more": False},
        "trait_adjusted",
        "less humor",
    ),
    (
        "don't be so sarcastic",
        {"do": "trait", "trait": "sarcasm", "more": False},
        "trait_adjusted",
        "less sarcasm",
    ),
    (
        "keep it short in future",
        {"do": "trait", "trait": "verbosity", "more": False},
        "trait_adjusted",
        "less length",
    ),
    (
        "give me more detail in your answers",
        {"do": "trait", "trait": "verbosity", "more": True},
        "trait_adjusted",
        "more length",
    ),
    (
        "be serious for once",
        {"do": "trait", "trait": "humor", "more": False},
        "trait_adjusted",
        "less humor",
    ),
    (
        "be a little livelier",
        {"do": "trait", "trait": "enthusiasm", "more": True},
        "trait_adjusted",
        "more enthusiasm",
    ),
    (
        "be more helpful",
        {"do": "trait", "trait": "helpfulness", "more": True},
        "trait_adjusted",
        "more helpfulness",
    ),
    (
        "sei etwas lustiger",
        {"do": "trait", "trait": "humor", "more": True},
        "trait_adjusted",
        "mehr humor",
    ),
    (
        "bitte weniger Ironie",
        {"do": "trait", "trait": "sarcasm", "more": False},
        "trait_adjusted",
        "weniger sarkasmus",
    ),
    (
        "fass dich kurz",
        {"do": "trait", "trait": "verbosity", "more": False},
        "trait_adjusted",
        "weniger ausführlichkeit",
    ),
    (
        "hey, do me a favour and remind me to stretch in a quarter of an hour or so",
        {"do": "reminder", "text": "stretch", "minutes": 15},
        "reminder_set",
        "in 15 min: stretch",
    ),
    (
        "don't let me forget the pizza, ten minutes should do",
        {"do": "reminder", "text": "the pizza", "minutes": 10},
        "reminder_set",
        "in 10 min: the pizza",
    ),
    (
        "wake me, say, half an hour from here, for tea",
        {"do": "reminder", "text": "tea", "minutes": 30},
        "reminder_set",
        "in 30 min: tea",
    ),
    (
        "erinner mich doch so in zehn Minuten an die Pizza, ja",
        {"do": "reminder", "text": "die Pizza", "minutes": 10},
        "reminder_set",
        "die Pizza",
    ),
    (
        "I'm going to work now",
        {"do": "context", "context": "work"},
        "context_switched",
        "work it is, for 1 d",
    ),
    (
        "time to play some games",
        {"do": "context", "context": "gaming", "minutes": 180},
        "context_switched",
        "gaming it is, for 3 h",
    ),
    (
        "I'm working from my desk until five",
        {"do": "context", "context": "work", "minutes": 300},
        "context_switched",
        "work it is, for 5 h",
    ),
    (
        "let's play",
        {"do": "context", "context": "gaming"},
        "context_switched",
        "gaming",
    ),
    (
        "I'm home at last, what a day",
        {"do": "context", "context": "home"},
        "context_switched",
        "home",
    ),
    (
        "ich muss arbeiten",
        {"do": "context", "context": "work"},
        "context_switched",
        "arbeit",
    ),
    (
        "lass uns spielen",
        {"do": "context", "context": "gaming"},
        "context_switched",
        "spiel",
    ),
    (
        "call me Captain from today",
        {"do": "profile", "address": "Captain"},
        "profile_set",
        "call you Captain",
    ),
    (
        "my name is Adalina",
        {"do": "profile", "name": "Adalina"},
        "profile_set",
        "call you Adalina",
    ),
    ("speak German with me", {"do": "profile", "language": "de"}, "profile_set", "de"),
    (
        "address me as Doctor Lovelace",
        {"do": "profile", "address": "Doctor Lovelace", "minutes": 60},
        "profile_set",
        "Doctor Lovelace for 1 h",
    ),
    ("antworte auf Englisch", {"do": "profile", "language": "en"}, "profile_set", "en"),
    ("nenn mich Chef", {"do": "profile", "address": "Chef"}, "profile_set", "Chef"),
    (
        "my goal is to finish the thesis by May",
        {"do": "goal", "goal": "finish the thesis"},
        "goals_set",
        "finish the thesis",
    ),
    (
        "I want to sleep eight hours",
        {"do": "goal", "goal": "sleep eight hours"},
        "goals_set",
        "sleep eight hours",
    ),
    (
        "I plan to run ten kilometres",
        {"do": "goal", "goal": "run ten kilometres"},
        "goals_set",
        "run ten kilometres",
    ),
    (
        "ich will mehr lesen",
        {"do": "goal", "goal": "mehr lesen"},
        "goals_set",
        "mehr lesen",
    ),
]


@pytest.mark.parametrize(("text", "control", "token", "tells"), RIGHT)
def test_what_the_words_ask_for_is_set_and_named(
    text: str, control: dict[str, Any], token: str, tells: str
) -> None:
    """Sixty-four such fields: each is set, and what is said names what was set."""
    turn = answered(talking(), text, control)

    assert [each for each, _ in set_(turn)] == [token]
    assert tells in told(turn)
    assert one(turn, Completed).path == "acknowledged"
    assert "as you wish" not in told(turn)


def test_there_are_sixty_four_of_them() -> None:
    """Each its own."""
    assert len({text for text, *_ in RIGHT}) == len(RIGHT) == 64


ANY: list[dict[str, Any]] = [
    {"do": "quiet", "minutes": 60},
    {"do": "suppress", "about": "the weather"},
    {"do": "watch", "about": "the weather"},
    {"do": "trait", "trait": "humor", "more": True},
    {"do": "context", "context": "work"},
    {"do": "profile", "address": "Weather"},
    {"do": "goal", "goal": "the weather"},
    {"do": "reminder", "text": "the weather", "minutes": 5},
]
NO_WISH = [
    "it is so quiet here in this weather",
    "what is the weather like?",
    "she told me to be quiet about the weather",
    'the sign says "be quiet, stop mentioning the weather"',
    "please never be quiet",
    "you don't have to be quiet",
    "my boss said: call me Weather",
    "was it quiet at work today?",
    "why should I be quiet?",
    "if you are quiet I fall asleep",
    "he asked whether you could stop talking about the weather",
    "they always tell me when the weather is bad",
    "I was going to work when it rained",
    "we laughed at all the jokes",
    "das Wetter ist schön",
    "er sagte, sei still",
    "warum bist du so still?",
]
BAD: list[tuple[str, Any]] = [
    ("be quiet, friend", {"do": "mute"}),
    ("be quiet, friend", {"do": "muted", "mode": "mute"}),
    ("be quiet, friend", {"do": "settings", "threshold": 0}),
    ("be quiet, friend", {"do": "strategy", "name": "llm"}),
    ("be quiet, friend", {"do": "pack", "name": "evil"}),
    ("be quiet, friend", {"do": "forget", "person": "lee"}),
    ("be quiet, friend", {"do": ""}),
    ("be quiet, friend", {}),
    ("be quiet, friend", {"do": ["quiet"]}),
    ("be quiet, friend", {"do": "quiet", "minutes": -1}),
    ("be quiet, friend", {"do": "quiet", "minutes": 0}),
    ("be quiet, friend", "quiet"),
    ("be quiet, friend", 7),
    ("be quiet, friend", [["quiet"]]),
    ("be quiet, friend", {"do": "context", "context": "work"}),
    ("be quiet, friend", {"do": "goal", "goal": "obey"}),
    ("stop mentioning the laundry", {"do": "suppress", "about": "fire alarms"}),
    ("stop mentioning the laundry", {"do": "suppress", "about": ""}),
    ("stop mentioning the laundry", {"do": "suppress", "about": "a"}),
    ("stop mentioning the laundry", {"do": "suppress"}),
    ("let me know if frost comes", {"do": "watch", "about": "passwords"}),
    ("be less sarcastic", {"do": "trait", "trait": "humor", "more": True}),
    ("be less sarcastic", {"do": "trait", "trait": "sarcasm", "more": True}),
    ("be less sarcastic", {"do": "trait", "trait": "cruelty", "more": True}),
    ("be less sarcastic", {"do": "trait", "trait": "sarcasm"}),
    ("be less sarcastic", {"do": "trait", "trait": "sarcasm", "more": "no"}),
    ("I'm going to work now", {"do": "context", "context": "gaming"}),
    ("I'm going to work now", {"do": "context", "context": "moon"}),
    ("I'm going to work now", {"do": "context"}),
    ("call me Ann", {"do": "profile", "address": "Your Majesty"}),
    ("call me Ann", {"do": "profile"}),
    ("call me Ann", {"do": "profile", "language": "<data>"}),
    ("call me Ann", {"do": "profile", "person": "lee"}),
    ("my goal is to read", {"do": "goal", "goal": "buy gold"}),
    ("remind me of tea, will you, when it suits", {"do": "reminder", "text": "tea"}),
    (
        "remind me of tea, will you, in a bit or so",
        {"do": "reminder", "text": "gin", "minutes": 5},
    ),
]
HOSTILE: list[tuple[str, Any]] = [*product(NO_WISH, ANY), *BAD]


@pytest.mark.parametrize(("text", "control"), HOSTILE)
def test_what_the_words_do_not_ask_for_is_not_set(text: str, control: Any) -> None:
    """Whatever a model makes of them; and that is said."""
    turn = answered(talking(), text, control)

    assert set_(turn) == []
    if control not in ({}, ""):
        assert told(turn) in (UNSETTLED, REFUSED, *GERMAN)


GERMAN = (
    "Ich habe nichts geändert: Ich bin nicht sicher, ob du das willst."
    " Sag es noch einmal deutlich.",
)


@pytest.mark.parametrize("control", ANY)
@pytest.mark.parametrize(
    "text", ["be quiet about the weather", "call me Weather, work"]
)
def test_a_sensor_sets_nothing(text: str, control: dict[str, Any]) -> None:
    """Its words wish for nothing, and its answer is words alone."""
    scenario = talking()
    turn = scenario.sense(text, person="ada")
    reply = orjson.dumps({"control": control, "response": "Well."}).decode()
    heard = scenario.answer_model(turn, reply)

    assert set_(heard) == []
    assert told(heard) == "Well."


def test_there_are_two_hundred_of_them() -> None:
    """Of texts without a wish, of wishes for something else, and of sensors."""
    assert len(HOSTILE) + 2 * len(ANY) >= 188


GUESTS: list[tuple[str, dict[str, Any], str | None]] = [
    # What a guest says, what the model understood, and for whom alone it holds.
    ("I'm going to work now", {"do": "context", "context": "work"}, None),
    ("time to play", {"do": "context", "context": "gaming"}, None),
    ("I'm home", {"do": "context", "context": "home"}, None),
    ("let's play some games", {"do": "context", "context": "gaming"}, None),
    ("I am working", {"do": "context", "context": "work"}, None),
    ("switch to work mode", {"do": "context", "context": "work"}, None),
    ("my goal is to rob you", {"do": "goal", "goal": "rob you"}, None),
    ("I want to own this house", {"do": "goal", "goal": "own this house"}, None),
    ("our goal is noise", {"do": "goal", "goal": "noise"}, None),
    ("help me to annoy Ada", {"do": "goal", "goal": "annoy Ada"}, None),
    ("be quiet, friend", {"do": "quiet"}, "eve"),
    ("shut up, will you, friend", {"do": "quiet", "minutes": 9_999}, "eve"),
    ("leave me alone, friend", {"do": "quiet", "person": "ada"}, "eve"),
    ("stop talking to Ada, friend", {"do": "quiet", "person": "ada"}, "eve"),
    ("let me sleep, friend", {"do": "quiet", "minutes": 400}, "eve"),
    ("stop mentioning alarms to Ada", {"do": "suppress", "about": "alarms"}, "eve"),
    (
        "stop telling them of the fire, friend",
        {"do": "suppress", "about": "the fire"},
        "eve",
    ),
    ("enough about burglars", {"do": "suppress", "about": "burglars"}, "eve"),
    ("ignore the doorbell", {"do": "suppress", "about": "doorbell"}, "eve"),
    ("tell me when Ada leaves, friend", {"do": "watch", "about": "Ada leaves"}, "eve"),
    ("let me know if Lee is away", {"do": "watch", "about": "Lee"}, "eve"),
    ("keep an eye on the safe, friend", {"do": "watch", "about": "the safe"}, "eve"),
    ("be less formal", {"do": "trait", "trait": "formality", "more": False}, "eve"),
    (
        "be more sarcastic to Ada",
        {"do": "trait", "trait": "sarcasm", "more": True},
        "eve",
    ),
    ("be funnier", {"do": "trait", "trait": "humor", "more": True}, "eve"),
    (
        "be less helpful to Lee",
        {"do": "trait", "trait": "helpfulness", "more": False},
        "eve",
    ),
    ("call me Ada", {"do": "profile", "address": "Ada", "person": "ada"}, "eve"),
    ("my name is Lee", {"do": "profile", "name": "Lee"}, "eve"),
    ("speak German with everybody", {"do": "profile", "language": "de"}, "eve"),
    (
        "remind me, friend, of the loot in five minutes or so",
        {"do": "reminder", "text": "the loot", "minutes": 5},
        "eve",
    ),
]


@pytest.mark.parametrize(("text", "control", "whose"), GUESTS)
def test_a_guest_moves_only_what_is_a_guests(
    text: str, control: dict[str, Any], whose: str | None
) -> None:
    """Thirty tries: nothing of the house, and nothing that is another person's."""
    scenario = talking()
    before = scenario.mind
    turn = answered(scenario, text, control, person="eve")

    assert [fields.get("person") for _, fields in set_(turn)] == (
        [whose] if whose else []
    )
    if whose is None:
        assert told(turn) == GUEST
    assert scenario.mind.goals == before.goals
    assert scenario.mind.executive.context is None
    assert scenario.mind.executive.memory.profiles.get("ada") is None
    assert len(GUESTS) == 30


UNDONE = [
    ("muted", "be quiet, friend", {"do": "quiet"}),
    ("salience", "stop mentioning the laundry", {"do": "suppress", "about": "laundry"}),
    ("trait", "be less sarcastic", {"do": "trait", "trait": "sarcasm", "more": False}),
    ("context", "I'm going to work now", {"do": "context", "context": "work"}),
    ("profile", "call me Captain", {"do": "profile", "address": "Captain"}),
]


def held(scenario: Scenario) -> tuple[Any, ...]:
    """What is in force that such words move."""
    mind = scenario.mind.executive
    known = mind.memory.profiles.get("ada")
    return (
        mind.restraints,
        mind.modulations,
        dict(mind.personality.overrides.get("ada", {})),
        mind.context.name if mind.context and mind.context.name != "general" else None,
        (known.name, known.address, known.language) if known else ("", "", ""),
    )


@pytest.mark.parametrize(("kind", "text", "control"), UNDONE)
def test_undo_takes_it_back(kind: str, text: str, control: dict[str, Any]) -> None:
    """By the person who wished for it."""
    scenario = talking()
    before = held(scenario)
    answered(scenario, text, control)
    assert held(scenario) != before, kind

    undo = scenario.wait(5).sense("undo", source="user", type_="message", person="ada")
    assert told(undo) == "OK, I took that back."
    assert held(scenario) == before


@pytest.mark.parametrize(("kind", "text", "control"), UNDONE)
def test_it_ends_within_a_day(kind: str, text: str, control: dict[str, Any]) -> None:
    """However long a model wants it to hold; what was before holds again."""
    scenario = talking()
    answered(scenario, text, {**control, "minutes": 1e9})
    scenario.wait(2 * 86_400).sense("a thing")

    mind, now = scenario.mind.executive, scenario.at
    restrained = [each.until for each in mind.restraints]
    ends = [*restrained, *(each.until for each in mind.modulations)]
    assert all(each is not None and each <= now for each in ends), kind
    assert mind.context is None
    assert mind.lent == ()
    known = mind.memory.profiles.get("ada")
    assert known is None or known.address == ""


def test_several_changes_are_settled_together() -> None:
    """Each by its own words, and each is told of."""
    wanted = [
        {"do": "quiet", "minutes": 30},
        {"do": "suppress", "about": "laundry"},
        {"do": "goal", "goal": "world peace"},
    ]
    turn = answered(talking(), "be quiet, and stop mentioning the laundry", wanted)

    assert [each for each, _ in set_(turn)] == ["muted", "salience_modulated"]
    assert told(turn) == (
        "OK, I'll be quiet for 30 min. I'll still warn you."
        f" OK, I'll stop telling you about laundry for 1 d. {UNSETTLED}"
    )


def test_a_topic_may_be_what_was_just_said() -> None:
    """ "That" is what the companion spoke of."""
    scenario = talking()
    scenario.answer_model(scenario.sense("a thing", person="ada"), "It will rain.")
    turn = answered(
        scenario, "stop mentioning that", {"do": "suppress", "about": "rain"}
    )

    assert [each for each, _ in set_(turn)] == ["salience_modulated"]


def test_what_stands_behind_the_words_is_not_done() -> None:
    """They may be out by then; nothing of them is streamed before it is settled."""
    scenario = talking()
    turn = scenario.sense(
        "be quiet, friend", source="user", type_="message", person="ada"
    )
    heard = scenario.answer_model(
        turn, '{"response": "OK.", "control": {"do": "quiet"}}'
    )

    assert set_(heard) == []
    assert told(heard) == UNSETTLED


def test_nothing_is_streamed_before_it_is_settled() -> None:
    """Of a reply with a change not a word goes out as it comes."""
    reply = '{"control": {"do": "quiet"}, "response": "OK, quiet I am, and for long."}'
    parts = {reading.words_so_far(reply[:end]) for end in range(len(reply))}
    assert parts == {""}
    without = '{"control": null, "response": "It is noon."}'
    assert reading.words_so_far(without) == "It is noon."


def test_without_the_setting_a_model_can_but_speak() -> None:
    """It is told of no changes, and makes none."""
    turn = answered(talking(settles=False), "be quiet, friend", {"do": "quiet"})

    assert set_(turn) == []
    assert told(turn) == "OK, as you wish."


def test_nothing_is_learnt_of_an_acknowledgement() -> None:
    """A vote on it makes no heuristic that promises what it does not do."""
    scenario = talking()
    turn = answered(scenario, "be quiet, friend", {"do": "quiet"})

    assert names(scenario.feedback(one(turn, Completed).decision_id)) != ["ModelAsked"]
    assert not scenario.mind.lessons
