"""tanglewood itself."""

import importlib.util
from collections.abc import Iterator

from peer_parsers.runs import INPUT, OUTPUT, Bench, Peer, SkippedError


def tanglewood(bench: Bench) -> Iterator[Peer]:
    """The default learner, greedy and with a beam, and the linear one."""
    files = [str(bench.files["conllu", "train"]), "--dev", str(bench.files["conllu", "dev"])]
    quick = ["--epochs", "2"] if bench.args.quick else []
    learners: dict[str, tuple[list[str], dict[str, int]]] = {
        "tanglewood": ([], {"": 1, ", beam 4": 4, ", beam 8": 8}),
        "tanglewood linear": (["--learner", "linear"], {"": 1}),
    }
    yield from _rows(bench, files, quick, learners)


def svm(bench: Bench) -> Iterator[Peer]:
    """The learners of the papers, greedy."""
    files = [str(bench.files["conllu", "train"])]
    learners = {f"tanglewood {name}": (["--learner", name], {"": 1}) for name in ("svm", "liblinear")}
    yield from _rows(bench, files, [], learners)


def _rows(
    bench: Bench, files: list[str], quick: list[str], learners: dict[str, tuple[list[str], dict[str, int]]]
) -> Iterator[Peer]:
    for name, (options, beams) in learners.items():
        if options and not importlib.util.find_spec("tanglewood.learners.linear.learner"):
            raise SkippedError("this tanglewood has no linear learner; its row is left out")
        model = bench.folder / f"{name.replace(' ', '-')}{bench.suffix}.tw"
        parse = [bench.tanglewood, "parse", "-m", str(model), INPUT, "-o", OUTPUT, "--beam"]
        yield Peer(
            " ".join(["train", *options, *quick]),
            model,
            [bench.tanglewood, "train", *files, "-o", str(model), *options, *quick],
            {f"{name}{title or ', greedy'}": [*parse, str(beam)] for title, beam in beams.items()},
        )
