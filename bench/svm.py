"""Whether the svm learner learns and computes what LIBSVM does, and how fast, on the configurations of a treebank.

    python bench/svm.py TREEBANK_DIR [--instances 1000] [--set KEY=VALUE ...]

Trains the svm learner on TREEBANK_DIR/train.conllu as `tanglewood train --learner svm` does, and scikit-learn's LIBSVM
on the same rows, each on one core, and compares both on configurations that the oracle goes through in dev.conllu.
Prints the times of both, the largest difference of decision values, and how often predictions differ. For accuracy and
speed beside MaltParser's LIBSVM see `python bench/peers.py TREEBANK_DIR --parsers svm,malt-libsvm`.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.svm import SVC

from tanglewood.learners.base import Example
from tanglewood.learners.features import FeatureSet
from tanglewood.learners.svm import learner as svm
from tanglewood.ml.word_table import WordNumbers
from tanglewood.ml.words import words_of
from tanglewood.training.config import read_config
from tanglewood.training.loop import Training
from tanglewood.treebank.conllu import read


class ComparedLearner(svm.SvmLearner):
    """Trains LIBSVM beside itself; keeps the keys and LIBSVM's machine of each part, None where it has one class."""

    machines: list = []  # noqa: RUF012 - of the one run there is
    seconds = 0.0  # of its own, and of LIBSVM
    libsvm_seconds = 0.0

    def _fit(self, keys, starts, columns, targets, n_classes, share):
        begin = time.process_time()
        arrays = super()._fit(keys, starts, columns, targets, n_classes, share)
        between = time.process_time()
        machine = None
        if n_classes > 1:
            options = self.options
            machine = SVC(
                C=options.cost,
                kernel="poly",
                degree=2,
                gamma=options.gamma,
                coef0=options.coef0,
                tol=options.tolerance,
                cache_size=options.cache,
                decision_function_shape="ovo",
            )
            machine.fit(csr_matrix((np.ones(len(columns)), columns, starts), (len(starts) - 1, len(keys))), targets)
        self.machines.append((keys, machine))
        ComparedLearner.seconds += between - begin
        ComparedLearner.libsvm_seconds += time.process_time() - between
        return arrays


def compare(training: Training, dev: list, n_instances: int) -> tuple[int, int, float, int]:
    """Instances, decision values, their largest difference, and how many predictions differ."""
    learner = training.learner
    core = learner.model().core()
    features = FeatureSet(learner.settings["templates"])
    labels = {label: number for number, label in enumerate(training.actions.labels)}
    compared = values = different = 0
    largest = 0.0
    for sentence in dev:
        tree = sentence.tree
        example = Example(words_of(sentence), tree.heads, [-1, *(labels.get(label, 0) for label in tree.labels[1:])])
        table, offsets = WordNumbers().table([example.words])
        features.use(table, offsets[0])
        core.use(table, offsets[0])
        for s, _ in learner._decisions(example, training.teacher):
            part = core.part_of(s)
            keys, machine = learner.machines[part]
            if machine is None or compared == n_instances:
                continue
            found = features.extract(s)
            row = sorted({*found} & {*keys.tolist()})
            columns = np.searchsorted(keys, row)
            sparse = csr_matrix((np.ones(len(row)), columns, [0, len(row)]), (1, len(keys)))
            theirs = np.atleast_1d(np.squeeze(machine.decision_function(sparse)))
            if len(machine.classes_) == 2:
                theirs = -theirs  # scikit-learn turns the sign of two classes round
            packed = np.array(found, np.int32)
            largest = max(largest, float(np.abs(theirs - core.decisions(part, packed)).max()))
            votes = core.class_values(part, packed)
            different += votes.index(max(votes)) != machine.predict(sparse)[0]
            compared += 1
            values += len(theirs)
    return compared, values, largest, different


def main() -> None:
    """Train, compare, print; exit 1 if they differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    parser.add_argument("--instances", type=int, default=1000, metavar="N", help="default 1000")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of tanglewood train")
    args = parser.parse_args()
    train, dev = (list(read(args.treebank / f"{part}.conllu")) for part in ("train", "dev"))
    svm.SvmLearner = ComparedLearner
    training = Training(read_config(None, ["learner=svm", *args.set]), train)
    for _ in training.run():
        pass
    ours, theirs = ComparedLearner.seconds, ComparedLearner.libsvm_seconds
    print(f"{args.treebank.name}: {ours:.1f} CPU s, LIBSVM {theirs:.1f} CPU s ({theirs / ours:.1f} times as long)")
    compared, values, largest, different = compare(training, dev, args.instances)
    print(f"{compared:,} configurations, {values:,} decision values: largest difference {largest:.3g}")
    print(f"predictions that differ: {different}")
    sys.exit(int(largest > 1e-6 or different > 0))


if __name__ == "__main__":
    main()
