"""A function of rows that raises: one input lacks its rows, and the tables go on."""

import pytest

from projections.projector.projector import Projector
from projections.projector.rebuild import rebuild, verify
from projections.rows import decisions
from projections.rows.changes import Put
from projections.rows.folded_group import Folded
from projections.store import queries
from projections.store.store import Store
from schemas.codec.envelope import Output
from schemas.messages.decisions import Decided
from schemas.messages.sensing import Sensed
from tests.projections.chronicle import Chronicle, garden, here
from tests.projections.store.test_store import values

pytestmark = pytest.mark.services

_DECIDED = decisions.decided


def _broken(folded: Folded, output: Output, message: Decided) -> Put:
    """Raise at one event, as a mistake of ours would."""
    event = folded.input.message
    if isinstance(event, Sensed) and event.text == "a trap":
        raise KeyError(event.text)
    return _DECIDED(folded, output, message)


@pytest.fixture
async def chronicle(monkeypatch: pytest.MonkeyPatch) -> Chronicle:
    """A log with an event in it that a mistake in the rows trips over."""
    monkeypatch.setattr(decisions, "decided", _broken)
    scenario = garden()
    scenario.sense("before")
    scenario.wait(1).sense("a trap")
    scenario.wait(1).sense("behind")
    chronicle = Chronicle(scenario)
    await chronicle.catch_up()
    return chronicle


def texts(store: Store) -> list[object]:
    """What was decided on, by the tables."""
    found = values(store, "SELECT event_text FROM decisions ORDER BY sequence")
    return [text for (text,) in found]


async def test_an_input_whose_rows_raise_stops_no_projector(
    chronicle: Chronicle, store: Store
) -> None:
    """It stands in the quarantine with what raised, and the position moves past it."""
    await Projector(chronicle.log, store, chronicle.aids).catch_up()

    (lacking,) = queries.without_rows(store)
    assert lacking.input_id == chronicle.scenario.turns[-2].input.id
    assert lacking.detail.startswith("KeyError in projections.rows.")
    assert texts(store) == ["before", "behind"]
    (position,) = store.positions(1).values()
    assert position.sequence == chronicle.last_input


async def test_a_rebuild_with_the_mistake_mended_makes_the_rows(
    chronicle: Chronicle, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then the tables are what this program makes of the log; then they differ."""
    await Projector(chronicle.log, store, chronicle.aids).catch_up()
    assert (await verify(chronicle.log, store, here(chronicle, store))).is_equal

    monkeypatch.setattr(decisions, "decided", _DECIDED)
    assert not (await verify(chronicle.log, store, here(chronicle, store))).is_equal
    await rebuild(store, here(chronicle, store))

    assert texts(store) == ["before", "a trap", "behind"]
    assert queries.without_rows(store) == ()
