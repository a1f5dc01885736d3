"""spaCy, in a child process."""

import importlib.metadata
from collections.abc import Iterator

from peer_parsers.runs import INPUT, OUTPUT, Bench, Peer, blocks, need, worker, write_trees


def spacy(bench: Bench) -> Iterator[Peer]:
    """The parser of spaCy on a convolution over the form and the gold UPOS, features and lemma."""
    need(bench, "spacy")
    model = bench.folder / f"spacy{bench.suffix}"
    steps = "20" if bench.args.quick else "400"
    files = [str(bench.files["conllu", part]) for part in ("train", "dev")]
    yield Peer(
        f"blank pipeline, {steps} steps of about 1,000 words, the best of every 50 on dev",
        model,
        [*worker("spacy-train"), *files, str(model), steps],
        {f"spaCy {importlib.metadata.version('spacy')}": [*worker("spacy-parse"), str(model), INPUT, OUTPUT]},
    )


def _spacy_docs(vocab, sentences, *, trees):
    from spacy.tokens import Doc

    for lines in sentences:
        rows = [line.split("\t") for line in lines if line.split("\t", 1)[0].isdigit()]
        values = {"pos": [r[3] for r in rows], "lemmas": [r[2] for r in rows]}
        values["morphs"] = ["" if r[5] == "_" else r[5] for r in rows]
        if trees:
            values["heads"] = [int(r[6]) - 1 if r[6] != "0" else place for place, r in enumerate(rows)]
            values["deps"] = [r[7] for r in rows]
        else:  # it shall not split the sentence
            values["sent_starts"] = [place == 0 for place in range(len(rows))]
        yield Doc(vocab, words=[r[1] for r in rows], **values)


def spacy_train(train: str, dev: str, model: str, steps: str) -> None:
    """In the child: batches of about 1,000 words in random order, Adam, dropout 0.1."""
    import random

    import spacy
    from spacy.training import Example
    from spacy.training.batchers import minibatch_by_words
    from spacy.util import fix_random_seed

    fix_random_seed(1)
    nlp = spacy.blank("xx")
    attributes = ["NORM", "PREFIX", "SUFFIX", "SHAPE", "POS", "MORPH", "LEMMA"]
    embed = {"@architectures": "spacy.MultiHashEmbed.v2", "width": 96, "attrs": attributes}
    embed |= {"rows": [5000, 1000, 2500, 2500, 50, 1000, 5000], "include_static_vectors": False}
    encode = {"@architectures": "spacy.MaxoutWindowEncoder.v2", "width": 96, "depth": 4, "window_size": 1}
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode | {"maxout_pieces": 3}}
    network = {"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "parser", "tok2vec": tok2vec}
    network |= {"extra_state_tokens": False, "hidden_width": 128, "maxout_pieces": 3, "use_upper": True, "nO": None}
    nlp.add_pipe("parser", config={"model": network, "min_action_freq": 1})
    data = []
    for file in (train, dev):
        pairs = [_spacy_docs(nlp.vocab, blocks(file), trees=trees) for trees in (False, True)]
        data.append([Example(*pair) for pair in zip(*pairs, strict=True)])
    optimizer = nlp.initialize(lambda: data[0])
    rng, step, best = random.Random(1), 0, -1.0
    while step < int(steps):
        rng.shuffle(data[0])
        for batch in minibatch_by_words(data[0], size=1000):
            nlp.update(batch, sgd=optimizer, drop=0.1)
            step += 1
            if step % 50 == 0 or step == int(steps):
                las = _spacy_las(nlp, data[1])
                print(f"step {step}: dev LAS {las:.2%}", flush=True)
                if las > best:
                    best = las
                    nlp.to_disk(model)
            if step == int(steps):
                break


def _spacy_las(nlp, examples) -> float:
    right = words = 0
    parser = nlp.get_pipe("parser")
    for found, example in zip(parser.pipe([e.x.copy() for e in examples]), examples, strict=True):
        pairs = list(zip(found, example.y, strict=True))
        right += sum(one.head.i == other.head.i and one.dep_ == other.dep_ for one, other in pairs)
        words += len(pairs)
    return right / words


def spacy_parse(model: str, source: str, target: str) -> None:
    """In the child: parse a file; reading and writing are plain Python."""
    import spacy

    nlp = spacy.load(model)
    docs = nlp.get_pipe("parser").pipe(_spacy_docs(nlp.vocab, blocks(source), trees=False), batch_size=256)
    write_trees(source, target, (map(_arc, doc) for doc in docs))


def _arc(word) -> tuple[int, str]:
    head = word.head.i
    return (0, "root") if head == word.i else (head + 1, word.dep_ or "dep")
