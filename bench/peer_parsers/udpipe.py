"""UDPipe 1, through its Python package in a child process."""

import sys
from collections.abc import Iterator
from pathlib import Path

from peer_parsers.runs import INPUT, OUTPUT, Bench, Peer, need, worker

# UDPipe's default inputs are form, UPOS, FEATS and, for parts of the tree already built, the relation.
UDPIPE = "transition_system=swap;transition_oracle=static_lazy;use_gold_tags=1;run=1;iterations="


def udpipe(bench: Bench) -> Iterator[Peer]:
    """UDPipe 1 with the swap system, the parser only; greedy and beam 5, its default."""
    need(bench, "ufal.udpipe")
    model = bench.folder / f"udpipe{bench.suffix}"
    iterations = "1" if bench.args.quick else "10"
    files = [str(bench.files["conllu", part]) for part in ("train", "dev")]
    parse = [*worker("udpipe-parse"), str(model), INPUT, OUTPUT]
    yield Peer(
        f"swap, static_lazy oracle, {iterations} iterations, no pretrained vectors",
        model,
        [*worker("udpipe-train"), *files, str(model), iterations],
        {"UDPipe 1, greedy": [*parse, "1"], "UDPipe 1, beam 5": [*parse, "5"]},
    )


def udpipe_train(train: str, dev: str, model: str, iterations: str) -> None:
    """In the child: train the parser alone."""
    from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences, Trainer

    data = []
    for file in (train, dev):
        reader = InputFormat.newConlluInputFormat()
        reader.setText(Path(file).read_text(encoding="utf-8"))
        sentences, sentence = Sentences(), Sentence()
        while reader.nextSentence(sentence):
            sentences.append(sentence)
            sentence = Sentence()
        data.append(sentences)
    error = ProcessingError()
    none = Trainer.NONE
    trained = Trainer.train("morphodita_parsito", data[0], data[1], none, none, UDPIPE + iterations, error)
    if error.occurred():
        sys.exit(error.message)
    Path(model).write_bytes(trained)


def udpipe_parse(model: str, source: str, target: str, beam: str) -> None:
    """In the child: parse a file; UDPipe reads, parses and writes by itself."""
    from ufal.udpipe import Model, Pipeline, ProcessingError

    loaded = Model.load(model)  # the pipeline does not keep it alive
    pipeline = Pipeline(loaded, "conllu", Pipeline.NONE, f"beam_search={beam}", "conllu")
    error = ProcessingError()
    parsed = pipeline.process(Path(source).read_text(encoding="utf-8"), error)
    if error.occurred():
        sys.exit(error.message)
    Path(target).write_text(parsed, encoding="utf-8")
