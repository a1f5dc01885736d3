"""Nivre 2009: SWAP against a projective and a pseudo-projective parser, and the running time that SWAP takes.

Su is the system swap (with the paper's eager oracle, and with the lazy one that came after it), Sp is arc-standard
trained on projectivized trees, Spp arc-standard with pseudo-projective labels (`head`, as in Nivre et al. 2006). For
the paper's languages also what its Table 1 compares with: Malt-06 is arc-eager with pseudo-projective labels, MST is
first-order, MST-06 second-order (`mst2`), and MST + Malt is like MST-06 but guided by Malt-06.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tanglewood.experiments.judging import interval
from tanglewood.experiments.markdown import data_table, learner_note, number, p_value, table, whole
from tanglewood.experiments.nivre2009_claims import NAMES, ORACLES, THEIRS, findings
from tanglewood.experiments.published import CONLLX_SETTINGS, NIVRE2009, NIVRE2009_LINES, language_of
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
    as_data,
    fitted,
    options_of,
    parse,
    projective,
    quiet,
    score,
    train,
)
from tanglewood.experiments.sharing import ALONE, Sharing
from tanglewood.measure.running_time import RunningTime, fit_through_origin, slope_difference, variance_difference
from tanglewood.measure.significance import Measured
from tanglewood.parser import Parser
from tanglewood.show.scatter import Panel, Series, scatter
from tanglewood.systems import make_system
from tanglewood.training.config import Config

PAPER = "nivre2009"
FEATURES = "nivre2006"  # feature model, for learners that take one
GRAPH = ("malt", "mst", "mst2", "mstmalt")
SPLIT = "pos"  # the svm's default
NO_LANGUAGE = "none"  # as --language: no settings of a language
SIDES = {"oracle": "train, oracle", "oracle_test": "test, oracle", "parser": "test, parser"}
GRAPH_NOTE = (
    "\nMST-06 of the paper is second-order (McDonald et al. 2006: arcs and neighbouring siblings), as is `mst2`, whose "
    "row stands beside it; MST, first-order, scores single arcs and has no row in the paper. MST + Malt is "
    "second-order, too, and guided by the trees of Malt-06, as in the paper (Nivre & McDonald 2008). Features of the "
    "graph-based parsers are our own.\n"
)
FIGURE = "figure5.svg"
SIZES = {"mst": 3.0, "mst2": 6.0, "mstmalt": 15.0}  # about how much longer than the others they take


def run(
    treebank: Treebank,
    folder: Path,
    learning: Learning = LINEAR,
    *,
    graph: bool | None = None,
    language: str = "",
    command: str = FROM_PYTHON,
    say: Say = quiet,
    sharing: Sharing = ALONE,
) -> Data:
    """Run the experiment, or what is left of it.

    ``graph`` adds Malt-06 and the spanning-tree parsers; None: if the language is one of the paper's. ``language`` is
    the one whose settings the svm has and whose claims are judged, by default that of the treebank's name; "none"
    leaves the settings alone.
    """
    untuned = language == NO_LANGUAGE
    named = language[:1].upper() + language[1:] if language and not untuned else treebank.name
    language = language_of(named)
    settings_of = NO_LANGUAGE if untuned else language
    graph = language in NIVRE2009 if graph is None else graph
    tuned = CONLLX_SETTINGS.get(settings_of, {}) if learning.learner == "svm" else {}
    learning = learning.as_in_paper(FEATURES, tuned=tuned)
    systems = [*ORACLES, "sp", "spp", *(GRAPH if graph else ())]
    options = options_of(command, treebank, learning, graph=graph, language=language, settings_of=settings_of)
    sizes = {**{f"oracle-{name}": 0.01 for name in ORACLES}, **{name: SIZES.get(name, 1.0) for name in systems}}
    running = Run(folder, options, sizes, say, treebank.suffix, sharing, {"mstmalt": ["malt"]})
    times = {name: running.part(f"oracle-{name}", partial(_oracle, name, treebank)) for name in ORACLES}
    stacked = folder / PARTS / "malt.tw"

    def make(name: str, step: Step) -> Data:
        config, projectivized = _config(name, learning, stacked)
        sentences = projective(treebank["train"]) if projectivized else treebank["train"]
        parser = train(config, sentences, treebank["dev"], step)
        if name == "malt":
            parser.save(stacked)
        return _parse(parser, treebank, running, name)

    for name in systems:
        times[name] = {**times.get(name, {}), **running.part(name, partial(make, name))}
    stacked.unlink(missing_ok=True)
    parsed = {name: running.kept(name) for name in systems}
    results: Data = {
        "paper": PAPER,
        "date": running.date(),
        "options": running.options,
        "data": treebank.statistics(),
        **score(treebank["test"], parsed),
        "running_time": {
            name: {side: fitted(*times[name][side].values()) for side in ("oracle", "oracle_test", "parser")}
            for name in ORACLES
        },
        "slope_difference": {name: _compared(slope_difference, times[name]) for name in ORACLES},
        "variance_difference": {name: _compared(variance_difference, times[name]) for name in ORACLES},
        "oracle": {name: times[name]["counts"] for name in ORACLES},
        "epochs": {name: times[name]["epoch"] for name in systems},
    }
    running.write(FIGURE, _figure(treebank.name, times))
    return running.close(results, report(results))


def _config(name: str, learning: Learning, stacked: Path) -> tuple[Config, bool]:
    """Return the choices of a system, and whether it is trained on projectivized trees."""
    if name in ORACLES:
        return learning.config("swap", oracle=ORACLES[name]), False
    if name in {"mst", "mst2"}:
        return learning.graph(name), False
    if name == "mstmalt":
        return learning.graph("mst2", stacked=str(stacked)), False
    if name == "malt":
        return learning.config("arc-eager", oracle="static", pseudo_projective="head"), False
    if name == "spp":
        return learning.config("arc-standard", pseudo_projective="head"), False
    return learning.config("arc-standard"), True


def _compared(difference: Callable[[list[int], list[int], list[int]], Measured | None], times: Data) -> Data | None:
    """Return by how much something is larger for the parser than for the oracle, on the sentences of the test set."""
    oracle, parser = times["oracle_test"], times["parser"]
    assert oracle["lengths"] == parser["lengths"], "swap derives every tree"
    return as_data(difference(parser["lengths"], parser["transitions"], oracle["transitions"]))


def _oracle(name: str, treebank: Treebank, _: Step) -> Data:
    found: Data = {}
    for side, part in (("oracle_test", "test"), ("oracle", "train")):
        time = RunningTime(make_system("swap"), ORACLES[name])
        for sentence in treebank[part]:
            time.add(sentence.tree)
        found[side] = {"lengths": time.lengths, "transitions": time.transitions}
    counts = time.as_dict()
    return {"counts": {key: counts[key] for key in ("sentences", "swaps", "max_swaps")}, **found}


def _parse(parser: Parser, treebank: Treebank, running: Run, name: str) -> Data:
    parsed = parse(parser, treebank["test"])
    running.keep(name, parsed.sentences)
    lengths = [len(sentence) for sentence in treebank["test"]]
    return {
        "parser": {"lengths": lengths, "transitions": parsed.transitions},
        "epoch": parser.description["epoch"],
    }


def _figure(treebank: str, times: dict[str, Data]) -> str:
    panels = []
    for name, oracle in ORACLES.items():
        series = []
        for side in ("oracle", "parser"):
            lengths, transitions = times[name][side].values()
            slope, r2 = fit_through_origin(lengths, transitions)
            text = f"{SIDES[side]}: m = {slope:.2f} n (R² = {r2:.2f})"
            series.append(Series(text, list(zip(lengths, transitions, strict=True)), slope, side == "parser"))
        title = f"{treebank}: swap, {oracle} oracle"
        panels.append(Panel(title, "words n", "transitions m", series, (2.0, "2n: no swaps")))
    return scatter(panels, title=f"Abstract running time on {treebank}")


def report(results: Data) -> str:
    """Return the report of the results."""
    treebank, language = results["options"]["treebank"], results["options"]["language"]
    theirs = NIVRE2009.get(language, {})
    rows: list[list[object]] = []
    for name, found in results["scores"].items():
        published = theirs.get(THEIRS.get(name, ""))
        rows.append(
            [
                NAMES[name],
                f"{number(found['las'])} ({number(found['nonprojective_las'])})",
                number(found["exact_match"]),
                f"{published.las} ({published.nonprojective_las})" if published else "-",
                published.exact_match if published else "-",
            ]
        )
    source = f"on {language} of CoNLL-X" if theirs else f"which has no {language}"
    accuracy = (
        "Labelled attachment score without punctuation, in brackets that of the words whose gold arc is non-projective "
        f"({results['scores']['su']['nonprojective_gold']} in the test set), and exact match: the share of sentences "
        f"with all heads and labels right, punctuation aside. The paper's numbers: its Table 1, {source}.\n\n"
        + table(["system", "AS", "EM", "paper: AS", "paper: EM"], rows)
        + (GRAPH_NOTE if "mst2" in results["scores"] else "")
        + "\nMcNemar's test for pairs of systems: p-values, starred below 0.05.\n\n"
        + table(
            ["first", "second", "attachment (labelled)", "exact match"],
            [
                [NAMES[row["first"]], NAMES[row["second"]], p_value(row["las"]), p_value(row["exact_match"])]
                for row in results["mcnemar"]
            ],
        )
    )
    lines = NIVRE2009_LINES.get(language, {})
    times = []
    for name, sides in results["running_time"].items():
        for side, found in sides.items():
            published_line = lines.get(side) if name == "su" else None
            times.append(
                [
                    NAMES[name],
                    SIDES[side],
                    found["sentences"],
                    number(found["slope"], 2),
                    number(found["r2"], 2),
                    interval(found["exponent"], 3),
                    interval(found["quadratic"], 5),
                    f"{published_line.slope:.2f} ({published_line.r2:.2f})" if published_line else "-",
                ]
            )
    time = (
        f"![transitions by sentence length]({results.get('figure', FIGURE)})\n\n"
        "A line m = a n through the origin, fitted by least squares; m transitions, n words. The paper's are those of "
        "section 4.1 (it has Arabic and Danish). Growth: the exponent b of m = c nᵇ, fitted to logarithms, and the "
        "term q of m = a n + q n².\n\n"
        + table(["system", "what", "sentences", "a", "R²", "b", "q", "paper: a (R²)"], times)
        + "\nSwaps of the oracle on the training set: "
        + "; ".join(
            f"{ORACLES[name]}: {found['swaps']:,} in {found['sentences']:,} sentences, at most {found['max_swaps']} "
            "in one"
            for name, found in results["oracle"].items()
        )
        + "."
    )
    sections = [
        ("Data", data_table(results["data"])),
        ("Accuracy (Table 1)", accuracy),
        ("Running time (Figure 5)", time),
        ("Differences from the paper", _differences(results)),
    ]
    return whole(results, treebank, sections, findings(results))


def _differences(results: Data) -> str:
    epochs = ", ".join(f"{NAMES[name]} {epoch}" for name, epoch in results["epochs"].items())
    chosen = "The epoch was chosen on dev" if "dev" in results["data"] else "There is no dev set: the last epoch"
    options = results["options"]
    tuned = CONLLX_SETTINGS.get(options["language"])
    if options["learner"] != "svm":
        known = "The settings of CoNLL-X are for LIBSVM; this learner has its own."
    elif options["settings_of"] == NO_LANGUAGE:
        known = (
            "No settings of CoNLL-X were asked for (`--language none`): they are those of most languages of CoNLL 2007."
        )
    elif tuned:
        settings = ", ".join(f"{key}={value}" for key, value in tuned.items())
        known = (
            f"Settings of CoNLL-X for {options['language']}: {settings}; what was given by `--set` goes before them."
        )
    else:
        known = (
            f"The settings of CoNLL-X are not known to us for this language ({options['language']}): they are those of "
            "most languages of CoNLL 2007."
        )
    lines = [
        "- The data: the paper has the CoNLL-X division and version of its treebanks (Universal Dependencies came "
        "later, with other annotation); here the files listed below.",
        learner_note(results["options"], "LIBSVM with a quadratic kernel and the features of Nivre et al. 2006")
        + ("" if set(results["epochs"].values()) == {1} else f" {chosen} ({epochs})."),
        f"- {known} Features tuned for single languages are not known to us.",
        "- Sp learns from trees projectivized by lifting, labels unchanged, as MaltParser's `baseline` does; Spp has "
        "the encoding `head`. The paper does not say how Sp was trained on non-projective trees.",
        "- Tags, lemmas and features are those of the treebank, as in CoNLL-X.",
    ]
    if published := NIVRE2009.get(options["language"]):
        lines.append(distance(results, published["Su"].las))
    return "\n".join(lines)


def distance(results: Data, theirs: float) -> str:
    """Say how far Su is from the paper's result, and what is known to differ in this run."""
    by = results["scores"]["su"]["las"] - theirs
    settings, language = results["options"]["settings"], results["options"]["language"]
    known = ["the data"]
    if "dev" in results["data"]:
        known.append("a dev set is held out here, where the paper trains on all but the test set")
    if "features" in settings:
        known.append("the paper's features were tuned for each language, ours are what languages share")
        if language not in CONLLX_SETTINGS:
            known.append("so were its parameters, which we do not know for this language")
    else:
        known.append("the learner and its features")
    split = settings.get("split", SPLIT)
    if results["options"]["learner"] == "svm" and split != CONLLX_SETTINGS.get(language, {}).get("split", SPLIT):
        known.append(f"{'a' if split else 'no'} split of the data by part of speech")
    return (
        f"- Su is {number(abs(by))} points {'above' if by > 0 else 'below'} the paper's {theirs}. "
        f"What is known to differ: {'; '.join(known)}."
    )
