"""Embedders: the shell turns texts into the int8 vectors that the mind compares.

The default needs no network, key or model server: a static table of word vectors from
a wheel. Its arithmetic is in whole numbers, so every machine computes the same bytes,
on which replays depend.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from threading import Lock
from typing import TYPE_CHECKING

import orjson

from schemas.values.ids import digest
from schemas.values.vectors import Embedder, Limits, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

CACHED_TEXTS = 8192
"""Texts whose vectors an embedder keeps (2 MB); the least recently used goes first."""

CACHED_WORDS = 8192
"""Words whose sums an embedder keeps (8 MB); when full, it is cleared."""

_TEXTS_AT_ONCE = 512
"""Texts that are computed together: a pack's 10,000 would need 200 MB at once."""

_LONGEST_TEXT = 1000
"""Characters of a text that count; what follows them does not change its vector.

A character has at most four tokens, and the sum of 4,001 rows still fits 32 bits."""

FILES = "ECHOIC_EMBEDDER_FILES"
"""The variable of the setting `embedder_files`, which child processes inherit."""

WEIGHTS = "l2_supercat_256.safetensors"
TOKENIZER = "l2_supercat_tokenizer_config.json"
_SHA256 = {
    WEIGHTS: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    TOKENIZER: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
}
"""Those of wordllama 0.4.0.post1; a copy from anywhere is known by them."""

# Part of the digest: a change of the arithmetic makes another embedder.
_ALGORITHM = b"ascii lower; sum of table x 65536, scaled to 127, halves away from zero"

# Only ASCII: the lower case of other letters differs between versions of Unicode.
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


class EmbedderError(Exception):
    """An embedder is not available: its name is unknown or its files are missing."""


def embedder(name: str) -> Embedder:
    """Make the embedder that settings call `name`; it loads its files when first used.

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
        self._places: dict[str, int] = {}
        self._lock = Lock()

    @cached_property
    def digest(self) -> str:
        """A content hash of weights, tokenizer and the arithmetic between them."""
        files = (self._weights_file, self._tokenizer_file)
        return digest(_ALGORITHM, *(file.read_bytes() for file in files))

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order; identical texts are computed once."""
        # Other threads may embed, too, and both caches are changed in several steps.
        with self._lock:
            unknown = [
                text for text in dict.fromkeys(texts) if text not in self._vectors
            ]
            fresh = dict(zip(unknown, self._compute(unknown), strict=True))
            vectors = [fresh.get(text) or self._vectors[text] for text in texts]
            for text, vector in zip(texts, vectors, strict=True):
                # A dict keeps the order of insertion, so reinserting marks it as the latest
                # used.
                self._vectors.pop(text, None)
                self._vectors[text] = vector
            while len(self._vectors) > CACHED_TEXTS:
                del self._vectors[next(iter(self._vectors))]
        return vectors

    def _compute(self, texts: Sequence[str]) -> list[Vector]:
        """Return each text's vector from its rows' sum; the mean would only scale it."""
        made: list[Vector] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            few = [_readable(text) for text in texts[start : start + _TEXTS_AT_ONCE]]
            sums = self._sums_by_words(few)
            made += _as_int8(self._sums_by_tokens(few) if sums is None else sums)
        return made

    def _sums_by_words(self, texts: Sequence[str]) -> "NDArray[np.int32] | None":
        """Return each text's sum from its words' sums; None if tokens may span two words.

        The sums are those of `_sums_by_tokens`, for a third of its time: no token holds
        the end of one word and the beginning of the next, unless spaces follow each other.
        """
        if not all(map(_parts_at_spaces, texts)):
            return None
        words = [text.split(" ") for text in texts]
        known = self._places
        fresh = {word for each in words for word in each if word not in known}
        # Places are rows of one array and cannot be freed one by one; clearing is cheap.
        if len(known) + len(fresh) > CACHED_WORDS:
            known.clear()
            fresh = {word for each in words for word in each}
        if len(fresh) > CACHED_WORDS:
            return None
        if fresh:
            self._learn(sorted(fresh))
        places = [known[word] for each in words for word in each]
        return _sums(self._words.take(places, axis=0), words)

    def _learn(self, words: Sequence[str]) -> None:
        begin, end = len(self._places), len(self._places) + len(words)
        self._words[begin:end] = self._sums_by_tokens(words)
        self._places |= zip(words, range(begin, end), strict=True)

    def _sums_by_tokens(self, texts: Sequence[str]) -> "NDArray[np.int32]":
        import numpy as np

        encoded = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        tokens = [encoding.ids for encoding in encoded]
        rows = self._table.take(list(chain.from_iterable(tokens)), axis=0)
        # Scaling by a power of two is exact, and so is the rounding of the result.
        whole = np.rint(rows.astype(np.float32) * np.float32(65536)).astype(np.int32)
        return _sums(whole, tokens)

    @cached_property
    def _words(self) -> "NDArray[np.int32]":
        """The sums of the words seen so far, each at its place."""
        import numpy as np

        return np.empty((CACHED_WORDS, self.dimension), dtype=np.int32)

    @cached_property
    def _table(self) -> "NDArray[np.float16]":
        """The weights, mapped from their file, whose pages all processes share.

        A safetensors file begins with its header's length in eight bytes, little-endian;
        the header gives each tensor's offsets, counted from the header's end.
        """
        import numpy as np

        with self._weights_file.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            tensor = orjson.loads(file.read(length))["embedding.weight"]
        begin = 8 + length + tensor["data_offsets"][0]
        shape = tuple(tensor["shape"])
        weights = np.memmap(self._weights_file, np.float16, "r", begin, shape)
        return np.asarray(weights)

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
            raise EmbedderError(
                f"wordllama is not installed: pip install wordllama, or set {FILES} to a"
                f" folder with copies of {WEIGHTS} and {TOKENIZER}"
            )
        return Path(spec.submodule_search_locations[0])

    @cached_property
    def _weights_file(self) -> Path:
        return _copy(WEIGHTS) or self._folder / "weights" / WEIGHTS

    @cached_property
    def _tokenizer_file(self) -> Path:
        return _copy(TOKENIZER) or self._folder / "tokenizers" / TOKENIZER


EMBEDDERS: Mapping[str, Callable[[], Embedder]] = {"wordllama": WordLlamaEmbedder}
"""Every embedder by the name that settings give it."""


def _copy(name: str) -> Path | None:
    """Return the file of this name in the folder that the environment names, if it does.

    Raises:
        EmbedderError: it cannot be read, or is not the very file.
    """
    folder = os.environ.get(FILES)
    if not folder:
        return None
    file = Path(folder) / name
    try:
        found = sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise EmbedderError(
            f"{FILES}: {str(file)!r} cannot be read: {error}"
        ) from error
    # Other files would make other vectors, and so other decisions in every replay.
    if found != _SHA256[name]:
        raise EmbedderError(
            f"{FILES}: {str(file)!r} is not the file that is meant: its sha256 is {found},"
            f" not {_SHA256[name]}"
        )
    return file


def _readable(text: str) -> str:
    """Return a text cut, in lower case, with `?` for what UTF-8 cannot encode."""
    cut = text[:_LONGEST_TEXT]
    if cut.isascii():
        return cut.lower()
    small = cut.translate(_LOWER)
    return small.encode("utf-8", "replace").decode()


def _parts_at_spaces(text: str) -> bool:
    """Tell whether a text is words with one space between each two, and nothing else.

    Special tokens begin with "<", and "\u2581" is how the tokenizer writes a space.
    """
    return not (
        "  " in text
        or "<" in text
        or "\u2581" in text
        or text[:1] in ("", " ")
        or text[-1] == " "
    )


def _sums(
    rows: "NDArray[np.int32]", parts: Sequence[Sequence[object]]
) -> "NDArray[np.int32]":
    """Return one row per text: the sum of as many consecutive rows as it has parts."""
    import numpy as np

    sums = np.empty((len(parts), rows.shape[1]), dtype=np.int32)
    start = 0
    for text, its_parts in enumerate(parts):
        end = start + len(its_parts)
        # Of no rows at all the sum is zeros, the vector of an empty text.
        np.add.reduce(rows[start:end], axis=0, dtype=np.int32, out=sums[text])
        start = end
    return sums


def _as_int8(sums: "NDArray[np.int32]") -> list[Vector]:
    """Scale each row so that its largest value is 127, with whole numbers only."""
    import numpy as np

    values = sums.astype(np.float64)
    largest = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1.0)
    # round(127 * value / largest), halves away from zero. All are whole numbers under 2**40,
    # so the quotient cannot round up to the next whole number: of floats the result is that
    # of whole numbers, for a third of the time.
    rounded = np.floor((254.0 * np.abs(values) + largest) / (2.0 * largest))
    small = np.copysign(rounded, values).astype(np.int8)
    return [row.tobytes() for row in small]
