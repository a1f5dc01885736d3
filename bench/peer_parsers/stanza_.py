"""Stanza's biaffine graph parser, in a child process; nothing is downloaded."""

import importlib.metadata
import tempfile
from collections.abc import Iterator
from pathlib import Path

from peer_parsers.runs import INPUT, OUTPUT, Bench, Peer, need, worker, write_trees

BATCH = 1000  # words; its default of 5,000 is meant for GPUs
QUICK_STEPS = 5
# Stanza's defaults before its second optimizer, which would begin after 10,000 steps.
ADAM = ("--optim", "adam", "--lr", "0.003", "--beta2", "0.95", "--no_second_optim")


def stanza(bench: Bench) -> Iterator[Peer]:
    """The graph parser of Stanza without pretrained vectors, language models or transformers."""
    need(bench, "stanza")
    steps = str(QUICK_STEPS if bench.args.quick else bench.args.stanza_steps)
    model = bench.folder / f"stanza-{steps}.pt"
    files = [str(bench.files["conllu", part]) for part in ("train", "dev")]
    yield Peer(
        f"biaffine graph parser, no pretrained vectors, {steps} steps of about {BATCH:,} words with Adam, "
        "the best of five on dev; FEATS in place of XPOS",
        model,
        [*worker("stanza-train"), *files, str(model), steps],
        {f"Stanza {importlib.metadata.version('stanza')}": [*worker("stanza-parse"), str(model), INPUT, OUTPUT]},
    )


def features_as_tags(text: str) -> str:
    """Put FEATS in place of XPOS.

    Stanza 1.15.0 looks up the embeddings of FEATS and then joins those of the tags to its input a second time, so that
    features reach it only as tags. It splits a tag set of this kind at the bars by itself.
    """
    lines = []
    for line in text.split("\n"):
        columns = line.split("\t")
        if columns[0].isdigit():
            columns[4] = columns[5]
        lines.append("\t".join(columns))
    return "\n".join(lines)


def training_arguments(train: Path, dev: Path, model: Path, steps: int) -> list[str]:
    """Return what stanza.models.parser is called with; the language is only a name to it."""
    arguments = ["--mode", "train", "--train_file", str(train), "--eval_file", str(dev), "--lang", "xx"]
    arguments += ["--shorthand", "xx_peer", "--save_dir", str(model.parent), "--save_name", model.name, "--seed", "1"]
    arguments += ["--no_pretrain", "--cpu", "--no_checkpoint", *ADAM, "--batch_size", str(BATCH)]
    return [*arguments, "--max_steps", str(steps), "--eval_interval", str(max(1, steps // 5))]


def stanza_train(train: str, dev: str, model: str, steps: str) -> None:
    """In the child: Stanza's own training."""
    from stanza.models import parser

    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, file in (("train", train), ("dev", dev)):
            files.append(Path(folder) / f"{name}.conllu")
            files[-1].write_text(features_as_tags(Path(file).read_text(encoding="utf-8")), encoding="utf-8")
        parser.main(training_arguments(*files, Path(model), int(steps)))


def stanza_parse(model: str, source: str, target: str) -> None:
    """In the child: parse a file; Stanza reads and batches it, writing is plain Python."""
    from stanza.models.depparse.data import DataLoader
    from stanza.models.depparse.trainer import Trainer
    from stanza.models.depparse.utils import predict_dataset
    from stanza.utils.conll import CoNLL

    trainer = Trainer.load(model, None, device="cpu")
    doc = CoNLL.conll2doc(input_str=features_as_tags(Path(source).read_text(encoding="utf-8")))
    batches = DataLoader(doc, BATCH, trainer.args, None, vocab=trainer.vocab, evaluation=True, sort_during_eval=True)
    write_trees(source, target, predict_dataset(trainer, batches))
