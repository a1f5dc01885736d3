"""The tokenizer alone: how well it finds tokens, sentences and words in the raw text of treebanks, and how fast.

    python bench/sentences.py TREEBANK_DIR... [--part dev|test] [--model MODEL] [--keep FILE]

Without --model a tokenizer is trained on train.conllu, its threshold tuned on dev.conllu, as the first step of
tanglewood train --pipeline; --keep FILE keeps it, and --tokenizer FILE takes it again. --model bundled takes that of
the English model of tanglewood. The scores are F1 as in the CoNLL 2018 shared task; tokens per second are per CPU
second, least of three runs.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from tanglewood import evaluate, load, read
from tanglewood.store import load_model, save_model
from tanglewood.text.borders import BorderOptions
from tanglewood.text.raw import Token, gold_text
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.treebank.sentence import Sentence
from timing import least_cpu, print_markdown


def flat(text: str, sentences: list[list[Token]]) -> Iterator[Sentence]:
    """Yield the sentences with trees that are chains: only their words are scored."""
    for tokens in sentences:
        lines = []
        number = 0
        for token in tokens:
            if len(token.words) > 1:
                end = number + len(token.words)
                lines.append(f"{number + 1}-{end}\t{text[token.start : token.end]}" + 8 * "\t_")
            for word in token.words:
                lines.append(f"{number + 1}\t{word}\t_\t_\t_\t_\t{number}\t{'dep' if number else 'root'}\t_\t_")
                number += 1
        yield Sentence("\n".join([*lines, "", ""]).encode())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", type=Path, nargs="+", metavar="TREEBANK_DIR")
    parser.add_argument("--model", metavar="MODEL", help="a pipeline that is there; bundled: that of tanglewood")
    parser.add_argument("--tokenizer", type=Path, metavar="FILE", help="a tokenizer that was kept")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep the tokenizer that was trained last")
    parser.add_argument("--part", choices=("dev", "test"), default="dev", help="file that is scored (default dev)")
    args = parser.parse_args()
    rows = []
    for treebank in args.treebanks:
        if args.tokenizer:
            tokenizer: Tokenizer | None = Tokenizer.load(*load_model(args.tokenizer))
        elif args.model:
            tokenizer = load(None if args.model == "bundled" else args.model).tokenizer
        else:
            train, dev = (list(read(treebank / f"{part}.conllu")) for part in ("train", "dev"))
            tokenizer = Tokenizer.learn(
                train, dev, borders=BorderOptions(), report=lambda line: print(line, file=sys.stderr)
            )
            if args.keep:
                save_model(args.keep, tokenizer.arrays(), tokenizer.settings())
        if tokenizer is None:
            raise SystemExit(f"{args.model} has no tokenizer; tanglewood train --pipeline makes a model that has one")
        gold = list(read(treebank / f"{args.part}.conllu"))
        text = gold_text(gold).text
        found, seconds = least_cpu(3, lambda text=text, tokenizer=tokenizer: tokenizer.tokenize(text))
        scores = evaluate(gold, list(flat(text, found)), align=True)
        figures = (scores.tokens_f1, scores.sentences_f1, scores.words_f1)
        speed = f"{sum(map(len, found)) / seconds:,.0f}"
        rows.append([treebank.resolve().name, *(f"{figure:.2f}" for figure in figures), speed])
    print_markdown([f"{args.part} set", "Tokens", "Sentences", "Words", "tokens/s"], rows)


if __name__ == "__main__":
    main()
