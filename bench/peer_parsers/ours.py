"""tanglewood itself."""

import importlib.util
from collections.abc import Iterator

from peer_parsers.runs import INPUT, OUTPUT, Bench, Peer, SkippedError
from timing import SEARCHES


def tanglewood(bench: Bench) -> Iterator[Peer]:
    """The default learner with moves alone, with arcs, and with a beam too, and the linear one."""
    files = [str(bench.files["conllu", "train"]), "--dev", str(bench.files["conllu", "dev"])]
    quick = ["--epochs", "2"] if bench.args.quick else []
    learners: dict[str, tuple[list[str], list[str]]] = {
        "tanglewood": ([], ["greedy", "vote", "vote, beam 8", "beam 8", "rescore", "mst"]),
        "tanglewood linear": (["--learner", "linear"], ["greedy"]),
    }
    yield from _rows(bench, files, quick, learners)


def svm(bench: Bench) -> Iterator[Peer]:
    """The learners of the papers, greedy."""
    files = [str(bench.files["conllu", "train"])]
    learners = {f"tanglewood {name}": (["--learner", name], ["greedy"]) for name in ("svm", "liblinear")}
    yield from _rows(bench, files, [], learners)


def _rows(
    bench: Bench, files: list[str], quick: list[str], learners: dict[str, tuple[list[str], list[str]]]
) -> Iterator[Peer]:
    for name, (options, searches) in learners.items():
        if options and not importlib.util.find_spec("tanglewood.learners.linear.learner"):
            raise SkippedError("this tanglewood has no linear learner; its row is left out")
        model = bench.folder / f"{name.replace(' ', '-')}{bench.suffix}.tw"
        parse = [bench.tanglewood, "parse", "-m", str(model), INPUT, "-o", OUTPUT]
        yield Peer(
            " ".join(["train", *options, *quick]),
            model,
            [bench.tanglewood, "train", *files, "-o", str(model), *options, *quick],
            {f"{name}, {search}": [*parse, *SEARCHES[search][0]] for search in searches},
        )
