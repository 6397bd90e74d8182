"""Tables of folds: each kind of message has its row."""

from projections.folds.agent import FOLDS
from schemas.codec.catalogue import OUTPUTS


def test_each_output_is_folded_or_named_as_changing_nothing() -> None:
    """A new kind of output fails here until its row stands in the table."""
    assert sorted(FOLDS, key=repr) == sorted(OUTPUTS, key=repr)
