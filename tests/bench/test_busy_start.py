"""A start over a backlog beside busy processes, at a tiny size."""

import pytest

from bench.busy_start import measure

pytestmark = [pytest.mark.services, pytest.mark.slow]


def test_an_instance_starts_over_a_backlog() -> None:
    """What waited in the log and in the intake streams is answered in the end."""
    found = measure(waiting=60, spinning=1)

    assert found["waiting"] == 60
    assert found["started_s"] > 0
