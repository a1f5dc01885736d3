"""tanglewood: dependency parsing for trees whose arcs may cross.

The public names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tanglewood.arithmetic import Arithmetic
    from tanglewood.core.state import State as State
    from tanglewood.core.system import TransitionSystem as TransitionSystem
    from tanglewood.derivation import trace as trace
    from tanglewood.errors import ArgumentError as ArgumentError
    from tanglewood.errors import ConfigError as ConfigError
    from tanglewood.errors import FormatError as FormatError
    from tanglewood.errors import ModelError as ModelError
    from tanglewood.errors import OracleError as OracleError
    from tanglewood.errors import TanglewoodError as TanglewoodError
    from tanglewood.errors import TreeError as TreeError
    from tanglewood.measure.coverage import coverage as coverage
    from tanglewood.measure.scores import evaluate as evaluate
    from tanglewood.measure.stats import stats as stats
    from tanglewood.options import ParseOptions as ParseOptions
    from tanglewood.parser import Parser as Parser
    from tanglewood.pipeline import Pipeline as Pipeline
    from tanglewood.pipeline import load as load
    from tanglewood.show.drawing import Drawing as Drawing
    from tanglewood.systems import SYSTEMS as SYSTEMS
    from tanglewood.systems import make_system as make_system
    from tanglewood.systems.swap import maximal_projective_components as maximal_projective_components
    from tanglewood.training.pretrain import pretrain as pretrain
    from tanglewood.training.session import train as train
    from tanglewood.transforms.pseudo_projective import deprojectivize as deprojectivize
    from tanglewood.transforms.pseudo_projective import projectivize as projectivize
    from tanglewood.treebank.conllu import read as read
    from tanglewood.treebank.conllu import write as write
    from tanglewood.treebank.doc import Doc as Doc
    from tanglewood.treebank.sentence import Sentence as Sentence
    from tanglewood.treebank.tree import Tree as Tree
    from tanglewood.treebank.word import Word as Word

__version__ = "0.1.0"

_HOMES = {
    "ArgumentError": "errors",
    "ConfigError": "errors",
    "Doc": "treebank.doc",
    "Drawing": "show.drawing",
    "FormatError": "errors",
    "ModelError": "errors",
    "OracleError": "errors",
    "ParseOptions": "options",
    "Parser": "parser",
    "Pipeline": "pipeline",
    "SYSTEMS": "systems",
    "Sentence": "treebank.sentence",
    "State": "core.state",
    "TanglewoodError": "errors",
    "TransitionSystem": "core.system",
    "Tree": "treebank.tree",
    "TreeError": "errors",
    "Word": "treebank.word",
    "coverage": "measure.coverage",
    "deprojectivize": "transforms.pseudo_projective",
    "evaluate": "measure.scores",
    "load": "pipeline",
    "make_system": "systems",
    "maximal_projective_components": "systems.swap",
    "pretrain": "training.pretrain",
    "projectivize": "transforms.pseudo_projective",
    "read": "treebank.conllu",
    "stats": "measure.stats",
    "trace": "derivation",
    "train": "training.session",
    "write": "treebank.conllu",
}
__all__ = ["__version__", "compiled", "kernels", *_HOMES]  # noqa: PLE0604 - a literal list and the keys above


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tanglewood' has no attribute {name!r}; it has {', '.join(__all__)}")
    from importlib import import_module

    return getattr(import_module(f"tanglewood.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def kernels() -> Arithmetic:
    """Return the family of kernels that computes, and whether its results are the same on every machine."""
    from tanglewood.arithmetic import chosen

    return chosen()


def compiled() -> bool:
    """Whether the core runs as compiled code; a compiled module wins over the .py file beside it."""
    from tanglewood.core import state

    return not str(state.__file__).endswith(".py")
