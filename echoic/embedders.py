"""Embedders: how the shell turns texts into the int8 vectors that the mind compares.

The default needs no network, key or model server: a static table of word vectors that
ships inside a wheel. Its arithmetic is whole numbers from end to end, so every machine
computes the same bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from threading import Lock
from typing import TYPE_CHECKING

from schemas.values.ids import digest
from schemas.values.vectors import Embedder, Limits, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

CACHED_TEXTS = 8192
"""How many texts' vectors an embedder keeps; the least lately used goes first."""

LONGEST_TEXT = 1000
"""Characters; what follows them does not change a vector.

A character has at most four tokens, and the sum of 4,001 rows still fits 32 bits."""

_ALGORITHM = b"ascii lower; sum of table x 65536, scaled to 127, halves away from zero"

# Only ASCII: the lower case of other letters differs between versions of Unicode.
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


class EmbedderError(Exception):
    """An embedder cannot be had: its name is unknown or its files are missing."""


def embedder(name: str) -> Embedder:
    """Return the embedder that settings call `name`; it loads files when first used.

    Raises:
        EmbedderError: there is none of that name.
    """
    factory = EMBEDDERS.get(name)
    if factory is None:
        known = ", ".join(sorted(EMBEDDERS))
        raise EmbedderError(f"unknown embedder {name!r}: choose one of {known}")
    return factory()


class WordLlamaEmbedder:
    """Mean word vectors (256 dimensions) from the table inside the wordllama wheel."""

    name = "wordllama"
    dimension = 256
    exact = True
    limits = Limits(match=0.55, duplicate=0.90, endorse=0.55, goal=0.25)
    """The lowest steps of 0.05 with a precision of 0.95 (duplicate 0.99), traps left out.

    Measured on 365 labelled pairs by `bench/embedders/measure.py`: docs/embedders.md.
    """

    def __init__(self) -> None:
        self._vectors: dict[str, Vector] = {}
        self._lock = Lock()

    @cached_property
    def digest(self) -> str:
        """A content hash of weights, tokenizer and the arithmetic between them."""
        files = (self._weights_file, self._tokenizer_file)
        return digest(_ALGORITHM, *(file.read_bytes() for file in files))

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order; identical texts are computed once."""
        with self._lock:
            unknown = [
                text for text in dict.fromkeys(texts) if text not in self._vectors
            ]
            fresh = dict(zip(unknown, self._compute(unknown), strict=True))
            vectors = [fresh.get(text) or self._vectors[text] for text in texts]
            for text, vector in zip(texts, vectors, strict=True):
                self._vectors.pop(text, None)
                self._vectors[text] = vector
            while len(self._vectors) > CACHED_TEXTS:
                del self._vectors[next(iter(self._vectors))]
        return vectors

    def _compute(self, texts: Sequence[str]) -> list[Vector]:
        """Sum each text's rows of the table; the mean would only scale them."""
        import numpy as np

        if not texts:
            return []
        readable = [_readable(text) for text in texts]
        encoded = self._tokenizer.encode_batch_fast(readable, add_special_tokens=False)
        ids = [encoding.ids for encoding in encoded]
        tokens = np.fromiter(chain.from_iterable(ids), dtype=np.int64)
        rows = self._table.take(tokens, axis=0)
        sums = np.empty((len(ids), self.dimension), dtype=np.int32)
        start = 0
        for text, its_ids in enumerate(ids):
            end = start + len(its_ids)
            np.add.reduce(rows[start:end], axis=0, dtype=np.int32, out=sums[text])
            start = end
        return _as_int8(sums)

    @cached_property
    def _table(self) -> "NDArray[np.int32]":
        """The weights times 65536, as whole numbers."""
        import numpy as np
        from safetensors.numpy import load_file

        weights: NDArray[np.float16] = load_file(self._weights_file)["embedding.weight"]
        # Scaling by a power of two is exact, and so is the rounding of the result.
        scaled = weights.astype(np.float32) * np.float32(65536)
        whole: NDArray[np.int32] = np.rint(scaled).astype(np.int32)
        return whole

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _folder(self) -> Path:
        """The wheel's folder; importing the wheel is slow, its loader goes online."""
        spec = find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise EmbedderError("wordllama is not installed: pip install wordllama")
        return Path(spec.submodule_search_locations[0])

    @property
    def _weights_file(self) -> Path:
        return self._folder / "weights" / "l2_supercat_256.safetensors"

    @property
    def _tokenizer_file(self) -> Path:
        return self._folder / "tokenizers" / "l2_supercat_tokenizer_config.json"


EMBEDDERS: Mapping[str, Callable[[], Embedder]] = {"wordllama": WordLlamaEmbedder}
"""Every embedder by the name that settings give it."""


def _readable(text: str) -> str:
    """Cut a text, write it small, and replace what UTF-8 cannot hold."""
    small = text[:LONGEST_TEXT].translate(_LOWER)
    return small.encode("utf-8", "replace").decode()


def _as_int8(sums: "NDArray[np.int32]") -> list[Vector]:
    """Scale each row so that its largest value is 127, with whole numbers only."""
    import numpy as np

    sizes = np.abs(sums.astype(np.int64))
    largest = np.maximum(sizes.max(axis=1, keepdims=True), 1)
    rounded = (254 * sizes + largest) // (2 * largest)
    small = (np.sign(sums) * rounded).astype(np.int8)
    return [row.tobytes() for row in small]
