"""Terms: what constraints and priors let evidence do to a heuristic, and what not."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map
from pydantic import ValidationError

from projections.folds import controls
from projections.folds.learning import beliefs, confidence, signal_weights
from projections.folds.learning.beliefs import FREE, Terms
from schemas.packs.constraints import Constraints, within
from schemas.state.agent import AgentState
from schemas.state.evidence import Belief, Prior
from schemas.state.taught import Shelf, Taught
from schemas.values.learning_settings import LearningSettings, OriginFactors
from tests.factories import NOON, after, heuristic, pack, plain_learning

Said = tuple[Literal["seen", "voted"], bool, str]
SAID: st.SearchStrategy[list[Said]] = st.lists(
    st.tuples(
        st.sampled_from(("seen", "voted")), st.booleans(), st.sampled_from("abcdef")
    ),
    max_size=40,
)
BOUND = st.floats(0.05, 0.95)

WEIGHTY = Prior(kappa=16.0)


def told(said: list[Said], learning: LearningSettings, declared: float = 0.5) -> Belief:
    """What is believed once all this was said of a heuristic's fires."""
    held = confidence.initial(declared, learning)
    for place, (kind, good, fire) in enumerate(said):
        if kind == "seen":
            held = confidence.observed(held, fire, good, place, learning)
        else:
            vote = 1.0 if good else -1.0
            held = confidence.voted(held, fire, "ada", vote, place, learning)
    return held


@given(SAID, BOUND)
def test_a_locked_one_never_moves(said: list[Said], declared: float) -> None:
    """Whatever the world and people say; neither do its pseudo-counts."""
    its = beliefs.learning_under(plain_learning(), Terms(locked=declared))
    held = told(said, its, declared)

    assert beliefs.bounded(held, its).confidence == round(declared, 6)
    start = confidence.initial(declared, its)
    assert (held.alpha, held.beta) == (start.alpha, start.beta)
    assert len(held.signals) == len({(kind, fire) for kind, _, fire in said})


@given(SAID, BOUND, BOUND)
def test_a_confidence_stays_within_its_bounds(
    said: list[Said], one: float, other: float
) -> None:
    """After whatever was said, and as soon as the bounds hold."""
    floor, ceiling = sorted((one, other))
    its = beliefs.learning_under(plain_learning(), Terms(floor=floor, ceiling=ceiling))
    late = beliefs.bounded(told(said, plain_learning()), its).confidence

    reported = beliefs.bounded(told(said, its), its).confidence
    assert round(floor, 6) <= reported <= round(ceiling, 6)
    assert reported == late


@given(SAID, st.floats(0.25, 2.0))
def test_a_feedback_weight_changes_votes_alone(said: list[Said], weight: float) -> None:
    """Each vote's delta is that many times as much, each outcome's the same."""
    plain = told(said, plain_learning())
    held = told(
        said, beliefs.learning_under(plain_learning(), Terms(feedback_weight=weight))
    )

    votes = [each.value for each in plain.signals if each.kind == "explicit"]
    gained = 0.8 * (weight - 1.0)
    assert held.alpha - plain.alpha == pytest.approx(sum(votes) * gained, abs=1e-5)
    lost = sum(1.0 - each for each in votes) * gained
    assert held.beta - plain.beta == pytest.approx(lost, abs=1e-5)


@given(SAID, st.floats(0.0, 5.0))
def test_repeated_approvals_count_for_less(said: list[Said], k: float) -> None:
    """The first as ever, the one after n of them 1 / (1 + k n) of it; nothing else."""
    plain = told(said, plain_learning())
    held = told(said, plain_learning(repeat_decay=k))

    approved = sum(1 for each in plain.signals if signal_weights.is_approval(each))
    less = sum(0.8 * (1.0 - 1.0 / (1.0 + k * n)) for n in range(approved))
    assert plain.alpha - held.alpha == pytest.approx(less, abs=1e-5)
    assert plain.beta == held.beta


def test_repeated_approvals_are_counted_beyond_what_can_change() -> None:
    """Evidence that is settled was repeated all the same."""
    learning = plain_learning(repeat_decay=1.0)
    said: list[Said] = [("voted", True, str(each)) for each in range(600)]
    held = told(said, learning)

    exact = 1.0 + sum(0.8 / (1.0 + n) for n in range(600))
    assert held.alpha == pytest.approx(exact, abs=1e-5)
    assert held.settled_approvals == 600 - confidence.SIGNAL_LIMIT


@pytest.mark.parametrize(
    ("settings", "its", "bounds"),
    [
        ({}, {}, (0.0, 1.0)),
        ({"floor": 0.2}, {}, (0.2, 0.95)),
        ({"ceiling": 0.7}, {}, (0.05, 0.7)),
        ({"floor": 0.01, "ceiling": 0.99}, {}, (0.05, 0.95)),
        ({}, {"floor": 0.4}, (0.4, 0.95)),
        ({"floor": 0.2, "ceiling": 0.8}, {"floor": 0.4}, (0.4, 0.8)),
        ({"ceiling": 0.3}, {"floor": 0.4}, (0.4, 0.4)),
        ({"floor": 0.5}, {"ceiling": 0.4}, (0.4, 0.4)),
        ({"floor": 0.6, "ceiling": 0.5}, {}, (0.5, 0.5)),
    ],
)
def test_bounds_are_on_where_one_is_set(
    settings: Any, its: Any, bounds: tuple[float, float]
) -> None:
    """Then within 0.05 and 0.95; what the author says goes before the settings."""
    assert beliefs.bounds(plain_learning(**settings), Terms(**its)) == bounds


def test_a_heuristic_goes_before_its_pack_and_that_before_the_settings() -> None:
    """Each key by itself; what contradicts a heuristic's own bound does not hold."""
    wider = Constraints(locked=True, floor=0.3, ceiling=0.6, feedback_weight=0.5)
    own = Constraints(locked=False, floor=0.8)

    assert within(Constraints(), wider) == wider
    assert within(own, Constraints()) == own
    assert within(own, wider) == Constraints(
        locked=False, floor=0.8, feedback_weight=0.5
    )
    assert within(Constraints(ceiling=0.2), wider).floor is None
    weighed = beliefs.learning_under(
        plain_learning(feedback_weight=2.0), Terms(feedback_weight=0.5)
    )
    assert weighed.weights.explicit == 0.4
    by_settings = beliefs.learning_under(plain_learning(feedback_weight=2.0), FREE)
    assert by_settings.weights.explicit == 1.6
    assert beliefs.learning_under(plain_learning(), FREE) == plain_learning()


def test_a_prior_is_what_its_origin_starts_from() -> None:
    """Its weight and, if it says, its mean; a locked one stays what was declared."""
    garden = pack(
        heuristic("free", "dry", "Water.", confidence=0.8),
        heuristic(
            "held", "wet", "Wait.", confidence=0.8, constraints=Constraints(locked=True)
        ),
    )
    free, held = garden.ids
    weighty = AgentState(priors=Map({"skill_pack": Prior(kappa=4.0)}))
    known = AgentState(priors=Map({"skill_pack": Prior(kappa=4.0, mean=0.6)}))

    assert beliefs.terms_in_force(AgentState(), (garden,)) == {
        free: Terms(origin="skill_pack"),
        held: Terms(origin="skill_pack", locked=0.8),
    }
    assert beliefs.terms_of(weighty, (garden,), free) == Terms(
        kappa=4.0, origin="skill_pack"
    )
    assert beliefs.terms_of(weighty, (garden,), "nobody") == FREE
    assert beliefs.declared_confidence(weighty, (garden,), free) == 0.8
    assert beliefs.declared_confidence(known, (garden,), free) == 0.6
    assert beliefs.declared_confidence(known, (garden,), held) == 0.8
    learning = plain_learning()
    start = beliefs.raw_belief(
        known, (garden,), learning, free, garden.content_hashes[0]
    )
    assert (start.alpha, start.beta) == (2.4, 1.6)


@given(SAID, BOUND)
def test_a_new_trial_starts_from_what_was_declared(
    said: list[Said], declared: float
) -> None:
    """It keeps how often it fired and succeeded, and nothing of what was learnt."""
    learning = plain_learning()
    held = told(said, learning, declared)
    anew = controls.revived(held, declared, learning)

    start = declared if declared >= 0.1 else 0.3
    assert anew.confidence == confidence.initial(start, learning).confidence
    assert anew.signals == ()
    assert anew.success_count == held.success_count
    assert anew.trials == held.trials + 1
    once = confidence.observed(anew, "new", True, 99, learning)
    assert once.success_count == held.success_count + 1


def test_a_floor_is_not_over_its_own_ceiling() -> None:
    """Nobody can be within such bounds."""
    with pytest.raises(ValidationError, match="the floor is over the ceiling"):
        Constraints(floor=0.6, ceiling=0.5)


@pytest.mark.parametrize(
    ("seconds", "days", "stale"),
    [
        (30 * 86_400, 30.0, False),
        (30 * 86_400 + 1, 30.0, True),
        (43_201, 0.5, True),
        (10**9, 0.0, False),
    ],
)
def test_what_has_not_fired_for_long_is_stale(
    seconds: int, days: float, stale: bool
) -> None:
    """By the agent's time; of zero days nothing is, and nothing that never fired."""
    assert beliefs.is_stale(NOON, after(seconds), days) is stale
    assert beliefs.is_stale(None, after(seconds), days) is False


def test_what_is_declared_weighs_by_who_declared_it() -> None:
    """A pack's .8 outlives one failure; a pooled or set prior has the last word."""
    garden = pack(heuristic("low", "health low", "Drink.", confidence=0.8))
    by_origin = plain_learning(
        kappa_by_origin=OriginFactors(skill_pack=4.0, seeded=2.0)
    )
    id_, content = garden.ids[0], garden.content_hashes[0]
    found = {}
    for learning in (plain_learning(), by_origin):
        for state in (AgentState(), AgentState(priors=Map({"skill_pack": WEIGHTY}))):
            its = beliefs.learning_under(
                learning, beliefs.terms_of(state, (garden,), id_)
            )
            held = beliefs.raw_belief(state, (garden,), learning, id_, content)
            failed = confidence.observed(held, "f", False, 1, its)
            found[learning.kappa_by_origin.skill_pack, len(state.priors)] = (
                its.kappa,
                failed.confidence,
            )

    assert found == {
        (1.0, 0): (2.0, 0.533333),
        (1.0, 1): (16.0, 0.752941),
        (4.0, 0): (8.0, 0.711111),
        (4.0, 1): (16.0, 0.752941),
    }
    assert beliefs.learning_under(by_origin, Terms(origin="seeded")).kappa == 4.0
    assert beliefs.learning_under(by_origin, Terms(origin="learned")) is by_origin
    assert beliefs.learning_under(by_origin, FREE) is by_origin


PACKS = {
    "free": pack(heuristic("one", "dry", "Water.", confidence=0.4)),
    "bound": pack(
        heuristic("one", "dry", "Water.", constraints=Constraints(floor=0.9))
    ),
}
TAUGHT = Taught(
    heuristic_id=PACKS["free"].ids[0],
    name="one",
    domain="garden",
    condition="dry",
    when=None,
    response_type="suggestion",
    text="Water.",
    action=None,
    confidence=0.2,
    urgency=0.0,
    content_hash="hash",
    vector=b"",
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from((None, WEIGHTY, Prior(kappa=3.0, mean=0.9))),
            st.sampled_from((plain_learning(), plain_learning(kappa=5.0))),
            st.sampled_from((("free", "bound"), ("bound", "free"), ("bound",))),
            st.booleans(),
        ),
        max_size=8,
    )
)
def test_what_nobody_judged_is_believed_as_if_it_were_worked_out_anew(
    asked: list[tuple[Prior | None, LearningSettings, tuple[str, ...], bool]],
) -> None:
    """Whatever prior, settings, packs and lessons were in force when it was asked before."""
    (id_,) = PACKS["free"].ids
    shelf = Shelf(heuristics=Map({id_: TAUGHT}))
    for prior, learning, names, is_taught in asked:
        state = AgentState(
            priors=Map({"skill_pack": prior} if prior else {}),
            shelves=Map({"p": shelf} if is_taught else {}),
        )
        used = tuple(PACKS[name] for name in names)
        its = beliefs.learning_under(learning, beliefs.terms_of(state, used, id_))
        start = confidence.initial(beliefs.declared_confidence(state, used, id_), its)

        assert beliefs.raw_belief(state, used, learning, id_, "hash") == start
        assert beliefs.bounded_belief(
            state, used, learning, id_, "hash"
        ) == beliefs.bounded(start, its)
