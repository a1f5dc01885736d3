#!/bin/sh
# The drawings of the documentation that no command stands beside: sh docs/pictures.sh
# (Those of the playground and of the web page are made by docs/screenshots.py.)
set -e
cd "$(dirname "$0")/.."
tanglewood draw examples/figure1.conllu -o docs/img/figure1.svg
tanglewood convert examples/figure1.conllu --projectivize head+path | tanglewood draw - -o docs/img/figure1-projective.svg
tanglewood draw examples/figure2-lacroix.conllu -o docs/img/figure2-lacroix.svg
for name in nap-en singer-en topic-de two-verbs-nl three-verbs-nl; do
  tanglewood draw examples/small.conllu --sent-id "$name" -o "docs/img/$name.svg"
done
