"""Products of int8 vectors are exact, and the nearest rows come in one fixed order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.values.exact_math import round6
from schemas.values.vectors import (
    Limits,
    VectorBatch,
    cosine,
    likenesses,
    nearest,
    stack,
    top,
)

vectors = st.binary(min_size=8, max_size=8)


def as_vector(*values: int) -> bytes:
    return np.array(values, dtype=np.int8).tobytes()


def slow_cosine(a: bytes, b: bytes) -> float:
    x, y = (np.frombuffer(v, dtype=np.int8).tolist() for v in (a, b))
    length = math.sqrt(sum(p * p for p in x)) * math.sqrt(sum(q * q for q in y))
    return (
        round6(sum(p * q for p, q in zip(x, y, strict=True)) / length) if length else 0
    )


@given(vectors, vectors)
def test_cosine_is_the_textbook_one(a, b):
    """The cosine equals the schoolbook sum over whole numbers, and lies in [-1, 1]."""
    assert cosine(a, b) == slow_cosine(a, b) == cosine(b, a)
    assert -1.0 <= cosine(a, b) <= 1.0


@given(st.lists(vectors, max_size=12), vectors, st.integers(1, 5), st.floats(-1.0, 1.0))
def test_top_equals_sorting_them_all(rows, vector, k, at_least):
    """The matrix finds the rows that one-by-one comparison finds, in the same order."""
    every = [(row, slow_cosine(other, vector)) for row, other in enumerate(rows)]
    expected = sorted(
        (pair for pair in every if pair[1] >= at_least), key=lambda p: (-p[1], p[0])
    )

    assert top(stack(rows), vector, k, at_least) == expected[:k]
    for _, reached in expected[:k]:
        assert top(stack(rows), vector, k, reached)[0] == expected[0]


@given(st.lists(vectors, min_size=1, max_size=6), st.lists(vectors, max_size=6))
def test_a_batch_changes_no_product(rows, together):
    """Vectors multiplied together have the cosines that each has alone."""
    matrix, batch = stack(rows), VectorBatch(together)

    for vector in together:
        products = batch.products(matrix, vector)
        every = top(matrix, vector, 6, -1.0)
        assert top(matrix, vector, 6, -1.0, products) == every
        assert top(matrix, vector, 3, 0.1, products) == top(matrix, vector, 3, 0.1)


def test_a_batch_knows_no_other_vector():
    """A vector that did not come with the others has no products there."""
    batch = VectorBatch([as_vector(1, 2), as_vector(3, 4)])

    assert batch.products(stack([as_vector(1, 0)]), as_vector(5, 6)) is None


def test_a_batch_meets_several_matrices():
    """Each is multiplied once, and they are not taken for one another."""
    together = [as_vector(1, 2), as_vector(3, 4)]
    batch, near, far = (
        VectorBatch(together),
        stack([as_vector(1, 0)]),
        stack([as_vector(0, 1)]),
    )

    for _ in range(2):
        products = [batch.products(matrix, together[1]) for matrix in (near, far)]
        assert [None if each is None else each.tolist() for each in products] == [
            [3.0],
            [4.0],
        ]


def test_the_limit_itself_is_reached():
    """A cosine that rounds up to the limit counts as at the limit."""
    matrix = stack([as_vector(3, 4), as_vector(4, 3)])

    assert top(matrix, as_vector(3, 4), 5, 0.96) == [(0, 1.0), (1, 0.96)]


@pytest.mark.parametrize("dimension", [1024, 1025])
def test_the_largest_products_are_exact(dimension):
    """Extreme values sum up exactly, also where float32 would not hold them."""
    odd = bytes([128]) * (dimension - 1) + bytes([127])
    matrix = stack([odd])

    assert matrix.squares[0] == 128 * 128 * (dimension - 1) + 127 * 127
    assert top(matrix, odd, 1, 1.0) == [(0, cosine(odd, odd))] == [(0, 1.0)]


@pytest.mark.parametrize("dimension", [1025, 4096])
def test_the_nearest_of_a_few_is_told_in_any_dimension(dimension):
    """A product larger by one tells them apart, where float32 would see equals."""
    most = [127] * (dimension - 2)
    vector = as_vector(*most, 127, 126)
    farther, nearer = as_vector(*most, 3, 4), as_vector(*most, 4, 3)

    found = nearest([farther, nearer], vector)
    assert found == (1, cosine(nearer, vector))
    assert likenesses([farther], vector) == [cosine(farther, vector)]


def test_zero_vectors_resemble_nothing():
    """A zero row or vector has cosine 0 with everything, without a warning."""
    zero, one = as_vector(0, 0), as_vector(1, 0)

    assert cosine(zero, one) == 0.0
    assert top(stack([zero, one]), one, 2, 0.0) == [(1, 1.0), (0, 0.0)]
    assert top(stack([zero, one]), zero, 2, 0.0) == [(0, 0.0), (1, 0.0)]
    assert top(stack([zero, one]), zero, 2, 1e-5) == []


def test_an_empty_matrix_has_no_neighbours():
    """No rows, no matches, whatever the vector."""
    assert len(stack([])) == 0
    assert top(stack([]), as_vector(1, 2), 3, 0.0) == []


def test_dimensions_must_agree():
    """Vectors of different embedders are never compared by accident."""
    with pytest.raises(ValueError, match="2 and 3 dimensions"):
        cosine(as_vector(1, 2), as_vector(1, 2, 3))
    with pytest.raises(ValueError, match=r"\[2, 3\] dimensions"):
        stack([as_vector(1, 2), as_vector(1, 2, 3)])
    with pytest.raises(ValueError, match="embedder in force"):
        top(stack([as_vector(1, 2)]), as_vector(1, 2, 3), 1, 0.0)


def test_matrices_cannot_be_written():
    """What agents share is read-only."""
    with pytest.raises(ValueError, match="read-only"):
        stack([as_vector(1, 2)]).rows[0, 0] = 5


def test_limits_are_values():
    """Two embedders with the same limits agree on them."""
    assert Limits(0.5, 0.8, 0.5) == Limits(match=0.5, duplicate=0.8, endorse=0.5)
