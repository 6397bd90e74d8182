"""Vectors that decide: int8 values whose products are exact on every machine.

Dot products of int8 values are whole numbers up to 2**24, so float32 holds every
partial sum exactly, in whatever order and by however many threads they are added. What
follows (square root, product, quotient) is elementwise and correctly rounded by IEEE 754
(docs/adr/0004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from operator import truediv
from typing import TYPE_CHECKING, Any, Protocol

from schemas.values.exact_math import round6
from schemas.values.lazily import Lazily

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    # A command that compares nothing starts without it, a sixth of a second sooner.
    np = Lazily("numpy", keeps=True)

Vector = bytes
"""One int8 value per dimension."""

_EXACT_DIMENSIONS = 1024
"""128 * 128 * 1024 = 2**24: up to here float32 is exact; beyond it float64 is used."""

_FAR_MARGIN = 1e-5
"""More than rounding to 6 decimals (5e-7) and single precision (some 1e-7) can add to a
cosine, so that the coarse test drops nothing that the exact one would keep."""

_ROUNDING_MARGIN = 1e-6
"""Twice the 5e-7 that rounding can add: of two cosines one may rise and one may fall."""


@dataclass(frozen=True, slots=True)
class Limits:
    """At which cosine two texts count as alike; measured for each embedder."""

    match: float
    """An event meets a heuristic's condition."""
    duplicate: float
    """Two texts say the same."""
    endorse: float
    """A model's answer is the heuristic's own advice in other words."""
    goal: float = 0.0
    """An event is about a goal; 0: any may be."""


class Embedder(Protocol):
    """Turns texts into vectors; the shell calls it, and the log records what it returned
    where another machine might compute other bytes."""

    @property
    def name(self) -> str:
        """What settings call it."""

    @property
    def dimension(self) -> int:
        """How many values its vectors have."""

    @property
    def exact(self) -> bool:
        """Whether every machine computes the same bytes."""

    @property
    def digest(self) -> str:
        """A content hash of its weights and tokenizer."""

    @property
    def limits(self) -> Limits:
        """Its measured limits."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order."""


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Vectors as rows, ready to be multiplied; read-only and shared between agents."""

    rows: NDArray[np.floating[Any]]
    """Rows by dimensions, whole numbers in -128..127."""
    squares: NDArray[np.float64]
    """The squared length of each row."""
    lengths: NDArray[np.float64]
    """The length of each row; infinite for a zero row, so that its cosines are zero."""
    about: NDArray[np.float32]
    """The lengths in single precision, for the coarse test of `top`."""

    def __len__(self) -> int:
        return len(self.squares)


def stack(vectors: Sequence[Vector]) -> Matrix:
    """Make a matrix of vectors of one dimension; none give an empty matrix.

    Raises:
        ValueError: the vectors differ in dimension.
    """
    dimension = len(vectors[0]) if vectors else 0
    lengths = sorted({len(vector) for vector in vectors})
    if len(lengths) > 1:
        raise ValueError(f"vectors of {lengths} dimensions: use one embedder for all")
    values = np.frombuffer(b"".join(vectors), np.int8)
    values = values.reshape(len(vectors), dimension)
    # Squares sum in int64, since int8 would overflow; up to 2**53 a float64 holds them.
    squares = np.einsum("ij,ij->i", values, values, dtype=np.int64).astype(np.float64)
    rows = _as_floats(values, dimension)
    # The matrix is shared by all agents that load the pack.
    rows.setflags(write=False)
    roots: NDArray[np.float64] = np.where(squares > 0.0, np.sqrt(squares), np.inf)
    return Matrix(rows, squares, roots, roots.astype(np.float32))


def cosine(a: Vector, b: Vector) -> float:
    """Return the cosine of two vectors, rounded; 0 if one of them is zero.

    Raises:
        ValueError: the vectors differ in dimension.
    """
    if len(a) != len(b):
        raise ValueError(f"vectors of {len(a)} and {len(b)} dimensions have no cosine")
    # In int64, since a product of two int8 does not fit into one.
    x = np.frombuffer(a, np.int8).astype(np.int64)
    y = np.frombuffer(b, np.int8).astype(np.int64)
    length = sqrt(x @ x) * sqrt(y @ y)
    return round6(float(x @ y) / length) if length else 0.0


def nearest(near: Sequence[Vector], vector: Vector) -> tuple[int, float] | None:
    """Return the index and cosine of the nearest of a few vectors, the first among equals.

    None if there are no vectors. For a handful that changes with each event this is faster
    than stacking a matrix.
    """
    if not near:
        return None
    parts = _parts(near, vector)
    # Dividing all by one positive length keeps their order, so it is done for one alone.
    longest = max(parts)
    return parts.index(longest), round6(longest / _lengths_of((vector,))[0])


def likenesses(near: Sequence[Vector], vector: Vector) -> list[float]:
    """Return the cosine of each of a few vectors to one, in their order."""
    (length,) = _lengths_of((vector,))
    return [round6(part / length) for part in _parts(near, vector)] if near else []


def _parts(near: Sequence[Vector], vector: Vector) -> list[float]:
    """Return the cosines, still to be divided by the length of `vector`."""
    # `@` has twice the call overhead of `dot`, which is most of so small a product.
    products = _as_rows(near, len(vector)).dot(_floats(vector)).tolist()
    return list(map(truediv, products, _lengths_of(near)))


class VectorBatch:
    """Vectors of inputs that are answered together, multiplied by a matrix all at once.

    That takes a third of the time of one product after the other. The results are the same,
    since they are whole numbers.
    """

    def __init__(self, vectors: Sequence[Vector]) -> None:
        """Take vectors of one dimension."""
        self._vectors = tuple(vectors)
        self._places = {vector: place for place, vector in enumerate(vectors)}
        self._made: list[tuple[Matrix, NDArray[np.floating[Any]]]] = []
        if len({len(vector) for vector in vectors}) == 1:
            rows = _as_rows(vectors, len(vectors[0]))
            _measure(vectors, rows)
            _rows_of_batch.clear()
            _rows_of_batch.update(zip(vectors, rows, strict=True))

    def products(
        self, matrix: Matrix, vector: Vector
    ) -> NDArray[np.floating[Any]] | None:
        """Return the products of a vector of the batch with each row of `matrix`.

        None if they are no cheaper than one by one, or cannot be made.
        """
        place = self._places.get(vector)
        if place is None or len(self._places) < 2 or not _fits(matrix, vector):
            return None
        products: NDArray[np.floating[Any]] = self._all_products(matrix)[place]
        return products

    def _all_products(self, matrix: Matrix) -> NDArray[np.floating[Any]]:
        # A list, since a batch meets only the few matrices of the packs in force.
        for known, made in self._made:
            if known is matrix:
                return made
        rows = _as_rows(self._vectors, matrix.rows.shape[1])
        products: NDArray[np.floating[Any]] = rows @ matrix.rows.T
        self._made.append((matrix, products))
        return products


def _fits(matrix: Matrix, vector: Vector) -> bool:
    return len(matrix) > 0 and matrix.rows.shape[1] == len(vector)


def top(
    matrix: Matrix,
    vector: Vector,
    k: int,
    at_least: float,
    products: NDArray[np.floating[Any]] | None = None,
) -> list[tuple[int, float]]:
    """Return up to `k` (row, cosine) at or over `at_least`, nearest first, then lowest row.

    Cosines are rounded before they are compared, with the limit and with each other.
    `products` are those of `vector` with the rows, if a batch has made them.

    Raises:
        ValueError: the vector is not of the matrix's dimension.
    """
    if not len(matrix):
        return []
    products = _products(matrix, vector, products)
    (length,) = _lengths_of((vector,))
    # Products are compared with limit times lengths, which spares a division a row.
    # Single precision rules out most rows in a third of the time.
    near = products >= matrix.about * np.float32((at_least - _FAR_MARGIN) * length)
    (rows,) = near.nonzero()
    if len(rows) > k:
        # Whatever is further below the k-th largest cannot be among the first k even after
        # rounding; what is left is sorted by exact rules below.
        exact = products[rows].astype(np.float64) / (matrix.lengths[rows] * length)
        rows = rows[exact > np.partition(exact, -k)[-k] - _ROUNDING_MARGIN]
    pairs = [
        (row, round6(products.item(row) / (matrix.lengths.item(row) * length)))
        for row in rows.tolist()
    ]
    reached = [pair for pair in pairs if pair[1] >= at_least]
    # Equal cosines go by row, so that the order depends on the pack and not on numpy.
    return sorted(reached, key=lambda pair: (-pair[1], pair[0]))[:k]


def _products(
    matrix: Matrix, vector: Vector, known: NDArray[np.floating[Any]] | None
) -> NDArray[np.floating[Any]]:
    if len(vector) != matrix.rows.shape[1]:
        raise ValueError(
            f"a vector of {len(vector)} dimensions meets a matrix of "
            f"{matrix.rows.shape[1]}: compile the pack with the embedder in force"
        )
    return matrix.rows.dot(_floats(vector)) if known is None else known


# The vectors of recent events and habits come back with every event, those of a batch
# several times: by their bytes, what it takes 2 µs to make. Plain dicts, since to move an
# entry of an `lru_cache` to its front costs more than to look it up.
_lengths: dict[Vector, float] = {}
_rows_of_batch: dict[Vector, NDArray[np.floating[Any]]] = {}
_LENGTHS_KEPT = 8192


def _lengths_of(vectors: Sequence[Vector]) -> list[float]:
    """Return vectors' lengths; infinite for a zero vector, so that its cosines are zero."""
    try:
        return list(map(_lengths.__getitem__, vectors))
    except KeyError:
        _measure(vectors, _as_rows(vectors, len(vectors[0])))
    return list(map(_lengths.__getitem__, vectors))


def _measure(vectors: Sequence[Vector], rows: NDArray[np.floating[Any]]) -> None:
    # Whole numbers under 2**53, which float64 adds exactly.
    squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    if len(_lengths) > _LENGTHS_KEPT:
        _lengths.clear()
    lengths = [sqrt(square) or inf for square in squares.tolist()]
    _lengths.update(zip(vectors, lengths, strict=True))


def _floats(vector: Vector) -> NDArray[np.floating[Any]]:
    """Return the vector ready to be multiplied."""
    row = _rows_of_batch.get(vector)
    return _as_rows((vector,), len(vector))[0] if row is None else row


def _as_rows(vectors: Sequence[Vector], dimension: int) -> NDArray[np.floating[Any]]:
    values = np.frombuffer(b"".join(vectors), np.int8)
    return _as_floats(values, dimension).reshape(len(vectors), dimension)


def _as_floats(values: NDArray[np.int8], dimension: int) -> NDArray[np.floating[Any]]:
    """Return the values in the narrowest type whose products stay exact."""
    if dimension <= _EXACT_DIMENSIONS:
        return values.astype(np.float32)
    return values.astype(np.float64)
