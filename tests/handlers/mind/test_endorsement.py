"""Endorsement: what a model says by itself speaks for heuristics; copying does not."""

from typing import Any

import pytest

from echoic.embedders import WordLlamaEmbedder
from handlers.mind.flows.endorsement import ENDORSED_LIMIT
from handlers.mind.turn import Turn
from schemas.messages.asks import ModelAsked, UnpredictedWords
from schemas.messages.controls import HeuristicEdited, HeuristicFrozen, HeuristicSeeded
from schemas.messages.decisions import Completed, Decided, HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import (
    Endorsed,
    FeedbackApplied,
    HeuristicFormed,
    LifecycleChanged,
    OutcomeObserved,
)
from schemas.packs.compiled import (
    CompiledPack,
    compile_embedded,
    compile_pack,
    texts_of,
)
from schemas.packs.manifest import Pack
from schemas.state.evidence import Belief
from schemas.values.settings import MatchLimits
from schemas.values.vectors import Vector
from tests import factories
from tests.factories import heuristic, pack, pattern, plain_learning
from tests.scenario import Scenario, decision_id, names, one, said

EMBEDDER = WordLlamaEmbedder()
CONDITION = "the player's health is very low"
ADVICE = "Your health is low: eat something now and rest in a safe place."
PARAPHRASE = "Your health is low, so eat something and rest somewhere safe."
UNRELATED = "What a beautiful sunset there is over the hills tonight!"


def compiled(manifest: Pack) -> CompiledPack:
    """A pack whose texts mean what they say."""
    return compile_embedded(manifest, EMBEDDER.embed(texts_of(manifest)))


def known(confidence: float = 0.3, **more: Any) -> CompiledPack:
    """A pack with one heuristic."""
    patterns = [pattern("health", "health restored", 120)]
    bare = pack(
        heuristic("low", CONDITION, ADVICE, confidence), patterns=patterns, **more
    )
    return compiled(bare.pack)


class RealLife(Scenario):
    """A scenario whose texts mean what they say."""

    def __init__(self, *packs: CompiledPack, **settings: Any) -> None:
        """Learn from models, and keep from them what they might copy."""
        limits = EMBEDDER.limits
        super().__init__(
            *packs,
            **{
                "model": factories.MODEL,
                "relevance": 0.0,
                "withhold": 1.0,
                "endorsement": True,
                "formation": True,
                "limits": MatchLimits(
                    match=limits.match,
                    duplicate=limits.duplicate,
                    endorse=limits.endorse,
                ),
                **settings,
            },
        )

    def embed(self, text: str) -> Vector:
        """The vector of the bundled word table."""
        return EMBEDDER.embed([text])[0]

    def said_by_model(self, words: str, event: str = CONDITION, **fields: Any) -> Turn:
        """What the mind makes of a model's answer to an event."""
        asked = self.wait(60).sense(event, **fields)
        return self.wait(1).answer_model(asked, words)


def held(scenario: Scenario, of: CompiledPack, row: int = 0) -> Belief:
    """What is believed of a heuristic of a pack."""
    return scenario.belief(of.ids[row], of.content_hashes[row])


def started(scenario: Scenario) -> dict[str, Any]:
    """The settings in force, to be changed."""
    return dict(scenario.settings)


def vote_on(heuristic_id: str) -> FeedbackGiven:
    """A good word for a heuristic itself."""
    return FeedbackGiven(heuristic_id=heuristic_id, rating="positive")


def test_an_answer_that_says_the_same_endorses() -> None:
    """After all that is to be said, with half its likeness as weight."""
    low = known()
    scenario = RealLife(low)

    turn = scenario.said_by_model(PARAPHRASE)

    assert names(turn) == ["Handled", "Completed", "DeliveryAsked", "Endorsed"]
    message = one(turn, Endorsed)
    assert (message.heuristic_id, message.content_hash) == (
        low.ids[0],
        low.content_hashes[0],
    )
    assert message.decision_id == one(turn, Completed).decision_id
    assert message.similarity > 0.9
    assert message.weight == round(message.similarity / 2, 6)
    assert one(turn, Completed).agrees_with is None
    confidence = round((0.6 + message.weight) / (2.0 + message.weight), 6)
    assert held(scenario, low).confidence == pytest.approx(confidence, abs=2e-6)


def test_endorsements_lift_to_the_cap_and_a_person_lifts_over_the_threshold() -> None:
    """From .3 to .65 by models alone; one thumbs-up then passes .7 with no edit."""
    low = known()
    scenario = RealLife(low)
    seen = [0.3]
    for _ in range(20):
        scenario.said_by_model(PARAPHRASE)
        seen.append(held(scenario, low).confidence)

    assert seen == sorted(seen)
    assert seen[5] == seen[-1] == 0.65
    assert len(held(scenario, low).signals) == 20
    scenario.tell(vote_on(low.ids[0]))
    assert held(scenario, low).confidence == 0.708333
    decided = scenario.wait(60).decide(CONDITION)
    assert (decided.path, decided.text) == ("heuristic", ADVICE)


def test_an_outcome_lifts_over_the_threshold_as_well() -> None:
    """What the world shows of one fire adds to what models said before it."""
    low = known()
    scenario = RealLife(low)
    for _ in range(6):
        scenario.said_by_model(PARAPHRASE)
    scenario.control(
        factories.mind_started(**{**started(scenario), "threshold": 0.6}), "_"
    )
    fired = scenario.wait(60).sense("health: " + CONDITION)

    shown = scenario.wait(5).sense("health restored", type_="thing")

    assert one(fired, Decided).path == "heuristic"
    assert one(shown, OutcomeObserved).outcome == "success"
    assert held(scenario, low).confidence == 0.72


def test_what_is_parroted_does_not_move() -> None:
    """A shown candidate that the model repeats twenty times stays where it was."""
    low = known()
    scenario = RealLife(low, withhold=0.0)

    for _ in range(20):
        turn = scenario.said_by_model(ADVICE)
        assert names(turn) == ["Handled", "Completed", "DeliveryAsked"]
        assert one(turn, Completed).agrees_with == (low.ids[0],)

    assert len(scenario.mind.beliefs) == 0


def test_what_is_unrelated_endorses_nothing() -> None:
    """Nor does silence, nor a failure."""
    scenario = RealLife(known())

    for words in (UNRELATED, "", '{"response": ""}', '{"predicted_success": 1}'):
        assert not said(scenario.said_by_model(words), Endorsed)
    assert not said(scenario.fail_model(scenario.wait(60).sense(CONDITION)), Endorsed)
    assert len(scenario.mind.beliefs) == 0


def test_another_domain_is_not_asked() -> None:
    """Nothing of a domain is endorsed by an answer to an event of another."""
    scenario = RealLife(known())

    turn = scenario.said_by_model(PARAPHRASE, source="porch", type_="seen")

    assert not said(turn, Endorsed)


def test_what_is_frozen_is_not_endorsed() -> None:
    """A person's word stands against any model's."""
    low = known()
    scenario = RealLife(low)
    scenario.control(HeuristicFrozen(heuristic_id=low.ids[0]))

    assert not said(scenario.said_by_model(PARAPHRASE), Endorsed)


def test_an_answer_that_came_too_late_to_be_said_still_endorses() -> None:
    """The model said it by itself, whether or not anybody heard it."""
    scenario = RealLife(known(), ttl_s=5.0)
    asked = scenario.sense(CONDITION)

    stale = scenario.wait(6).answer_model(asked, PARAPHRASE)

    assert names(stale) == ["Handled", "Dropped", "Endorsed"]


def test_a_taught_and_a_formed_heuristic_are_endorsed_by_what_they_say_now() -> None:
    """An edit of the words is compared from then on, under the new content."""
    scenario = RealLife(known())
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h",
            name="sunset",
            domain="garden",
            condition=CONDITION,
            text="Look out of the window.",
            confidence=0.3,
        )
    )
    before = scenario.said_by_model(UNRELATED)
    scenario.control(HeuristicEdited(heuristic_id="h", text=UNRELATED))
    after = scenario.said_by_model(UNRELATED)
    scenario.control(HeuristicEdited(heuristic_id="h", condition=f"{CONDITION} now"))
    moved = scenario.said_by_model(UNRELATED)

    assert not said(before, Endorsed)
    assert one(after, Endorsed).heuristic_id == "h"
    assert one(moved, Endorsed).content_hash != one(after, Endorsed).content_hash


def test_a_model_endorses_only_so_many() -> None:
    """Twenty twins: the most alike are endorsed, up to the limit."""
    twins = [heuristic(f"twin{each}", CONDITION, ADVICE, 0.3) for each in range(20)]
    scenario = RealLife(compiled(pack(*twins).pack))

    turn = scenario.said_by_model(PARAPHRASE)

    assert len(said(turn, Endorsed)) == ENDORSED_LIMIT


def test_nothing_is_endorsed_where_that_is_off() -> None:
    """Recordings of before it do not know it."""
    scenario = RealLife(known(), endorsement=False)

    turn = scenario.said_by_model(PARAPHRASE)

    assert names(turn) == ["Handled", "Completed", "DeliveryAsked"]


def test_without_vectors_nothing_is_endorsed() -> None:
    """Not if the answer has none, nor if what the heuristics say has none."""
    low = known()
    scenario = RealLife(low)
    asked = scenario.sense(CONDITION)
    scenario.vectorless = True
    assert not said(scenario.answer_model(asked, PARAPHRASE), Endorsed)

    bare = compile_pack(low.pack, low.vectors)
    assert not said(RealLife(bare).said_by_model(PARAPHRASE), Endorsed)


def test_a_limit_that_is_crossed_is_announced() -> None:
    """What models say for a deprecated heuristic may bring it back."""
    low = known(0.25)
    scenario = RealLife(low)

    turn = scenario.said_by_model(PARAPHRASE)

    changed = one(turn, LifecycleChanged)
    assert (changed.before, changed.after) == ("deprecated", "active")


def test_what_nobody_saw_takes_no_implicit_credit() -> None:
    """Two paths: the vote and the outcome of a model's words are none of a candidate's."""
    low = known()
    for withhold in (0.0, 1.0):
        scenario = RealLife(low, withhold=withhold, endorsement=False)
        asked = scenario.sense("health: " + CONDITION)
        scenario.answer_model(asked, PARAPHRASE)

        vote = scenario.feedback(asked)
        scenario.sense("health restored", type_="thing")
        scenario.sense(
            "it went well",
            type_="thing",
            in_reply_to=decision_id(asked),
            outcome="succeeded",
        )

        assert one(vote, FeedbackApplied).heuristic_id is None
        assert len(scenario.mind.beliefs) == 0


def test_separate_predictions_keep_what_the_model_agreed_with() -> None:
    """The comparison is of its answer; the words wait for the prediction."""
    low = known()
    shown, unseen = (
        RealLife(low, withhold=0.0, prediction="separate"),
        RealLife(low, prediction="separate"),
    )

    copied, own = shown.said_by_model(ADVICE), unseen.said_by_model(PARAPHRASE)
    about = one(copied, ModelAsked).about
    end = shown.answer_model(copied, '{"predicted_success": 0.5}')

    assert isinstance(about, UnpredictedWords)
    assert about.agrees_with == (low.ids[0],)
    assert one(end, Completed).agrees_with == (low.ids[0],)
    assert not said(copied, Endorsed)
    assert names(own) == ["Handled", "ModelAsked", "Endorsed"]
    last = unseen.answer_model(own, '{"predicted_success": 0.5}')
    assert names(last) == ["Handled", "Completed", "DeliveryAsked"]


def test_what_is_not_trusted_is_withheld_by_a_draw() -> None:
    """Each one is, with the set probability; the draw is keyed and on record."""
    three = [
        heuristic(f"h{each}", CONDITION, f"{ADVICE} {each}", 0.3) for each in range(3)
    ]
    garden = compiled(pack(*three).pack)
    scenario = RealLife(garden, withhold=0.5)
    drawn: list[bool] = []
    for _ in range(60):
        turn = scenario.wait(60).sense(CONDITION)
        weighed = one(turn, Decided).candidates
        told = {e.arm: e.withheld for e in weighed if e.withheld is not None}
        drawn += told.values()
        fired = said(turn, HeuristicFired)
        prompt = one(turn, ModelAsked).prompt

        assert len(told) == 3
        assert [each.withheld for each in weighed[3:]] == [None, None]
        assert {f.heuristic_id for f in fired} == {
            arm.split(":")[1].split("@")[0] for arm in told if not told[arm]
        }
        assert ("similar situations" in prompt) == (not all(told.values()))
    assert len(drawn) == 180
    assert 60 < sum(drawn) < 120


def test_what_is_trusted_is_never_withheld() -> None:
    """A strategy that asks in spite of it shows it; with no withholding nobody draws."""
    always = {"strategy": {"name": "always_llm"}}
    trusted = RealLife(known(0.9), **always)
    unsure = RealLife(known(0.3), **always)
    shows = RealLife(known(0.3), withhold=0.0)

    assert trusted.decide(CONDITION).candidates[0].withheld is None
    assert unsure.decide(CONDITION).candidates[0].withheld is True
    assert shows.decide(CONDITION).candidates[0].withheld is None


def test_withholding_is_part_of_how_a_model_is_asked() -> None:
    """Its arm is another one: what is said differs by it."""
    asks = [
        RealLife(known(), withhold=share).decide(CONDITION) for share in (0, 0.5, 1)
    ]

    assert len({each.arm for each in asks}) == 3


def test_from_a_good_answer_to_one_that_takes_no_model() -> None:
    """Formed at .3, endorsed to the cap, liked once: then it answers by itself."""
    scenario = RealLife(known(0.05), learning=plain_learning())
    condition = "the player is standing in the dark forest and a wolf is howling close"
    message = "A wolf is near you in the dark: climb up a tree and wait for the dawn"
    asked = scenario.sense("a wolf howls close by in the dark forest")
    scenario.wait(1).answer_model(asked, "Climb a tree, wolves are near!")
    rule = (
        f'{{"condition": "{condition}", "type": "warn", "message": "{message}",'
        ' "when": null}'
    )
    formed = scenario.answer_model(scenario.wait(1).feedback(asked), rule)
    id_ = one(formed, HeuristicFormed).heuristic_id
    for _ in range(8):
        answer = "A wolf is near in the dark, so climb a tree and wait for dawn."
        scenario.said_by_model(answer, event="a wolf howls in the dark forest close by")
    scenario.tell(vote_on(id_))
    decided = scenario.wait(600).decide(
        "the player is in the dark forest, a wolf howls"
    )

    assert (decided.path, decided.text) == ("heuristic", message)
    assert decided.matched_heuristic_id == id_
