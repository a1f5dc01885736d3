"""The optimizer of the svm: what it finds is optimal, and the same as LIBSVM finds, on whatever it was given."""

from random import Random

import numpy as np
import pytest

from tanglewood.learners.svm.models import starts_of
from tanglewood.learners.svm.solver import PairSolver, Rows

KERNELS = ((0.2, 0.0), (0.2, 0.3), (1.0, 1.0))  # gamma, coef0
ROOM = 10**6
N_RARE = 60  # features that few rows have, which are counted in another way than common ones


def random_rows(seed, sizes, most=12):
    """Rows of every class, features of one class being somewhat different from those of another; some are rare."""
    random = Random(seed)
    n_features = random.randint(5, 40)
    rows = []
    for place, size in enumerate(sizes):
        for _ in range(size):
            middle = random.gauss(n_features * (place + 1) / (len(sizes) + 1), n_features / 3)
            wanted = {int(random.gauss(middle, 4)) % n_features for _ in range(random.randint(0, most))}
            rare = {n_features + random.randrange(N_RARE) for _ in range(random.randint(0, 2))}
            rows.append(sorted(wanted | rare))
    return rows, n_features + N_RARE


def as_rows(rows, n_features, sizes):
    features = np.array([feature for row in rows for feature in row], np.int32)
    holders = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row) for row in rows])
    return Rows(
        starts_of([len(row) for row in rows]),
        features,
        starts_of(sizes),
        starts_of(np.bincount(features, minlength=n_features)),
        holders[np.argsort(features, kind="stable")],
    )


def solved(rows, n_features, sizes, pair=(0, 1), kernel=(0.2, 0.0), cost=0.5, tolerance=0.01, room=ROOM):
    """Return the betas of all rows and the intercept."""
    gamma, coef0 = kernel
    longest = max(map(len, rows))
    values = (gamma * np.arange(longest + 1) + coef0) ** 2
    solver = PairSolver(as_rows(rows, n_features, sizes), *pair, values, cost, tolerance, room)
    places, found = solver.solve()
    betas = np.zeros(len(rows))
    betas[places] = found
    return betas, solver.intercept


def kernel_matrix(rows, gamma, coef0):
    return np.array([[(gamma * len(set(one) & set(other)) + coef0) ** 2 for other in rows] for one in rows])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("cost", [0.1, 10.0])
def test_no_two_betas_can_be_moved_to_gain_more_than_the_tolerance(seed, cost):
    sizes = [Random(seed).randint(1, 40), Random(seed + 1).randint(1, 40)]
    rows, n_features = random_rows(seed, sizes)
    betas, intercept = solved(rows, n_features, sizes, kernel=KERNELS[seed % 3], cost=cost, tolerance=0.001)
    sides = np.repeat([1.0, -1.0], sizes)
    assert abs(betas.sum()) < 1e-9
    assert ((betas * sides >= 0) & (betas * sides <= cost)).all()
    slopes = kernel_matrix(rows, *KERNELS[seed % 3]) @ betas - sides
    rising = -slopes[betas < np.where(sides > 0, cost, 0)]
    falling = slopes[betas > np.where(sides > 0, 0, -cost)]
    assert rising.max() + falling.max() < 0.001 + 1e-6  # LIBSVM rounds the kernel to single precision
    within = (np.abs(betas) > 0) & (np.abs(betas) < cost)
    if within.any():
        assert abs(slopes[within].mean() + intercept) < 1e-5


@pytest.mark.parametrize("seed", range(12))
def test_betas_are_those_of_libsvm_with_many_rows_and_after_many_steps(seed):
    """Enough for rows to be left alone for a while, and seen again: at a low tolerance and at that of the papers."""
    svm = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed: pip install 'tanglewood[svm]'")
    sizes = [900, 300] if seed % 2 else [400, 1000]
    rows, n_features = random_rows(seed, sizes, most=6 + 6 * (seed % 3))
    gamma, coef0 = KERNELS[seed % 3]
    tolerance = (1.0, 0.1, 1e-3)[seed // 3 % 3]
    betas, intercept = solved(rows, n_features, sizes, kernel=(gamma, coef0), tolerance=tolerance)
    dense = np.zeros((len(rows), n_features))
    for row, features in zip(dense, rows, strict=True):
        row[features] = 1
    twin = svm.SVC(C=0.5, kernel="poly", degree=2, gamma=gamma, coef0=coef0, tol=tolerance)
    twin.fit(dense, np.repeat([0, 1], sizes))
    theirs = np.zeros(len(rows))
    theirs[twin.support_] = -twin.dual_coef_[0]
    assert np.flatnonzero(betas).tolist() == np.flatnonzero(theirs).tolist()
    assert np.abs(betas - theirs).max() < 1e-9
    assert abs(intercept + twin.intercept_[0]) < 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_however_little_is_kept_the_result_is_the_same(seed):
    sizes = [150, 90]
    rows, n_features = random_rows(seed, sizes)
    wanted = solved(rows, n_features, sizes, tolerance=0.001)
    for room in (0, 7 * sum(sizes), 10**9):
        found = solved(rows, n_features, sizes, tolerance=0.001, room=room)
        assert (found[0] == wanted[0]).all()
        assert found[1] == wanted[1]


def test_a_pair_of_several_classes_is_solved_as_if_there_were_no_others():
    sizes = [30, 50, 1, 40]
    rows, n_features = random_rows(3, sizes)
    firsts = starts_of(sizes)
    for one, other in ((0, 1), (0, 3), (1, 2), (2, 3)):
        betas, intercept = solved(rows, n_features, sizes, (one, other))
        chosen = [*range(*firsts[one : one + 2]), *range(*firsts[other : other + 2])]
        alone = solved([rows[i] for i in chosen], n_features, [sizes[one], sizes[other]])
        assert betas[chosen].tolist() == alone[0].tolist()
        assert not np.delete(betas, chosen).any()
        assert intercept == alone[1]


def test_equal_rows_of_both_classes_are_no_trouble():
    betas, intercept = solved([[0, 2]] * 5, 3, [3, 2], tolerance=0.001)
    assert betas.sum() == 0
    assert np.isfinite(intercept)
    betas, intercept = solved([[]] * 5, 3, [3, 2])
    assert np.isfinite([*betas, intercept]).all()
