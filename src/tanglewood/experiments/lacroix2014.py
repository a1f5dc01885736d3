"""Lacroix & Béchet 2014: the three-step system against Covington's and pseudo-projective arc-eager, by folds.

The whole treebank is dealt out into ten folds. Each is parsed by parsers trained on the nine others, with tags from a
tagger trained on the nine others (or gold tags). Anchors of three-step are artificial: where lifting puts a
non-projective dependent.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from tanglewood.experiments.markdown import Finding, data_table, learner_note, number, p_value, table, whole
from tanglewood.experiments.published import LACROIX2014, LACROIX2014_DIRECTION, LACROIX2014_NONPROJECTIVE
from tanglewood.experiments.running import (
    FROM_PYTHON,
    LINEAR,
    Data,
    Learning,
    Run,
    Say,
    Step,
    Treebank,
    mcnemar_of,
    options_of,
    parse,
    quiet,
    score,
    statistics,
    train,
)
from tanglewood.experiments.sharing import ALONE, Sharing
from tanglewood.text.batches import with_tags
from tanglewood.text.tagger import TaggerOptions, tag_scores, train_tagger
from tanglewood.training.folds import deal_out
from tanglewood.treebank.sentence import Sentence

PAPER = "lacroix2014"
FEATURES = "lacroix2014"  # feature model, for learners that take one
SYSTEMS: dict[str, dict[str, Any]] = {
    "covnonproj": {"system": "covington", "oracle": "static", "options": {"every_pair": True}},
    "pseudoproj": {"system": "arc-eager", "oracle": "static", "pseudo_projective": "path"},
    "three-step": {"system": "three-step"},
}
TAGGING = 10.0  # about how many times longer a tagger takes to train than a parser
ARCS = {"all": "", "projective": "projective_", "nonprojective": "nonprojective_"}


def run(
    treebank: Treebank,
    folder: Path,
    learning: Learning = LINEAR,
    *,
    folds: int = 10,
    gold_tags: bool = False,
    tagger_epochs: int = 0,
    command: str = FROM_PYTHON,
    say: Say = quiet,
    sharing: Sharing = ALONE,
) -> Data:
    """Run the experiment, or what is left of it."""
    learning = learning.as_in_paper(FEATURES)
    chosen = {"folds": folds, "gold_tags": gold_tags, "tagger_epochs": tagger_epochs}
    options = options_of(command, treebank, learning, **chosen)
    sentences = [sentence for part in treebank.parts.values() for sentence in part]
    dealt = list(deal_out(sentences, folds, learning.seed))
    kinds = {**({} if gold_tags else {"tags": TAGGING}), **dict.fromkeys(SYSTEMS, 1.0)}
    parts = {f"{kind}-{fold}": size for fold in range(1, folds + 1) for kind, size in kinds.items()}
    needs = {f"{system}-{fold}": [f"tags-{fold}"] for fold in range(1, folds + 1) for system in SYSTEMS}
    running = Run(folder, options, parts, say, treebank.suffix, sharing, {} if gold_tags else needs)

    def tag(held: list[Sentence], rest: list[Sentence], name: str, step: Step) -> Data:
        for progress in train_tagger(rest, (), TaggerOptions(epochs=tagger_epochs), learning.seed):
            step(0.9 * progress.epoch / progress.epochs, f"epoch {progress.epoch} of {progress.epochs}")
        tags = progress.tagger.worker().tag([sentence.forms for sentence in held])
        found = (with_tags(sentence, tag, replaced=True) for sentence, tag in zip(held, tags, strict=True))
        running.keep(name, found)
        words = sum(map(len, held))
        return {"words": words, "upos": round(tag_scores(held, tags).upos, 4)}

    def make(held: list[Sentence], rest: list[Sentence], system: str, name: str, step: Step) -> Data:
        parser = train(learning.config(**SYSTEMS[system]), rest, (), step)
        running.keep(name, parse(parser, held).sentences)
        return {"epoch": parser.description["epoch"]}

    gold: list[Sentence] = []
    parsed: dict[str, list[Sentence]] = {name: [] for name in SYSTEMS}
    tagged: list[Data] = []
    for fold, (places, others) in enumerate(dealt, 1):
        held = [sentences[place] for place in places]
        rest = [sentences[place] for place in others]
        gold += held
        if not gold_tags:
            name = f"tags-{fold}"
            tagged.append(running.part(name, partial(tag, held, rest, name)))
            held = running.kept(name)
        for system in SYSTEMS:
            name = f"{system}-{fold}"
            running.part(name, partial(make, held, rest, system, name))
            parsed[system] += running.kept(name)
    results: Data = {
        "paper": PAPER,
        "options": running.options,
        "data": {"all files": statistics(sentences)},
        "tagging": None
        if gold_tags
        else round(sum(part["upos"] * part["words"] for part in tagged) / sum(part["words"] for part in tagged), 4),
        **score(gold, parsed),
    }
    return running.close(results, report(results))


def findings(results: Data) -> list[Finding]:
    """Return what the paper found, and whether the results show it."""
    scores = results["scores"]
    crossing = {name: scores[name]["nonprojective_las"] for name in SYSTEMS}
    plain = {name: scores[name]["projective_las"] for name in SYSTEMS}
    known = scores["three-step"]["nonprojective_gold"] > 0
    sides = {side: _group(results, "three-step", f"non-projective {side}") for side in ("left", "right")}
    both = all(side["gold"] for side in sides.values())
    return [
        Finding(
            "three-step is better on non-projective arcs than covnonproj and pseudoproj (LAS)",
            crossing["three-step"] > max(crossing["covnonproj"], crossing["pseudoproj"]) if known else None,
            f"{number(crossing['three-step'])} against {number(crossing['covnonproj'])} and "
            f"{number(crossing['pseudoproj'])} of {scores['three-step']['nonprojective_gold']:,} arcs",
        ),
        Finding(
            "three-step is better on projective arcs than covnonproj (LAS)",
            plain["three-step"] > plain["covnonproj"],
            f"{number(plain['three-step'])} against {number(plain['covnonproj'])}",
        ),
        Finding(
            "left non-projective arcs are found more often than right ones (three-step, LAS)",
            sides["left"]["las"] > sides["right"]["las"] if both else None,
            f"{number(sides['left']['las'])} against {number(sides['right']['las'])}",
        ),
    ]


def _group(results: Data, system: str, group: str) -> Data:
    """Return the scores of a group of arcs; without arcs there are none."""
    found: Data = results["by_crossing"][system].get(group, {"gold": 0, "la": None, "uas": None, "las": None})
    return found


def report(results: Data) -> str:
    """Return the report of the results."""
    options = results["options"]
    keys = ("la", "uas", "las")
    header = ["system", *(f"{arcs} {key.upper()}" for arcs in ("all", "proj.", "non-proj.") for key in keys)]
    ours = [
        [f"**{name}**", *(number(found[f"{prefix}{key}"]) for prefix in ARCS.values() for key in keys)]
        for name, found in results["scores"].items()
    ]
    theirs: list[list[object]] = [
        [f"{name}, paper", *(value for arcs in ARCS for value in published[arcs])]
        for name, published in LACROIX2014.items()
    ]
    gold = results["scores"]["three-step"]
    accuracy = (
        "Label accuracy (LA), unlabelled (UAS) and labelled attachment score (LAS) without punctuation, on all arcs "
        f"({gold['words']:,}), those that are projective in gold, and those that are not "
        f"({gold['nonprojective_gold']:,}). Below ours the rows (1), (2) and (4) of the paper's Table 7, on French.\n\n"
        + table(header, [*ours, *theirs])
        + "\nMcNemar's test on labelled attachment: "
        + "; ".join(
            f"{one} and {other}: {p_value(mcnemar_of(results, one, other, 'las'))}"
            for one, other in (("three-step", "covnonproj"), ("three-step", "pseudoproj"), ("covnonproj", "pseudoproj"))
        )
        + "."
    )
    rows: list[list[object]] = []
    for kind in ("projective", "non-projective"):
        for side in ("left", "right"):
            for name in SYSTEMS:
                found = _group(results, name, f"{kind} {side}")
                paper = LACROIX2014_DIRECTION[side] if kind == "non-projective" and name == "three-step" else None
                rows.append(
                    [
                        f"{kind}, {side}",
                        name,
                        found["gold"],
                        *(number(found[key]) for key in keys),
                        *(paper or ("-", "-")),
                    ]
                )
    direction = (
        "An arc is a left one if its dependent stands left of its head. Arcs from 0 have no direction and are left out "
        "here. The paper's numbers: section 5.3.\n\n"
        + table(["arcs", "system", "number", "LA", "UAS", "LAS", "paper: LA", "paper: LAS"], rows)
    )
    sections = [
        ("Data", data_table(results["data"])),
        ("Accuracy (Table 7)", accuracy),
        ("By direction", direction),
        ("Differences from the paper", _differences(results)),
    ]
    return whole(results, options["treebank"], sections, findings(results))


def _differences(results: Data) -> str:
    options = results["options"]
    tags = (
        "gold tags in the test folds too (`--gold-tags`), where the paper has a tagger's"
        if results["tagging"] is None
        else f"test folds are tagged by our tagger, learnt from the other folds ({number(results['tagging'], 2)}% of "
        "UPOS right; lemmas and features are its too), where the paper has MElt; training folds keep gold tags"
    )
    return "\n".join(
        [
            f"- The data: the paper has the French CDG Treebank, {LACROIX2014_NONPROJECTIVE}% of whose arcs are "
            "non-projective, which is not public; here all files of the treebank together.",
            f"- Tags: {tags}.",
            learner_note(options, "SVMs, those of MaltParser for the first step")
            + " It learns all steps of all systems; the last epoch is kept.",
            "- Anchors are artificial, as in the paper's row (4); pseudoproj has the encoding `path`, as in the paper.",
            "- covnonproj looks at every pair of words, as MaltParser's does unless told otherwise."
            + (
                " It has the features of the first step of three-step; MaltParser's default model for it also has the "
                "label of the buffer's front and the tags of two nodes in between."
                if "features" in options["settings"]
                else ""
            ),
            f"- {options['folds']} folds, dealt out at random by the seed {options['seed']}.",
        ]
    )
