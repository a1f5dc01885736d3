"""The benchmarks that need PyTorch run: a small transformer from raw text, and silver trees from it."""

import pytest

import tanglewood as tw
from test_bench import run
from toy import toy_sentences, toy_text

for name in ("torch", "transformers"):
    pytest.importorskip(name, reason=f"{name} is not installed: pip install 'tanglewood[contextual]'")
pytestmark = pytest.mark.one_build


def test_a_transformer_that_knows_a_treebank_annotates_text_for_another_parser(tmp_path):
    for part, seed in (("train", 1), ("dev", 2)):
        (tmp_path / f"{part}.conllu").write_text(toy_text(100, seed=seed))
    text, silver = tmp_path / "text.txt", tmp_path / "silver.conllu.gz"
    known = {tuple(sentence.forms): sentence for sentence in toy_sentences(5000, seed=3)}
    text.write_text("".join(f"{' '.join(forms)}\n" for forms in known) * (30_000 // len(known)))
    size = ("--width", 64, "--layers", 1, "--pieces", 300, "--batch", 8)
    made = run("transformer.py", text, "-o", tmp_path / "encoder", "--minutes", 0.05, *size)
    assert "held-out perplexity" in made.stdout
    options = ("--teachers", 2, "--epochs", 30, "--rate", 2e-3, "--batch", 200, "--words", 2000)
    told = run("silver.py", tmp_path / "encoder", tmp_path, text, "-o", silver, *options).stdout
    assert "teacher 2," in told
    found = list(tw.read(silver))
    assert 2000 <= sum(map(len, found)) < 200_000
    right = words = 0
    for sentence in found:
        wanted, given = (
            list(zip(one.upos, one.lemmas, one.tree.heads[1:], one.deprels, strict=True))
            for one in (known[tuple(sentence.forms)], sentence)
        )
        words += len(wanted)
        right += sum(map(tuple.__eq__, wanted, given))
    assert right / words > 0.9
    model = tw.train(tmp_path / "train.conllu", epochs=1, silver=silver, silver_words=500)
    assert model.description["silver_sentences"] > 0
