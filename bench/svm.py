"""Whether the core computes what LIBSVM computes: decision values and predictions on configurations of a treebank.

    python bench/svm.py TREEBANK_DIR [--instances 1000] [--set KEY=VALUE ...]

Trains the svm learner on TREEBANK_DIR/train.conllu as `tanglewood train --learner svm` does, keeps the machines of
scikit-learn, and compares both on configurations that the oracle goes through in dev.conllu. Prints the largest
difference, and how often predictions differ. For accuracy and speed beside MaltParser's LIBSVM see
`python bench/peers.py TREEBANK_DIR --parsers svm,malt-libsvm`.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from tanglewood.learners.base import Example
from tanglewood.learners.features import FeatureSet
from tanglewood.learners.svm import learner as svm
from tanglewood.ml.word_table import WordNumbers
from tanglewood.ml.words import words_of
from tanglewood.training.config import read_config
from tanglewood.training.loop import Training
from tanglewood.treebank.conllu import read


class KeptLearner(svm.SvmLearner):
    """Keeps the keys and the machine of each part; a part with one class has no machine."""

    machines: list = []  # noqa: RUF012 - of the one run there is

    def _fit(self, keys, *rest):
        self.machines.append([keys, None])
        return super()._fit(keys, *rest)

    def _libsvm(self, *data):
        self.machines[-1][1] = super()._libsvm(*data)
        return self.machines[-1][1]


def compare(training: Training, dev: list, n_instances: int) -> tuple[int, int, float, int]:
    """Instances, decision values, their largest difference, and how many predictions differ."""
    from scipy.sparse import csr_matrix

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
    svm.SvmLearner = KeptLearner
    training = Training(read_config(None, ["learner=svm", *args.set]), train)
    start = time.process_time()
    for _ in training.run():
        pass
    print(f"{args.treebank.name}: trained in {time.process_time() - start:.0f} CPU s")
    compared, values, largest, different = compare(training, dev, args.instances)
    print(f"{compared:,} configurations, {values:,} decision values: largest difference {largest:.3g}")
    print(f"predictions that differ: {different}")
    sys.exit(int(largest > 1e-6 or different > 0))


if __name__ == "__main__":
    main()
