"""Encoders of the package transformers, tiny and random: three families, loaded as large ones are."""

import numpy as np
import pytest

import tanglewood as tw
from tanglewood.cli import main
from tanglewood.embedding import Encoder, EncoderProcess, load_vectors
from tanglewood.errors import ConfigError
from tiny_encoders import FAMILIES, WIDTH, make_encoder
from toy import toy_sentences

for name in ("torch", "transformers"):
    pytest.importorskip(name, reason=f"{name} is not installed (extra: contextual)")

pytestmark = [pytest.mark.one_build, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("small_training")]
FORMS = [form for sentence in toy_sentences(5) for form in sentence.forms]


@pytest.fixture(params=FAMILIES)
def folder(request, tmp_path):
    return make_encoder(tmp_path / request.param, request.param, FORMS)


def test_a_word_has_the_mean_of_its_pieces_over_the_last_four_layers_whatever_stands_beside_it(folder):
    import torch

    encoder = Encoder(str(folder), "cpu")
    sentences = [["wug", "zorpsandmore", "."], ["ta"], ["krell"] * 8]
    found = encoder(sentences)
    assert [rows.shape for rows in found] == [(len(forms), WIDTH) for forms in sentences]
    for forms, rows in zip(sentences, found, strict=True):
        pieces = encoder._tokenizer([forms], is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            layers = encoder._model(**pieces, output_hidden_states=True).hidden_states[-4:]
        for word in range(len(forms)):
            own = [place for place, of in enumerate(pieces.word_ids(0)) if of == word]
            expected = np.mean([[layer[0, place].numpy() for place in own] for layer in layers], axis=(0, 1))
            assert np.allclose(rows[word], expected, atol=1e-5)


def test_words_beyond_the_longest_text_have_zeros(folder):
    (rows,) = Encoder(str(folder), "cpu")([["wug"] * 200])
    assert rows[0].any()
    assert not rows[-1].any()


def test_from_a_treebank_to_trees_by_a_file_and_on_the_fly(folder, tmp_path):
    bank = tmp_path / "toy.conllu"
    bank.write_bytes(b"".join(s.to_bytes() for s in toy_sentences(8)))
    vectors = tmp_path / "toy.safetensors"
    assert main(["embed", str(bank), "--encoder", str(folder), "--device", "cpu", "-o", str(vectors)]) == 0
    assert load_vectors(vectors)[0].width == WIDTH
    model = tmp_path / "model.tw"
    tw.train(bank, epochs=1, contextual=vectors).save(model)
    nlp = tw.load(model)
    kept = [s.to_text() for s in nlp.parse(bank, contextual=str(vectors))]
    assert kept == [s.to_text() for s in nlp.parse(bank, contextual=str(folder))]


def test_what_is_no_encoder_is_a_clear_error(tmp_path):
    with pytest.raises(ConfigError, match="no encoder that transformers can load"):
        EncoderProcess(str(tmp_path), "cpu")
