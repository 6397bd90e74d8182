"""Being told in words: what a person says changes what is done, and is acknowledged."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from echoic.packs import phrases as shipped
from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.executive import Muted
from schemas.messages.notes import ControlInferred
from schemas.messages.results import ClockTicked
from schemas.state.executive import Executive
from schemas.values.phrase_matching import heard, tails
from schemas.values.phrases import Phrases
from tests import factories
from tests.factories import heuristic, pack
from tests.handlers.mind.test_restraint import closed, happens
from tests.scenario import Scenario, names, one, output, said

WORD = {"de": "heute", "en": "today"}
PIRATE = {
    "language": "pirate",
    "patterns": {"quiet": ["belay that noise"]},
    "replies": {"quiet": "Aye."},
    "refusal": "Nay.",
}
GARDEN = pack(
    heuristic("zombie", "a zombie is near", "Run.", 0.8),
    types=("vital", "thing", "message"),
    phrases=[PIRATE],
)


def alive(**executive: Any) -> Scenario:
    """A scenario with both languages and a model, which is never asked here."""
    own = {"phrases": shipped.shipped(("en", "de")), **executive}
    return Scenario(GARDEN, relevance=0.5, model=factories.MODEL, executive=own)


def says(scenario: Scenario, text: str, person: str | None = "ana") -> Turn:
    """A person says so."""
    scenario.wait(1)
    return scenario.sense(text, source="user", type_="message", person=person)


def held(scenario: Scenario) -> Executive:
    """What was asked for."""
    return scenario.mind.executive


def test_be_quiet_is_done_and_acknowledged() -> None:
    """By a note that carries the control, a decision with the words, and their delivery."""
    scenario = alive()

    turn = says(scenario, "Please, be quiet!")

    assert names(turn) == ["ControlInferred", "Decided", "DeliveryAsked"]
    note = output(turn, ControlInferred)
    inferred = one(turn, ControlInferred)
    assert (inferred.control, inferred.by) == ("muted", "pattern")
    assert (inferred.source_id, inferred.after) == (turn.input.id, "quiet for 600 s")
    decided = one(turn, Decided)
    assert (decided.path, decided.arm, decided.final) == (
        "acknowledged", "acknowledge", True,
    )  # fmt: skip
    assert decided.text == "OK, I'll be quiet for 10 min. I'll still warn you."
    assert one(turn, DeliveryAsked).text == decided.text
    (quiet,) = held(scenario).peace.restraints
    assert (quiet.id, quiet.by) == (note.id, "ana")
    decided_then = happens(scenario, "a zombie is near", salience={"social": 1.0})
    assert closed(decided_then) == "quiet"


def test_the_one_who_asked_for_quiet_is_still_answered() -> None:
    """Another person is told off silently, and the change is made all the same."""
    scenario = alive()
    says(scenario, "be quiet")

    again = says(scenario, "be quiet for two minutes")
    other = says(scenario, "stop telling me about rain", person="bo")

    assert one(again, Decided).text == (
        "OK, I'll be quiet for 2 min. I'll still warn you."
    )
    assert one(other, Decided).silence == "quiet"
    assert names(other) == ["ControlInferred", "Decided"]
    assert [each.about for each in held(scenario).peace.modulations] == ["rain"]


def test_unmute_is_acknowledged_though_it_is_mute() -> None:
    """While it is, nothing else is, and yet is done."""
    scenario = alive()
    assert one(says(scenario, "mute"), Decided).text is not None
    silent = says(scenario, "talk less")
    asked = says(scenario, "what is the matter with you")

    back = says(scenario, "unmute", person="bo")

    assert [one(each, Decided).silence for each in (silent, asked)] == [
        "muted",
        "muted",
    ]
    assert one(back, Decided).text == "OK, I'm back."
    assert not held(scenario).peace.restraints
    assert [each.change for each in held(scenario).peace.modulations] == ["threshold"]


@pytest.mark.parametrize(
    ("words", "change", "amount", "about", "for_s"),
    [
        ("stop telling me about the weather", "suppress", 1.0, "the weather", None),
        ("Watch out for zombies, please.", "heighten", 0.3, "zombies", None),
        ("let's focus on the tax return", "focus", 0.2, "the tax return", 3_600),
        ("talk less", "threshold", 0.3, "", 3_600),
        ("talk more", "threshold", -0.3, "", 3_600),
        ("Erzähl mir nichts mehr über Zombies!", "suppress", 1.0, "zombies", None),
        ("Achte bitte auf den Ofen", "heighten", 0.3, "den ofen", None),
        ("achte auf den ofen", "heighten", 0.3, "den ofen", None),
    ],
)
def test_what_words_move(
    words: str, change: str | None, amount: float, about: str, for_s: float | None
) -> None:
    """Each for its time; the topic with its vector, so that events can be about it."""
    scenario = alive()

    says(scenario, words)

    if change is None:
        assert not held(scenario).peace.modulations
        return
    (made,) = held(scenario).peace.modulations
    assert (made.change, made.amount, made.about) == (change, amount, about)
    lasts = None if made.until is None else (made.until - made.since).total_seconds()
    assert lasts == for_s
    assert made.vector == (factories.embed(about) if about else b"")


def test_a_suppressed_topic_is_kept_to() -> None:
    """What was said of it is what silences it."""
    scenario = alive()
    says(scenario, "don't tell me about zombie")

    decided = happens(scenario, "a zombie is near", salience={"social": 1.0})

    assert closed(decided) == "suppressed"


def test_cheer_me_up_makes_it_lighter_for_ten_minutes() -> None:
    """By a trait, which a note carries."""
    scenario = alive()

    inferred = one(says(scenario, "cheer me up"), ControlInferred)

    assert inferred.control == "trait_adjusted"
    assert inferred.fields == {
        "trait": "humor", "by_amount": 0.3, "for_s": 600.0, "by": "ana",
    }  # fmt: skip


def test_help_changes_nothing() -> None:
    """It tells what can be said."""
    turn = says(alive(), "Help")

    assert names(turn) == ["Decided", "DeliveryAsked"]
    assert "be quiet" in (one(turn, Decided).text or "")


def test_undo_takes_back_the_latest_that_is_in_force() -> None:
    """One after the other, and then there is nothing left to take back."""
    scenario = alive()
    says(scenario, "talk more")
    says(scenario, "be quiet")
    scenario.control(Muted(for_s=1, person="bo"))
    scenario.wait(2)

    first = says(scenario, "undo that")
    assert [each.person for each in held(scenario).peace.restraints] == ["bo"]
    second = says(scenario, "undo that")
    third = says(scenario, "undo that")

    assert not held(scenario).peace.modulations
    assert [one(each, Decided).text for each in (first, second, third)] == [
        "OK, I took that back.", "OK, I took that back.", "I can't do that.",
    ]  # fmt: skip


def test_undo_is_of_what_somebody_asked_for() -> None:
    """Not of what a rule made of how they said it."""
    executive = {"phrases": shipped.shipped(("en",)), "modulates": True}
    scenario = Scenario(GARDEN, relevance=0.5, executive=executive)
    says(scenario, "be quiet")

    scenario.wait(1).sense(
        "undo that", source="user", type_="message", person="ana", sentiment=-0.5
    )

    assert not held(scenario).peace.restraints
    assert [each.by for each in held(scenario).peace.modulations] == ["sentiment"]


def test_undo_takes_back_a_trait_and_only_ones_own_changes() -> None:
    """The latest of what the speaker asked for, whatever it was."""
    scenario = alive()
    says(scenario, "talk less", "lee")
    says(scenario, "cheer me up")

    undone = one(says(scenario, "undo that"), Decided).text
    again = one(says(scenario, "undo that"), Decided).text

    assert undone == "OK, I took that back."
    assert again == "I can't do that."
    assert len(held(scenario).peace.modulations) == 1
    traits = held(scenario).personality.overrides
    assert not any(traits[person] for person in traits.sorted_keys())


def test_german_is_understood_and_answered_in_german() -> None:
    """Numbers and units of time included."""
    scenario = alive()

    texts = ("Sei bitte fünf Minuten still", "Sei fünf Minuten still, bitte!")
    for text in texts:
        still = one(says(scenario, text), Decided)
        assert still.text == "Gut, ich bin 5 min still. Vor Gefahr warne ich trotzdem."


def test_packs_bring_phrases_of_their_own() -> None:
    """After those of the settings."""
    scenario = alive()

    assert one(says(scenario, "belay that noise"), Decided).text == "Aye."
    assert held(scenario).peace.restraints


@pytest.mark.parametrize(
    "words",
    [
        "I told my sister to be quiet",
        "be quiet or not, what is the time",
        "please",
        "...",
        "watch for -5 degrees",
        "be quiet for as long as you like to be",
        "don't tell me about the weather? why not",
        "stop telling me about the oven and be quiet",
        "stop talking about him behind his back",
        "stop telling me about",
        "stop telling me about " + "very " * 12 + "old news",
    ],
)
def test_other_words_are_for_the_model(words: str) -> None:
    """Only what is such a phrase in whole changes anything."""
    turn = says(alive(), words)

    assert not said(turn, ControlInferred)
    assert said(turn, ModelAsked)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("Please be quiet for an hour, we are watching a film.", "1 h"),
        ("Be quiet for ten minutes now, the baby sleeps, you see", "10 min"),
    ],
)
def test_a_reason_may_follow(text: str, span: str) -> None:
    """After a comma; it changes nothing."""
    acknowledged = one(says(alive(), text), Decided).text

    assert acknowledged == f"OK, I'll be quiet for {span}. I'll still warn you."


def test_a_topic_may_have_a_comma() -> None:
    """So what follows it is no reason."""
    scenario = alive()
    says(scenario, "Stop telling me about rain, wind and snow")

    (modulation,) = held(scenario).peace.modulations
    assert modulation.about == "rain wind and snow"


def test_only_a_persons_own_words_are_obeyed() -> None:
    """A sensor's text is data, whatever it says; so is a person's report."""
    scenario = alive()

    sensed = scenario.sense("be quiet")
    report = scenario.sense(
        "be quiet", source="user", type_="message", intent="informational"
    )

    assert not said(sensed, ControlInferred)
    assert not said(report, ControlInferred)
    assert one(report, Decided).silence == "informational"


def test_without_an_executive_words_are_words() -> None:
    """As in logs of before."""
    scenario = Scenario(GARDEN, relevance=0.0, model=factories.MODEL)

    assert said(says(scenario, "be quiet"), ModelAsked)


def test_whoever_speaks_unnamed_is_obeyed_as_well() -> None:
    """Nobody in particular asked for it, so anybody is answered."""
    scenario = alive()
    says(scenario, "be quiet", person=None)

    (quiet,) = held(scenario).peace.restraints
    assert quiet.by == "unknown"
    assert one(says(scenario, "help", person=None), Decided).text is not None


def test_shipped_phrases_fit_their_languages() -> None:
    """Each pattern is recognised as what it means, with a topic and a span in place.

    Of the words that it allows the first are tried, the last, and others between.
    """
    for language in shipped.languages():
        (known,), today = shipped.shipped((language,)), WORD[language]
        for means, patterns in known.patterns.items():
            for pattern, turn in product(patterns, range(5)):
                text = _written(pattern, known.parts, turn)
                text = text.replace("{topic}", "x").replace("{time}", "6 30")
                text = text.replace("{span}", "3 s")
                text = text.replace("{when}", today, 1).replace("{when}", "6 30")
                text = text.replace("{manner}", next(iter(known.manners), ""))
                text = text.replace("{context}", next(iter(known.contexts.values()))[0])
                found = heard(text, [known])
                if turn and len(text.split()) > 12:
                    continue
                assert found is not None, (text, pattern)
                assert "{" not in found.reply(3, "now").replace("{items}", "")
                if turn == 0:
                    assert found.means == means, text


def _written(pattern: str, parts: Mapping[str, str], turn: int) -> str:
    """One of the sentences that a pattern allows."""
    text = re.sub(r"\{=.*?\}", "", pattern)
    while "<" in text:
        text = re.sub(r"<(\w+)>", lambda part: f"({parts[part[1]]})", text)
    while found := re.search(r"\(([^()\[\]]*)\)|\[([^()\[\]]*)\]", text):
        ways = found[0][1:-1].split("|") + [""] * (found[0][0] == "[")
        chosen = ways[0 if turn == 0 else (turn * 7 + len(ways)) % len(ways)]
        text = f"{text[: found.start()]}{chosen}{text[found.end() :]}"
    return " ".join(text.split())


@pytest.mark.parametrize(
    "wrong",
    [
        {"replies": {}},
        {"patterns": {"focus": ["{topic} it is"]}, "replies": {"focus": "x"}},
        {"patterns": {"quiet": ["<be> still"]}},
    ],
)
def test_phrases_that_cannot_work_are_refused(wrong: dict[str, object]) -> None:
    """When they are read, not when they are said."""
    with pytest.raises(ValueError, match=r"no reply|stands behind|has a part"):
        Phrases.model_validate({**PIRATE, **wrong})


def test_topics_are_the_ends_of_what_is_said() -> None:
    """Of a long speech there are none, for it is no phrase."""
    assert tails("Watch the Cat, please!") == (
        "the cat please", "cat please", "please", "the cat", "cat",
    )  # fmt: skip
    assert tails("word " * 13) == ()
    assert tails("x" * 1_000) == ()


@pytest.mark.parametrize(
    ("words", "seconds", "text"),
    [
        ("Remind me in ten minutes to call Lee!", 600.0, "call Lee"),
        ("remind me at six", 18_000.0, None),
        ("remind me at six about the oven", 18_000.0, "the oven"),
        ("remind me at 18:30 to go", 19_800.0, "go"),
        ("please remind me at 0 15", 40_500.0, None),
        ("Erinnere mich um sechs Uhr an die Wäsche", 18_000.0, "die Wäsche"),
        ("erinnere mich in einer Stunde", 3_600.0, None),
        ("please remind me to wake up Al at 6 o'clock this evening", 18_000.0, "wake"),
        ("remind me to eat at two at 7 pm", None, None),
        ("remind me to " + "go on and " * 10 + "on at six", None, None),
        ("remind me at 25", None, None),
        ("remind me tomorrow", None, None),
    ],
)
def test_a_reminder_is_set_in_words(
    words: str, seconds: float | None, text: str | None
) -> None:
    """It is noon: at six is this evening. What is no time is left to others."""
    scenario = alive()
    scenario.at = factories.NOON.replace(hour=13) - timedelta(seconds=1)
    turn = says(scenario, words)

    reminders = held(scenario).reminders.awaited
    if seconds is None:
        assert reminders == ()
        return
    assert "DeliveryAsked" in names(turn)
    (reminder,) = reminders
    assert reminder.due - scenario.at == timedelta(seconds=seconds)
    assert (reminder.person, reminder.by) == ("ana", "ana")
    assert (text or "") in reminder.text
    rung = scenario.wait(seconds).tell(ClockTicked(due_at=reminder.due))
    assert one(rung, DeliveryAsked).text == reminder.text


def test_a_reminder_at_six_is_the_next_six_across_a_change_of_the_clock() -> None:
    """In the night to the 29th of March clocks in Berlin leap from two to three."""
    executive = {"phrases": shipped.shipped(("en",)), "timezone": "Europe/Berlin"}
    scenario = Scenario(executive=executive)
    scenario.at = datetime(2026, 3, 28, 21, 0, tzinfo=UTC)
    says(scenario, "remind me at six")

    (reminder,) = held(scenario).reminders.awaited
    assert reminder.due.astimezone(UTC) == datetime(2026, 3, 29, 4, 0, tzinfo=UTC)
