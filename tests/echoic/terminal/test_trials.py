"""One event, four personalities, two contexts and a threat: one table, always the same.

The golden file holds the whole table; a run with RENEW_GOLDEN=1 renews it.
"""

from typing import Any

import orjson
import pytest

from echoic.cli.program import command
from echoic.client.trials import CALM, SHOWN_BY, Attempt, Trial, trials
from echoic.errors import EchoicError
from echoic.packs import personalities, skills
from echoic.terminal import personality as screens
from handlers.mind.stages import voice
from projections.folds.executive.signs import Moment
from schemas.messages.decisions import Decided
from schemas.messages.executive import ContextSwitched
from schemas.values import ids
from schemas.values.personality import DETECTED
from schemas.values.reasons import ResponseType
from tests.echoic.terminal.test_learning import lines_of, same
from tests.factories import heuristic, pack, plain_executive
from tests.scenario import Scenario, one

EVENT = ("Your health is low.", "--says", "Eat something! Do not wait.")
DETAIL = ("--detail", "{hearts} hearts remaining.", "--field", "hearts=12")

Table = dict[tuple[str, str], Trial]


def called(*arguments: str) -> None:
    """Try an event as from the command line."""
    command()(["personality", "try", *arguments], "echoic", standalone_mode=False)


def attempt(**changes: Any) -> Attempt:
    """The event that is tried."""
    given: dict[str, Any] = {
        "text": EVENT[0],
        "says": EVENT[2],
        "detail": "{hearts} hearts remaining.",
        "fields": {"hearts": 12},
        "salience": {},
        **changes,
    }
    return Attempt(**given)


def tried(*contexts: str, **changes: Any) -> Table:
    """The trials of one event, by personality and context."""
    wanted = contexts or ("gaming", "work", "high_threat")
    known, styles = personalities.shipped(), skills.shipped()
    found = trials(attempt(**changes), known, styles, wanted)
    return {(each.personality, each.context): each for each in found}


def test_the_whole_table_is_golden(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a funny event; called twice, it is the same."""
    funny = attempt(salience={"humor": 0.7})
    found = tried(salience={"humor": 0.7})
    same("personalities", lines_of(screens.tried(funny, tuple(found.values()))))

    event = (*EVENT, *DETAIL, "--hint", "humor=0.7")
    called(*event)
    page = capsys.readouterr().out
    called(*event)
    assert capsys.readouterr().out == page
    for each in found.values():
        assert each.said in " ".join(page.split())


def test_sarcasm_and_jokes_leave_under_threat() -> None:
    """The engineer and the jester mock in a game, and nobody does in an alert."""
    found = tried(salience={"humor": 0.7})
    for name in ("engineer", "jester"):
        assert "sarcasm@1" in found[name, "gaming"].skills
    for name in personalities.names():
        calm, tense = found[name, "gaming"], found[name, "high_threat"]
        assert tense.traits["sarcasm"] < calm.traits["sarcasm"]
        assert not {"sarcasm@1", "humor@1"} & {*tense.skills}


def test_who_struggles_is_not_mocked_either() -> None:
    """What the filter left out is named."""
    found = tried(CALM, "user_struggling")
    assert "sarcasm@1" in found["jester", CALM].skills
    assert "sarcasm@1" not in found["jester", "user_struggling"].skills
    assert "sarcasm@1" in found["jester", "user_struggling"].filtered


def test_games_have_quips_and_work_has_observations() -> None:
    """A funny event; who is helpful suggests even at work, and nobody quips there."""
    found = tried(salience={"humor": 0.7}, says="")
    kinds = {key: each.response_type for key, each in found.items()}

    assert kinds["jester", "gaming"] == kinds["coach", "gaming"] == "quip"
    assert kinds["jester", "work"] == "observation"
    for name in ("butler", "coach", "engineer"):
        assert found[name, "work"].traits["helpfulness"] >= 0.6
        assert kinds[name, "work"] == "suggestion"


def test_helpfulness_offers_and_verbosity_makes_longer() -> None:
    """The coach offers help and has details, the engineer neither."""
    found = tried("work")
    coach, engineer = found["coach", "work"], found["engineer", "work"]

    assert "helpfulness@1" in coach.skills
    assert "helpfulness@1" not in engineer.skills
    assert "12 hearts remaining." in coach.said
    assert "hearts" not in engineer.said
    assert len(engineer.said.split()) < len(coach.said.split())
    assert engineer.words < coach.words
    # Under threat the one who talks most is shorter, and the facts stay.
    tense = tried("high_threat")["coach", "high_threat"]
    assert len(tense.said) < len(coach.said)
    assert "12 hearts remaining." in tense.said


def test_exclamation_marks_are_by_enthusiasm() -> None:
    """None for whoever is calm, and never more than suit."""
    for (name, _), each in tried(CALM, *SHOWN_BY).items():
        most = voice._EXCLAMATIONS[voice.band(each.traits["enthusiasm"])]
        assert each.said.count("!") <= most, (name, each.said)
    assert "!" not in tried(CALM)["engineer", CALM].said
    assert "!" in tried(CALM)["coach", CALM].said


def test_each_detected_context_can_be_tried() -> None:
    """By an event that shows it, as it comes about; its modifiers are those of the seed."""
    assert SHOWN_BY.keys() == DETECTED.keys()
    found = tried(CALM, *DETECTED)
    for context, moves in DETECTED.items():
        calm, there = found["coach", CALM].traits, found["coach", context].traits
        moved = {each for each in calm if calm[each] != there[each]}
        assert moved == {
            each for each in moves if calm[each] not in (0.0, 1.0) or moves[each] < 0
        }


def test_a_threat_may_come_with_the_event_itself() -> None:
    """As a hint, in any context."""
    found = tried("gaming", salience={"threat": 0.9}, says="")
    assert {each.response_type for each in found.values()} == {"alert"}
    assert "sarcasm@1" in tried("gaming")["jester", "gaming"].skills
    assert "sarcasm@1" not in found["jester", "gaming"].skills


def test_without_anything_to_say_the_event_is_passed_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In each voice; and a programme gets what a model would be told, too."""
    called("Night does not fall.", "--context", "calm", "--json")
    found = orjson.loads(capsys.readouterr().out)
    said = {each["personality"]: each["said"] for each in found["rows"]}
    assert said["butler"] == "Night does not fall."
    assert said["engineer"].startswith("Night doesn't fall.")
    assert len({each["told"] for each in found["rows"]}) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--context", "mars"), "no context 'mars', there are calm, gaming"),
        (("--hint", "humor=2"), "humor=2 is no hint"),
        (("--field", "hearts"), "'hearts' is no field"),
    ],
)
def test_what_cannot_be_tried_is_refused(
    arguments: tuple[str, ...], message: str
) -> None:
    """With what there is to choose from."""
    with pytest.raises(EchoicError, match=message):
        called("Night falls.", *arguments)


def test_hostile_words_are_one_sentence() -> None:
    """Nothing of an event's text is read as a template, a place or a control sequence."""
    found = tried("work", text="x", says="{hearts} {text}\x1b[2J\nend", detail="{no}")
    for each in found.values():
        assert "{hearts} {text}" in each.said
        assert "{no}" not in each.said


KINDS: tuple[ResponseType, ...] = ("suggestion", "quip", "alert")


@pytest.mark.parametrize("type_", KINDS)
@pytest.mark.parametrize(
    "context", ["gaming", "work", "high_threat", "user_struggling"]
)
@pytest.mark.parametrize("name", personalities.names())
def test_what_is_tried_is_what_an_instance_says(
    name: str, context: str, type_: ResponseType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mind with that template, context and heuristic says it, as the same type."""
    monkeypatch.setattr(ids, "draw", lambda *_: 0.4)
    says = "Do not wait: eat something!"
    each = tried(context, says=says, type=type_, detail="")[name, context]
    executive = plain_executive(
        templates=personalities.shipped(), skills=skills.shipped(), template=name,
        consistent=True, modulates=True, relevance=True,
    )  # fmt: skip
    low = heuristic("low", EVENT[0], says, 0.9) | {
        "action": {"type": type_, "text": says}
    }
    scenario = Scenario(pack(low), executive=executive, relevance=0.5)
    if context not in SHOWN_BY:
        scenario.control(ContextSwitched(context=context))
    shown = SHOWN_BY.get(context, Moment())
    turn = scenario.sense(
        EVENT[0],
        salience={"goal_relevance": 1.0, "actionability": 1.0, **shown.dimensions},
        sentiment=shown.sentiment,
    )

    decided = one(turn, Decided)
    assert (decided.text, decided.response_type) == (each.said, each.response_type)
    assert decided.skills == (each.skills or None)
    named = {each.name: each for each in decided.gates}
    assert named["relevance"].threshold == each.threshold
