"""Makes a wheel that holds a model: a zip file with a module, the model, what it is, and the metadata of a package.

The same model and card give the same bytes. Nothing is built, and nothing but the standard library is needed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tanglewood import __version__
from tanglewood.errors import ConfigError
from tanglewood.files import writing
from tanglewood.packages.installed import BUNDLED, CARD, GROUP, NAME, OWN
from tanglewood.pipeline import Pipeline, load

VERSION = re.compile(r"[0-9]+(\.[0-9]+){0,3}((a|b|rc)[0-9]+)?(\.post[0-9]+)?")
WHEN = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can hold, so that the same model gives the same bytes
SETTLED = ("dev", "train_sentences", "train_words", "train_sha256", "system", "learner", "search", "seed", "epoch")
MODEL = "model"  # the model file is called MODEL.tw, and the entry point names MODEL


def card_of(
    pipeline: Pipeline, *, name: str, version: str, language: str, licence: str, command: str, source: str
) -> dict[str, Any]:
    """Return what a package says about its model: what it is for, who may use it how, scores, and how it was made."""
    about = pipeline.description
    takes = "text" if pipeline.tokenizer else "words" if pipeline.tagger else "tagged words"
    return {
        "name": name,
        "version": version,
        "language": language,
        "licence": licence,
        "source": source,
        "takes": takes,
        "scores": dict(about.get("dev", {})),
        "command": command,
        "tanglewood": __version__,
        "sha256": pipeline.checksum,
        "training": {key: about[key] for key in SETTLED if key in about},
    }


def bundled_card() -> dict[str, Any]:
    """Return the same for the model that comes with tanglewood."""
    pipeline = load()
    return card_of(
        pipeline,
        name=BUNDLED,
        version=__version__,
        language="en",
        licence="CC-BY-SA-4.0",
        command=command_of(pipeline),
        source="UD_English-EWT",
    )


def command_of(pipeline: Pipeline) -> str:
    """Return a command that trains such a model, as far as the model says how it was made; files by their names."""
    about = pipeline.description
    words = ["tanglewood", "train", *(["--pipeline"] if pipeline.tokenizer else []), "TRAIN"]
    words += [*(["--dev", "DEV"] if "dev" in about else []), "-o", "MODEL"]
    for name in ("system", "oracle", "pseudo_projective", "learner", "search"):
        if about.get(name):
            words += [f"--{name.replace('_', '-')}", str(about[name])]
    words += ["--single-root" if about["single_root"] else "--several-roots"]
    for name in ("seed", "beam"):
        words += [f"--{name}", str(about.get(name, 1))]
    settings = {f"options.{name}": value for name, value in about.get("options", {}).items()}
    if "folds" in about:
        settings["folds"] = about["folds"]
    if "silver_words" in about:
        settings["silver_words"] = about["silver_words"]
    settings |= about.get("settings", {})
    for name, value in settings.items():
        told = Path(value).name if name == "templates" else value
        words += ["--set", f"{name}={json.dumps(told, ensure_ascii=False)}"]
    for name in ("vectors", "pretrained", "stacked", "begin_from"):
        if about.get(name):
            words += ["--from" if name == "begin_from" else f"--{name}", Path(about[name]).name]
    for name in ("vectors_rows", "vectors_width"):
        if name in about:
            words += [f"--{name.replace('_', '-')}", str(about[name])]
    if about.get("contextual"):
        words += ["--contextual", *map(_file_or_encoder, about["contextual"])]
    if about.get("distil") is not None:
        words += ["--distil", str(about["distil"])]
    if about.get("distil_from"):
        words += ["--distil-from", *(Path(name).name for name in about["distil_from"])]
    for name in ("unlabelled", "silver"):
        for file in about.get(name, ()):
            words += [f"--{name}", Path(file).name]
    return shlex.join(words)


def _file_or_encoder(name: str) -> str:
    """Return the name without its folders, unless it may be that of an encoder, such as owner/model."""
    return Path(name).name if Path(name).is_absolute() else name


def write_wheel(model: str | Path, folder: str | Path, card: Mapping[str, Any], licence_text: str = "") -> Path:
    """Write a wheel with a model file, and return its name; ``card`` is what `card_of` returns."""
    name, version = str(card["name"]), str(card["version"])
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is no name for a model; it should be like dutch-alpino: a-z, 0-9 and single hyphens"
        )
    if name in OWN:
        raise ConfigError(f"{name} is the name of the model that comes with tanglewood; --name should be another")
    if not VERSION.fullmatch(version):
        raise ConfigError(f"{version!r} is no version; it should be like 1.0 or 1.2.3")
    load(model)  # raises if it is none
    module = f"tanglewood_model_{name.replace('-', '_')}"
    stem = f"{module}-{version}"
    info = f"{stem}.dist-info"
    pretty = json.dumps(card, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    files: dict[str, bytes] = {
        f"{module}/__init__.py": _module(name).encode(),
        f"{module}/{MODEL}.tw": Path(model).read_bytes(),
        f"{module}/{CARD}": pretty.encode(),
        f"{info}/METADATA": _metadata(module, card, has_text=bool(licence_text)).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tanglewood\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[{GROUP}]\n{name} = {module}:{MODEL}\n".encode(),
    }
    if licence_text:
        files[f"{info}/licenses/LICENSE"] = licence_text.encode()
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    target = Path(folder) / f"{stem}-py3-none-any.whl"
    with writing(target, packed=False) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)
    return target


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _module(name: str) -> str:
    return (
        f'"""A model for tanglewood: tanglewood.load("{name}")."""\n\n'
        "from pathlib import Path\n\n"
        f'{MODEL} = Path(__file__).with_name("{MODEL}.tw")\n'
    )


def _metadata(module: str, card: Mapping[str, Any], *, has_text: bool) -> str:
    language = f" for {card['language']}" if card["language"] else ""
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {module.replace('_', '-')}",
        f"Version: {card['version']}",
        f"Summary: A tanglewood model{language}: from {card['takes']} to trees",
        f"License: {card['licence']}",
        *(["License-File: LICENSE"] if has_text else []),
        "Requires-Python: >=3.11",
        f"Requires-Dist: tanglewood>={card['tanglewood']}",
        "Description-Content-Type: text/markdown",
    ]
    scores = ", ".join(f"{key.upper()} {value:.2f}" for key, value in card["scores"].items()) or "not known"
    body = [
        f"# {card['name']}",
        f'`tanglewood parse -m {card["name"]}` on the command line, `tanglewood.load("{card["name"]}")` in Python.',
        f"- language: {card['language'] or 'not said'}",
        f"- licence: {card['licence']}",
        f"- learnt from: {card['source'] or 'not said'}",
        f"- scores on the development data: {scores}",
        f"- made by: `{card['command'] or 'not said'}`, tanglewood {card['tanglewood']}",
    ]
    return (
        "\n".join(one_header(line) for line in lines)
        + "\n\n"
        + "\n\n".join(body[:2])
        + "\n\n"
        + "\n".join(body[2:])
        + "\n"
    )


def one_header(line: str) -> str:
    """Return a line of metadata, which no value may break."""
    return " ".join(line.split())
