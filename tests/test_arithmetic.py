"""Which kernels compute: what TANGLEWOOD_KERNELS may name, and that what it names is used."""

import pytest

import tanglewood as tw
from tanglewood import arithmetic
from tanglewood.arithmetic import FAMILIES, VARIABLE, Arithmetic, available, chosen
from tanglewood.errors import ConfigError


@pytest.fixture
def machine(monkeypatch):
    """A machine with AVX2 and no more."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(arithmetic, "available", lambda: ("portable", "avx2"))


@pytest.mark.parametrize(
    ("named", "family", "reproducible"),
    [
        ("", "avx2", False),
        (" ", "avx2", False),
        ("portable", "portable", False),
        ("reproducible", "avx2", True),
        ("reproducible,portable", "portable", True),
        ("portable, reproducible", "portable", True),
        ("avx2,avx2", "avx2", False),
    ],
)
def test_the_variable_names_a_family_and_whether_results_are_reproducible(
    machine, monkeypatch, named, family, reproducible
):
    monkeypatch.setenv(VARIABLE, named)
    assert chosen() == Arithmetic(family, reproducible)
    assert chosen(reproducible=True) == Arithmetic(family, True)
    assert tw.kernels() == chosen()


@pytest.mark.parametrize(
    ("named", "complaint"),
    [
        ("fast", "there are no such kernels; here it can be portable, avx2, reproducible"),
        ("AVX2", "there are no such kernels"),
        ("vnni", "this machine lacks the instructions; here it can be portable, avx2, reproducible"),
        ("portable,avx2", "one family at a time, not 2"),
        ("dotprod", "this machine lacks the instructions"),
        ("reproducible,avx512", "=avx512: this machine lacks"),
    ],
)
def test_any_other_name_is_an_error_that_tells_what_there_is(machine, monkeypatch, named, complaint):
    monkeypatch.setenv(VARIABLE, named)
    with pytest.raises(ConfigError, match=complaint):
        chosen()


def test_the_best_family_is_the_default(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert available()[0] == "portable"
    assert available() == tuple(family for family in FAMILIES if family in available())
    assert str(chosen()) == available()[-1]
    assert str(chosen(reproducible=True)) == f"{available()[-1]}, reproducible"
    assert available() == ("portable",) or tw.compiled()
