"""Judging: what is settled stays as it is, and what is forgotten does no harm."""

from msgspec.structs import replace

from projections.folds import fires
from projections.folds.learning import confidence, heuristics, raters, vote_targets
from schemas.messages.controls import HeuristicEdited, HeuristicSeeded
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import AdviceIgnored, FeedbackApplied
from schemas.messages.results import ClockTicked
from schemas.state import limits
from schemas.state.agent import STRANGER, Remembered
from schemas.state.evidence import Belief, Rater
from schemas.values.bounded_map import Bounded
from tests import factories
from tests.factories import heuristic, pack, pattern, plain_learning
from tests.scenario import Scenario, decision_id, said

THREAT = {"threat": 0.9}
GARDEN = pack(
    heuristic("low", "health low", "Drink.", confidence=0.5),
    patterns=[pattern("health", "health restored", 60)],
)
KEY = f"{GARDEN.ids[0]}@{GARDEN.content_hashes[0]}"
LEARNING = plain_learning()


def settled(held: Belief) -> Belief:
    """The belief once so much came after that none of this can change any more."""
    for place in range(confidence.SIGNAL_LIMIT):
        held = confidence.observed(held, f"later {place}", True, place, LEARNING)
    return held


def believing(scenario: Scenario, held: Belief) -> None:
    """Let the agent believe this."""
    me = scenario.mind
    me = replace(me, beliefs=me.beliefs.set(KEY, held))
    scenario.state = replace(
        scenario.state, agents=scenario.state.agents.set(scenario.agent, me)
    )


def test_a_settled_vote_can_neither_be_changed_nor_doubled() -> None:
    """The fire keeps the one entry that it had, whatever aspect comes later."""
    scenario = Scenario(GARDEN, threshold=0.3)
    turn = scenario.sense("health low", salience=THREAT)
    scenario.feedback(turn, "positive")
    held = settled(scenario.mind.beliefs[KEY])
    believing(scenario, held)
    for aspect in ("overall", "timing", "action", "condition", "overall"):
        scenario.feedback(turn, "negative", aspect=aspect)

    assert scenario.mind.beliefs[KEY].signals == held.signals
    assert scenario.mind.beliefs[KEY].alpha == held.alpha
    assert scenario.mind.decisions[decision_id(turn)].entries[0] == "pair"


def test_what_silence_counted_for_is_not_doubled_once_it_is_settled() -> None:
    """A report that comes so late is known, and moves nothing."""
    scenario = Scenario(GARDEN, threshold=0.3, learning={"ignored_after": 1})
    turn = scenario.sense("health low", salience=THREAT)
    assert said(scenario.wait(100).tell(ClockTicked(due_at=scenario.at)), AdviceIgnored)
    held = settled(scenario.mind.beliefs[KEY])
    believing(scenario, held)
    scenario.sense("hm", in_reply_to=decision_id(turn), outcome="succeeded")

    assert scenario.mind.beliefs[KEY].signals == held.signals
    assert scenario.mind.decisions[decision_id(turn)].outcome == "success"


def test_a_fire_of_a_forgotten_decision_makes_no_row() -> None:
    """Nobody knows any more whether it was judged."""
    scenario = Scenario(GARDEN, threshold=0.3, learning={"ignored_after": 1})
    scenario.sense("health low", salience=THREAT)
    nothing: Bounded[str, Remembered] = Bounded(limits.DECISIONS)
    me = replace(scenario.mind, decisions=nothing)
    scenario.state = replace(
        scenario.state, agents=scenario.state.agents.set(scenario.agent, me)
    )
    turn = scenario.wait(100).tell(ClockTicked(due_at=scenario.at))

    assert not said(turn, AdviceIgnored)


def test_an_edit_takes_the_fit_along_where_the_condition_stays() -> None:
    """Other words for the same situation are as wrong there as the ones before."""
    scenario = Scenario(threshold=0.3)
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h",
            name="h",
            domain="game",
            condition="health low",
            text="Rest.",
            confidence=0.6,
        )
    )
    vote = FeedbackGiven(heuristic_id="h", rating="negative", aspect="condition")
    assert said(scenario.tell(vote), FeedbackApplied)
    scenario.control(HeuristicEdited(heuristic_id="h", text="Sleep.", keep=True))
    assert len(scenario.mind.fits) == 2
    scenario.control(HeuristicEdited(heuristic_id="h", condition="tired", keep=True))

    assert len(scenario.mind.fits) == 2


def test_undo_that_is_switched_off_forgets_what_was_shown() -> None:
    """Nothing is kept that nobody may ask for."""
    garden = pack(heuristic("low", "health low", "Drink.", confidence=0.5))
    scenario = Scenario(garden, threshold=0.3, learning={"undo_s": 30.0})
    scenario.sense("health low", salience=THREAT)
    assert len(scenario.mind.shown) == 1
    state = scenario.state
    off = Scenario(garden, threshold=0.3, state=state)
    settings = off.settings.model_copy(update={"learning": LEARNING})
    off.state = replace(state, shared=replace(state.shared, settings=settings))
    off.wait(60).sense("health low", salience=THREAT, id_="again")

    assert off.mind.shown == ()


def test_a_base_is_shrunk_and_leaves_out_what_it_is_for() -> None:
    """Ten votes of no opinion stand before everybody's first."""
    people: Bounded[str, Rater] = Bounded(10)
    assert raters.base(people, "ana", "d1") == 0.0
    for place in range(10):
        people = raters.voted(people, "ana", f"d{place}", 1.0)

    assert raters.base(people, "ana", "new") == 0.5
    assert raters.base(people, "ana", "d1") == 0.473684
    assert raters.share(1.0, 0.5) == 0.5
    assert raters.share(1.0, 0.9) == raters._LEAST_SHARE
    assert raters.share(-1.0, 0.9) == 1.0


def test_nobody_remembers_what_was_never_decided() -> None:
    """Neither a vote nor silence makes a decision of it."""
    about = {
        "decision_id": "long ago",
        "fire_id": "f",
        "heuristic_id": "h",
        "content_hash": "c",
    }
    ignored = AdviceIgnored(**about, count=3)
    vote = FeedbackApplied.from_fields(
        {**about, "actor": "ana", "value": 1.0, "aspect": "condition"}
    )

    assert fires.ignored(STRANGER, ignored) == STRANGER
    assert vote_targets.noted(STRANGER, STRANGER, vote, (), is_kept=True) == STRANGER
    assert vote_targets.felt(STRANGER, vote, factories.NOON, None) == STRANGER
    assert vote_targets.earlier(STRANGER, None, vote) == ()
    assert vote_targets.fit(STRANGER, "h", "c") == 1.0


def test_an_action_is_that_of_the_heuristic_as_it_stands() -> None:
    """Of whichever pack has it; of no other, and of none that is gone."""
    lamp = {"text": "Light!", "action": {"type": "light_on"}}
    packs = [GARDEN, pack(heuristic("lamp", "dark", "Light!", action=lamp), name="b")]

    ids = packs[1].ids[0], GARDEN.ids[0], "gone"
    lit, plain, gone = (heuristics.find(STRANGER, packs, id_) for id_ in ids)

    assert lit is not None
    assert lit.action is not None
    assert lit.action.type == "light_on"
    assert plain is not None
    assert plain.action is None
    assert gone is None
