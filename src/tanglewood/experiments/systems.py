"""The papers' parsers, the transition systems that they cite for crossing arcs, and later ones, in one table.

Each with its code, the command that trains it, and its scores; docs/reproductions/README.md says what is left out.

All transition systems have the same linear learner and learn from their oracles' configurations; Malt-06 has the SVM
and the feature model of its paper, and graph-based models have the arcs learner. The two rows whose words are tagged by
a tagger of our own, joint-swap and the pipeline beside it, can only be compared with each other.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from tanglewood.experiments.judging import MARGIN_OF_FEW, OPEN, Finding, better, no_worse, together, true
from tanglewood.experiments.markdown import data_table, number, p_value, table, whole
from tanglewood.experiments.running import (
    FROM_PYTHON,
    LINEAR,
    PARTS,
    Data,
    Learning,
    Run,
    Say,
    Step,
    Treebank,
    mcnemar_of,
    options_of,
    parse,
    parsing_time,
    projective,
    quiet,
    score,
    train,
)
from tanglewood.experiments.sharing import ALONE, Sharing
from tanglewood.experiments.shi2018 import LEFTWARD
from tanglewood.training.config import Config
from tanglewood.training.pipeline import TagPlan, prepare_tags, with_tags_of
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tag_candidates import with_first_candidates

PAPER = "systems"
FEATURES = "nivre2006"  # feature model of Malt-06
SOURCE = "../../src/tanglewood/"  # seen from docs/reproductions
TAGS = "tags"  # the part that learns taggers
TAG_COLUMN = "upos"
PROJECTIVE, JOINT, PIPELINE = "projective", "joint", "pipeline"


@dataclass(frozen=True, slots=True)
class Row:
    """A system: its name in the papers, the paper, the files of its code, the choices of its training run.

    It learns from the treebank as it is, from ``projective`` trees, or from trees whose words a tagger has tagged: the
    parser chooses from the tag candidates (``joint``) or takes the tagger's tags (``pipeline``).
    """

    name: str
    paper: str
    code: tuple[str, ...]
    choices: Mapping[str, Any]
    data: str = ""
    size: float = 1.0  # about how long it takes
    stacked: str = ""  # the row whose model it is stacked on

    @property
    def is_tagged(self) -> bool:
        """Whether its words have predicted tags."""
        return self.data in {JOINT, PIPELINE}


def _covington(name: str, data: str = "", **options: int) -> Row:
    choices = {"system": "covington", "oracle": "static", "options": options}
    return Row(f"Covington, {name}", "Nivre 2007", ("systems/covington.py",), choices, data, 1.5)


def _attardi(name: str, paper: str, system: str) -> Row:
    return Row(name, paper, ("systems/attardi.py",), {"system": system})


STANDARD, EAGER, SWAP = "systems/arc_standard.py", "systems/arc_eager.py", "systems/swap.py"
STACK_SWAP, PLANAR = "systems/stack_swap.py", "systems/planar.py"
SPANNING, SECOND = "decoders/spanning.py", "decoders/mst2.py"
ARCS, TRANSFORM, MODELS = "learners/arcs/learner.py", "transforms/pseudo_projective.py", "learners/feature_models.py"
ROWS = {
    "sp": Row("Sp", "Nivre 2009", (STANDARD,), {"system": "arc-standard"}, PROJECTIVE),
    "su": Row("Su, eager oracle", "Nivre 2009", (SWAP,), {"system": "swap", "oracle": "eager"}),
    "su-lazy": Row("Su, lazy oracle", "Nivre, Kuhlmann & Hall 2009", (SWAP,), {"system": "swap", "oracle": "lazy"}),
    "spp": Row("Spp", "Nivre 2009", (STANDARD, TRANSFORM), {"system": "arc-standard", "pseudo_projective": "head"}),
    "malt-06": Row(
        "Malt-06 features, SVM",
        "Nivre et al. 2006",
        (MODELS, "learners/svm/learner.py", EAGER, TRANSFORM),
        {
            "system": "arc-eager",
            "oracle": "static",
            "pseudo_projective": "head",
            "learner": "svm",
            "settings": {"features": FEATURES},
        },
        size=2.0,
    ),
    "mst": Row("MST, first-order", "McDonald et al. 2005", (SPANNING, ARCS), {"search": "mst"}, size=3.0),
    "mst2": Row("MST-06, second-order", "McDonald et al. 2006", (SECOND, ARCS), {"search": "mst2"}, size=6.0),
    "mst-malt": Row(
        "MST + Malt, stacked",
        "Nivre & McDonald 2008",
        ("training/stacking.py", SECOND, ARCS),
        {"search": "mst2"},
        size=15.0,
        stacked="malt-06",
    ),
    "covington-0": _covington("d = 0", PROJECTIVE, max_degree=0),
    "covington-1": _covington("d = 1", max_degree=1),
    "covington-2": _covington("d = 2", max_degree=2),
    "covington": _covington("unbounded"),
    "attardi": _attardi("Attardi", "Attardi 2006", "attardi"),
    "alldeg1": _attardi("ALLDEG1", "Shi & Lee 2018", "attardi-alldeg1"),
    "all": _attardi("ALL", "Shi & Lee 2018", "attardi-all"),
    "alls0s1": _attardi("ALLs0s1", "Shi & Lee 2018", "attardi-alls0s1"),
    "leftward": Row(
        "leftward",
        "Shi & Lee 2018",
        ("systems/attardi.py",),
        {"system": "attardi", "options": {"reduces": LEFTWARD}},
    ),
    "exact": Row(
        "ALLs0s1, exact inference",
        "Shi & Lee 2018",
        ("decoders/exact.py", "decoders/chart.py", ARCS),
        {"system": "attardi-alls0s1", "search": "exact"},
        size=4.0,
    ),
    "arc-eager": Row("arc-eager", "Nivre 2003", (EAGER,), {"system": "arc-eager", "oracle": "static"}, PROJECTIVE),
    "arc-hybrid": Row(
        "arc-hybrid",
        "Kuhlmann et al. 2011",
        ("systems/arc_hybrid.py",),
        {"system": "arc-hybrid", "oracle": "static"},
        PROJECTIVE,
    ),
    "three-step": Row("three-step", "Lacroix & Béchet 2014", ("systems/three_step.py",), {"system": "three-step"}),
    "planar": Row("planar", "Gómez-Rodríguez & Nivre 2010", (PLANAR,), {"system": "planar"}),
    "two-planar": Row("two-planar", "Gómez-Rodríguez & Nivre 2010", (PLANAR,), {"system": "two-planar"}),
    "stack-swap": Row("SWAP on the stack", "Nivre 2008", (STACK_SWAP,), {"system": "stack-swap"}),
    "stack-swap-planar": Row(
        "planar, SWAP on the stack", "Titov et al. 2009", (STACK_SWAP,), {"system": "stack-swap-planar"}
    ),
    "choi-palmer": Row(
        "Covington with LEFT-POP",
        "Choi & Palmer 2011",
        ("systems/choi_palmer.py",),
        {"system": "choi-palmer", "oracle": "static"},
    ),
    "buffer-arcs": Row(
        "arc-eager, buffer transitions",
        "Fernández-González & Gómez-Rodríguez 2012",
        ("systems/buffer_arcs.py",),
        {"system": "buffer-arcs"},
    ),
    "arc-hybrid-swap": Row(
        "arc-hybrid with SWAP",
        "de Lhoneux et al. 2017",
        ("systems/arc_hybrid_swap.py",),
        {"system": "arc-hybrid-swap", "oracle": "static-dynamic"},
    ),
    "joint": Row(
        "joint tagging and parsing",
        "Bohnet & Nivre 2012",
        ("systems/joint_swap.py", "training/pipeline.py"),
        {"system": "joint-swap"},
        JOINT,
    ),
    "pipeline": Row(
        "tagger, then swap", "Bohnet & Nivre 2012", (SWAP, "training/pipeline.py"), {"system": "swap"}, PIPELINE
    ),
}


def config_of(name: str, learning: Learning) -> Config:
    """Return the choices of a system's training run; a stacked model is named as the command names it."""
    row = ROWS[name]
    if "search" in row.choices:
        return learning.graph(**row.choices, **({"stacked": f"{row.stacked}.tw"} if row.stacked else {}))
    return Config(**{**learning.as_dict(), **row.choices})


def commands_of(name: str, config: Config, files: Mapping[str, Data]) -> list[str]:
    """Return the commands that train a system from files of these names."""
    row = ROWS[name]
    source = files["train"]["file"]
    commands = []
    if row.data == PROJECTIVE:
        made = f"projective{Path(source).suffix}"
        commands.append(["tanglewood", "convert", source, "--projectivize", "baseline", "-o", made])
        source = made
    words = ["tanglewood", "train", *(["--pipeline"] if row.data == PIPELINE else []), source]
    words += ["--dev", files["dev"]["file"]] if "dev" in files else []
    commands.append([*words, "-o", f"{name}.tw", *arguments_of(config)])
    return [shlex.join(command) for command in commands]


def arguments_of(config: Config) -> list[str]:
    """Return the arguments of `tanglewood train` that make these choices."""
    found = []
    for option in fields(Config):
        value = getattr(config, option.name)
        if option.name == "options":
            for key, item in value.items():
                found += [f"--{key.replace('_', '-')}", *([] if item is True else [str(item)])]
        elif option.name == "settings":
            found += [word for key, item in value.items() for word in ("--set", f"{key}={item}")]
        elif value != option.default:
            found += [f"--{option.name.replace('_', '-')}", str(value)]
    return found


def run(
    treebank: Treebank,
    folder: Path,
    learning: Learning = LINEAR,
    *,
    command: str = FROM_PYTHON,
    say: Say = quiet,
    sharing: Sharing = ALONE,
) -> Data:
    """Train, parse and score every system, or what is left of them."""
    learning = learning.as_in_paper(FEATURES)
    options = options_of(command, treebank, learning)
    sizes = {name: row.size for name, row in ROWS.items()}
    needs = {name: [*([TAGS] if row.is_tagged else []), *filter(None, [row.stacked])] for name, row in ROWS.items()}
    running = Run(folder, options, {**sizes, TAGS: 20.0}, say, treebank.suffix, sharing, needs)
    stacked_models = {row.stacked: folder / PARTS / f"{row.stacked}.tw" for row in ROWS.values() if row.stacked}
    taggers = folder / PARTS / "taggers"

    def tagged(step: Step) -> dict[str, list[Sentence]]:
        """Return the data with taggers' candidates for one column, which stays as it is, and their tags elsewhere."""
        plan = TagPlan(
            seed=learning.seed,
            options=config_of("joint", learning).tagger_options(),
            tag_column=TAG_COLUMN,
            folder=taggers,
            report=lambda text: step(0.0, " ".join(str(text).split())),
        )
        tagger, sentences, dev = prepare_tags(treebank["train"], treebank["dev"], plan)
        return {"train": sentences, "dev": dev, "test": with_tags_of(tagger, treebank["test"], TAG_COLUMN)}

    def tag(step: Step) -> Data:
        tagged(step)  # what is learnt is kept in the folder
        return {}

    def data_of(row: Row, step: Step) -> Mapping[str, Sequence[Sentence]]:
        if not row.is_tagged:
            sentences = treebank["train"]
            return {**treebank.parts, "train": projective(sentences) if row.data == PROJECTIVE else sentences}
        offers = tagged(step)
        if row.data == JOINT:
            return offers
        return {part: [with_first_candidates(one, TAG_COLUMN) for one in found] for part, found in offers.items()}

    def make(name: str, step: Step) -> Data:
        row = ROWS[name]
        config = config_of(name, learning)
        if row.stacked:
            config = replace(config, stacked=str(stacked_models[row.stacked]))
        data = data_of(row, step)
        parser = train(config, data["train"], data.get("dev", ()), step)
        if name in stacked_models:
            parser.save(stacked_models[name])
        running.keep(name, parse(parser, data["test"]).sentences)
        return {"epoch": parser.description["epoch"], "seconds": parsing_time(parser, data["test"])}

    found = {}
    for name, row in ROWS.items():
        if row.is_tagged and TAGS not in running.finished:
            running.part(TAGS, tag)
        found[name] = running.part(name, partial(make, name))
    results: Data = {
        "paper": PAPER,
        "date": running.date(),
        "options": running.options,
        "data": treebank.statistics(),
        "commands": {name: commands_of(name, config_of(name, learning), treebank.files) for name in ROWS},
        "systems": found,
        **score(treebank["test"], {name: running.kept(name) for name in ROWS}),
    }
    for stacked in stacked_models.values():
        stacked.unlink(missing_ok=True)
    rmtree(taggers, ignore_errors=True)
    return running.close(results, report(results))


def findings(results: Data) -> list[Finding]:
    """Return what the papers found when comparing systems, and the verdict on it."""
    scores = results["scores"]
    gold = scores["su"]["nonprojective_gold"]
    flat = [name for name in scores if ROWS[name].data == PROJECTIVE]
    free = sorted((name for name in scores if name not in flat), key=lambda name: scores[name]["nonprojective_f1"] or 0)
    low, high = (f"{number(scores[name]['nonprojective_f1'])} ({ROWS[name].name})" for name in (free[0], free[-1]))
    crossing = sum(scores[name]["nonprojective_predicted"] for name in flat)
    exact = mcnemar_of(results, "su", "sp", "exact_match")
    recall = {name: scores[name]["nonprojective_las"] for name in ("attardi", "alls0s1", "alldeg1", "all")}
    steps = [("alls0s1", "attardi"), ("alldeg1", "attardi"), ("all", "alls0s1"), ("all", "alldeg1")]
    return [
        Finding(
            "projective systems cross no arcs; every other system finds some that cross",
            true((crossing == 0 and all(scores[name]["nonprojective_recall"] > 0 for name in free)) if gold else None),
            f"{crossing} crossing arcs in {len(flat)} projective systems; NP-F1 from {low} to {high}, {gold} arcs",
        ),
        Finding(
            "Su has the better exact match than Sp",
            better(exact),
            f"{number(scores['su']['exact_match'])} against {number(scores['sp']['exact_match'])}, "
            f"{p_value(exact, 'p')}",
        ),
        Finding(
            "more coverage costs no non-projective arcs (LAS): of Attardi, ALLs0s1, ALLDEG1, ALL none is significantly "
            f"worse than one that covers less (within {MARGIN_OF_FEW:.0f} points)",
            together(
                [no_worse(mcnemar_of(results, one, other, "nonprojective_las"), MARGIN_OF_FEW) for one, other in steps]
            )
            if gold
            else OPEN,
            ", ".join(f"{ROWS[name].name} {number(found)}" for name, found in recall.items()),
        ),
        _better(results, "stacking is better than either parser (LAS)", "mst-malt", ("mst2", "malt-06")),
        _better(
            results, "joint tagging and parsing is better than a tagger, then a parser (LAS)", "joint", ("pipeline",)
        ),
    ]


def _better(results: Data, claim: str, one: str, others: Sequence[str]) -> Finding:
    """Return whether one system has a higher labelled attachment score than others."""
    scores = {name: results["scores"].get(name, {}).get("las") for name in (one, *others)}
    if None in scores.values():
        return Finding(claim, OPEN, "not all of them were run")
    tests = [mcnemar_of(results, one, other, "las") for other in others]
    return Finding(
        claim,
        together([better(test) for test in tests]),
        f"{number(scores[one], 2)} against "
        + " and ".join(
            f"{number(scores[other], 2)} ({p_value(test, 'p')})" for other, test in zip(others, tests, strict=True)
        ),
    )


def report(results: Data) -> str:
    """Return the report of the results."""
    words = results["data"]["test"]["tokens"]
    rows: list[list[object]] = []
    for name, row in ROWS.items():
        code = ", ".join(f"[{Path(file).name}]({SOURCE}{file})" for file in row.code)
        cells: list[object] = ["-"] * 6
        if name in results["scores"]:
            found, seconds = results["scores"][name], results["systems"][name]["seconds"]
            keys = ("las", "uas", "exact_match", "nonprojective_las", "nonprojective_f1")
            cells = [*(number(found[key]) for key in keys), round(words / max(seconds, 1e-4))]
        rows.append([row.name, row.paper, code, "predicted" if row.is_tagged else "gold", *cells])
    header = ["system", "paper", "code", "tags", "LAS", "UAS", "exact match", "LAS, np arcs", "NP-F1", "words/s"]
    accuracy = (
        "Test set, without punctuation; np arcs are those that are non-projective in gold "
        f"({results['scores']['su']['nonprojective_gold']} of {results['scores']['su']['words']:,}), NP-F1 is the F1 "
        "of unlabelled arcs that are non-projective in their own tree. Words per CPU second of parsing are rough: one "
        "thread, parser alone, no tagger.\n\n" + table(header, rows)
    )
    chosen = "was chosen on dev" if "dev" in results["data"] else "is the last one, as there is no dev set"
    commands = (
        f"Each command is made of the choices that the row above was trained with; the epoch {chosen}. Models of moves "
        "parse greedily, those of arcs with the search that they learnt with.\n\n"
        + table(
            ["system", "epoch", "command"],
            [
                [
                    ROWS[name].name,
                    results["systems"].get(name, {}).get("epoch", "-"),
                    "<br>".join(f"`{command}`" for command in commands),
                ]
                for name, commands in results["commands"].items()
            ],
        )
    )
    sections = [
        ("Data", data_table(results["data"])),
        ("The systems", accuracy),
        ("Their commands", commands),
        ("What to know", _notes(results)),
    ]
    return whole(results, results["options"]["treebank"], sections, findings(results))


def _notes(results: Data) -> str:
    tags = {name: results["scores"][name][TAG_COLUMN] for name in ("joint", "pipeline")}
    lines = [
        "- The last two rows have predicted tags, lemmas and features, all others those of the treebank: compare these "
        "two with each other only (the paper has a beam, these are greedy). Both get the same tagger, and its tags for "
        f"the training data by folds; the joint parser chooses from its best {TAG_COLUMN.upper()}, the pipeline has "
        f"one. {TAG_COLUMN.upper()} right: joint {number(tags['joint'], 2)}%, pipeline {number(tags['pipeline'], 2)}%.",
        "- Learners: linear for systems of moves, learning from the oracle's configurations only; arcs for MST and "
        "exact inference, so that ALLs0s1 has two rows which differ in learner and search; svm with the features of "
        "Nivre et al. 2006 for Malt-06, on which MST + Malt, second-order, is stacked.",
        "- Projective systems (Sp, arc-eager, arc-hybrid, Covington with d = 0) learn from trees made projective by "
        "lifting, labels unchanged. The others follow the oracle as far as it goes where a tree is beyond them.",
        "- Covington learns when to go on to the next word, and its bounds hold in training too; `reproduce nivre2007` "
        "looks at every pair of words and has one parser for all bounds but 0, as the paper.",
        "- Shi & Lee (2018) say which trees a system can derive, not what a greedy parser with it finds: more reduces "
        "are also more to choose from.",
        *(
            f"- Not run: {row.name}: these results are of code that had no such row."
            for name, row in ROWS.items()
            if name not in results["scores"]
        ),
    ]
    return "\n".join(lines)
