"""Partitions shared out among processes that answer them again."""

from echoic.client.verification import shares


def test_every_partition_goes_to_one_process() -> None:
    """The inputs are spread evenly, and no process is started for nothing."""
    inputs = {0: 10, 3: 90, 5: 40, 9: 50, 12: 10}

    assert shares(inputs, 2) == [{3: 90, 0: 10}, {9: 50, 5: 40, 12: 10}]
    assert shares(inputs, 1) == [inputs]
    assert len(shares(inputs, 8)) == 5
    assert shares({}, 4) == []
