"""The rows of what is spoken: an ask ends when the speech does, not when it begins."""

from schemas.messages.results import DeliveryBegun, DeliveryInterrupted
from tests.projections.chronicle import LOW, garden
from tests.projections.test_rows import rows


def test_speech_that_was_cut_off_is_answered_so() -> None:
    """Its beginning is no answer yet."""
    scenario = garden()
    [ask] = [e for e in scenario.sense(LOW).outputs if "ask" in e.record.subject]
    scenario.tell(DeliveryBegun(ask_id=ask.id, channel="speech"))
    [open_] = rows(scenario, "asks")
    scenario.tell(
        DeliveryInterrupted(
            ask_id=ask.id, channel="speech", reason="urgent", after_ms=1_200.0
        )
    )
    [row] = rows(scenario, "asks")

    assert open_["answered_at"] is None
    assert (row["answer"], row["detail"]) == ("interrupted", "urgent")
