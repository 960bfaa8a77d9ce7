#!/bin/sh
# From an empty folder to a certified refutation in the PDF, with a wheel and nothing of a clone.
#
#   empty_folder.sh PYTHON WHEEL FOLDER [SITE-PACKAGES]
#
# FOLDER must not exist. With SITE-PACKAGES the dependencies are borrowed from there, else pip installs
# them. Every step is a command that an author would type.
set -eu
python=$1 wheel=$2 folder=$3 borrowed=${4-}
unset PYTHONPATH || true
mkdir "$folder"
cd "$folder"
if [ -n "$borrowed" ]; then
  "$python" -m venv --without-pip .venv
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  "$python" -m pip --python .venv install -q --no-deps --no-index "$wheel"
  echo "$borrowed" >"$site/borrowed.pth"
else
  "$python" -m venv .venv
  .venv/bin/pip install -q "$wheel[project]"
fi
bin=$PWD/.venv/bin
"$bin/python" - <<'END'
import pathlib, sys
import lemmax.cli, lemmax.theory
for module in (lemmax.cli, lemmax.theory):
    assert pathlib.Path(module.__file__).is_relative_to(sys.prefix), module.__file__
END
"$bin/lemmax" init paper --title 'Sums and ranks' --author 'A. Author'
cd paper
"$bin/python" -m pytest -q -p no:cacheprovider --ledger ledger.json
"$bin/lemmax" paper main.tex
pdflatex -interaction=nonstopmode -halt-on-error -no-shell-escape main.tex >/dev/null
pdflatex -interaction=nonstopmode -halt-on-error -no-shell-escape main.tex >/dev/null
"$bin/lemmax" paper main.tex --check
"$bin/python" -m pytest -q -p no:cacheprovider --ledger-against ledger.json
"$bin/lemmax" check certificates/paper/con-argmax.json
"$bin/lemmax" report
mkdir docs
echo 'extensions = ["lemmax.sphinx"]' >docs/conf.py
printf '# Mine\n\n```{ledger-summary}\n```\n' >docs/index.md
"$bin/python" -m sphinx -q -W docs html
