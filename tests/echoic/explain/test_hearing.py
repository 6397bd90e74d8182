"""Explanations of who was to hear something: told in private, or kept for later."""

from typing import get_args

import pytest
from msgspec import structs

from echoic.explain.explain import explain
from schemas.values.reasons import Hearing
from tests.echoic.explain.test_explain import record
from tests.echoic.samples import NAMES, decided


@pytest.mark.parametrize("hearing", get_args(Hearing))
def test_each_reason_is_told_whether_it_waits_or_was_said(hearing: Hearing) -> None:
    """In words of its own, and not as if the person were busy."""
    private = structs.replace(decided(), hearing=hearing)
    waits = structs.replace(private, final=False, timing="queued")
    told, kept = (explain(record(each), NAMES).verdict for each in (private, waits))

    assert told.startswith(
        "Spoke by the heuristic creeper-warn (confidence 0.82 ≥ 0.70)."
    )
    assert " Not aloud at once: " in told
    assert kept.startswith("Will speak by creeper-warn: it waits for ")
    assert "busy" not in kept
    assert "_" not in told + kept
