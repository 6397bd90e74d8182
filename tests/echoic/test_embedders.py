"""The default embedder: offline, exact, and deaf to what it cannot hear."""

import hashlib
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echoic import embedders
from echoic.embedders import EmbedderError, WordLlamaEmbedder, embedder
from schemas.values.vectors import cosine


@pytest.fixture(scope="module")
def wordllama():
    return WordLlamaEmbedder()


def test_vectors_are_the_same_bytes_everywhere(wordllama):
    """The hash of these vectors is fixed; another one would break recorded sessions."""
    vectors = wordllama.embed(["Player health is low", "", "Der Löffel ist weg 🥄"])

    assert hashlib.sha256(b"".join(vectors)).hexdigest() == (
        "a59cc2a37567e75e386818b1732e802c80be7713e8398cf8f006819c51ed1d44"
    )


def test_batches_and_single_texts_agree(wordllama):
    """A text's vector does not depend on the texts beside it, nor on the cache."""
    texts = ["a creeper is near", "", "   ", "a creeper is near", "lights are on"]
    alone = [WordLlamaEmbedder().embed([text])[0] for text in texts]

    assert wordllama.embed(texts) == alone == wordllama.embed(texts)


def test_alike_texts_are_near_and_others_far(wordllama):
    """A paraphrase lies over the match limit, an unrelated text far under it."""
    said, meant, other = wordllama.embed(
        [
            "The player is getting thirsty",
            "player is thirsty",
            "the printer has no paper",
        ]
    )

    assert cosine(said, meant) >= wordllama.limits.match > cosine(said, other)


def test_capitals_do_not_matter(wordllama):
    """A text means the same in small letters."""
    one, other = wordllama.embed(["Front door OPEN", "front door open"])

    assert one == other


def test_texts_without_words_resemble_nothing(wordllama):
    """An empty text is a zero vector of the right size."""
    assert WordLlamaEmbedder().embed([""]) == [bytes(256)]
    assert wordllama.embed([]) == []


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(), max_size=40))
def test_any_text_has_a_vector(text):
    """No text raises, not even half a surrogate pair."""
    vector = SHARED.embed([text])[0]

    assert len(vector) == 256


class ByTokens(WordLlamaEmbedder):
    """An embedder that tokenizes whole texts, and remembers no words."""

    def _sums_by_words(self, texts):
        return None


STRANGE = ("", " ", "\u2581", "a\u2581b", "<s>", "</s>", "<unk>", "<0x41>", "\n", "\t")
USUAL = ("the", "of", "KELVIN", "\u212a", "e\u0301", "don't", "3.14", "\ud800", "🥄")
WORDS = st.text(st.characters(), max_size=12) | st.sampled_from((*STRANGE, *USUAL))
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=8)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_words_that_are_remembered_add_up_to_the_same_vector(texts):
    """A vector of words' sums has the bytes of the one that all tokens make."""
    assert SHARED.embed(texts) == BY_TOKENS.embed(texts)


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(), max_size=1_200))
def test_long_texts_are_cut_before_their_words_are_told_apart(text):
    """Wherever the cut falls, the vector has the bytes of the one that all tokens make."""
    assert SHARED.embed([text]) == BY_TOKENS.embed([text])


def test_the_memory_of_words_is_bounded(monkeypatch):
    """An embedder that knows as many words as it may begins anew, and errs in nothing."""
    monkeypatch.setattr(embedders, "CACHED_WORDS", 4)
    monkeypatch.setattr(embedders, "CACHED_TEXTS", 0)
    small = WordLlamaEmbedder()
    texts = ["one two", "three four five", "one two", "a b c d e f", "five six"]

    assert [small.embed([text])[0] for text in texts] == BY_TOKENS.embed(texts)
    assert len(small._places) <= 4


def test_the_cache_is_bounded(monkeypatch):
    """The least lately used text leaves the cache first."""
    monkeypatch.setattr(embedders, "CACHED_TEXTS", 2)
    small = WordLlamaEmbedder()
    small.embed(["one"])
    small.embed(["two"])
    small.embed(["one"])
    small.embed(["three"])

    assert list(small._vectors) == ["one", "three"]


def test_an_unknown_name_lists_the_known_ones():
    """A wrong setting is answered with the right ones."""
    assert embedder("wordllama").name == "wordllama"
    with pytest.raises(EmbedderError, match=r"unknown embedder 'word2vec'.*wordllama"):
        embedder("word2vec")


def test_the_digest_names_the_files(wordllama):
    """The digest is a short hash, the same for each instance."""
    assert wordllama.digest == WordLlamaEmbedder().digest
    assert len(wordllama.digest) == 24


def test_importing_it_loads_nothing_heavy():
    """Tokenizer and weights are imported when a text is embedded, not before."""
    code = (
        "import sys, echoic.embedders as e; e.embedder('wordllama');"
        "heavy = {'tokenizers', 'safetensors', 'wordllama'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert done.stdout.strip() == b"[]"


SHARED = WordLlamaEmbedder()
BY_TOKENS = ByTokens()


@pytest.fixture
def copies(tmp_path, wordllama):
    """A folder with copies of both files, as somebody may have kept them."""
    for file in (wordllama._weights_file, wordllama._tokenizer_file):
        shutil.copy(file, tmp_path / file.name)
    return tmp_path


def test_any_copy_of_the_files_makes_the_same_vectors(copies, wordllama, monkeypatch):
    """To the byte, and under the same digest, though the wheel is not to be had."""
    texts = ["Player health is low", "", "Der Löffel ist weg 🥄", "two  spaces <s>"]
    monkeypatch.setenv(embedders.FILES, str(copies))
    monkeypatch.setattr(embedders, "find_spec", lambda name: None)
    copied = WordLlamaEmbedder()

    assert copied.embed(texts) == wordllama.embed(texts)
    assert copied.digest == wordllama.digest


@pytest.mark.parametrize("name", [embedders.WEIGHTS, embedders.TOKENIZER])
def test_a_copy_that_is_another_file_is_refused(copies, monkeypatch, name):
    """By its digest: other vectors would be other decisions."""
    monkeypatch.setenv(embedders.FILES, str(copies))
    file = copies / name
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(EmbedderError, match="is not the file that is meant"):
        WordLlamaEmbedder().embed(["x"])
    file.unlink()
    with pytest.raises(EmbedderError, match="cannot be read"):
        WordLlamaEmbedder().embed(["x"])


def test_without_the_wheel_the_error_says_what_stands_in(monkeypatch):
    """The setting and the files that it wants."""
    monkeypatch.setattr(embedders, "find_spec", lambda name: None)
    with pytest.raises(EmbedderError, match=r"ECHOIC_EMBEDDER_FILES.*safetensors"):
        WordLlamaEmbedder().embed(["x"])
