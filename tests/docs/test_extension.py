"""``lemmax.sphinx`` in a project of somebody else: one line in ``conf.py``."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from lemmax.constructions import shipped
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.records import to_json
from lemmax.theory.ledger.verdicts import Evidence, build_ledger

CLAIMS = r"""
[paper]
key = "mine"

[[claim]]
id = "mine/lemma"
kind = "A"
number = "Lemma 1"
title = "argmax of rank one"
statement = '''
\(\operatorname{rank}\operatorname{argmax}M\le2\) if \(\operatorname{rank} M=1\).
'''
place = "Section 1"
source = "text"
reading = "Ranks are over the rationals."
quote = "it is easy to see"
hedge = "“easy”"
counterexample = "Rows of all three signs."
holds_as = ["mine/other"]

[[claim]]
id = "mine/other"
kind = "A"
number = "text"
title = "the other reading"
statement = "At most three."
place = "Section 1"
source = "text"

[[claim]]
id = "mine/theorem"
kind = "A"
number = "Theorem 2"
title = "what rests on it"
statement = "Something."
place = "Section 1"
source = "text"
uses = ["mine/lemma"]
"""
SETTINGS = """[tool.pytest.ini_options]
lemmax_claims = ["claims.toml"]
lemmax_certificates = "proved"
"""


def test_one_line_gives_table_pages_graph_errata_and_certificates(tmp_path: Path) -> None:
    docs, out = tmp_path / "docs", tmp_path / "html"
    docs.mkdir()
    (tmp_path / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "claims.toml").write_text(CLAIMS, encoding="utf-8")
    (tmp_path / "test_mine.py").write_text('def test_lemma():\n    """Three, not two."""\n')
    (tmp_path / "proved" / "mine").mkdir(parents=True)
    shutil.copy(shipped.path("wong/argmax-rank-one"), tmp_path / "proved" / "mine" / "lemma.json")
    evidence = Evidence(
        "mine/lemma",
        "certified",
        "against",
        "test_mine.py::test_lemma",
        certificates=("mine/lemma.json",),
    )
    holding = Evidence("mine/other", "kernel", "for", "test_mine.py::test_other")
    claims = load_claims([tmp_path / "claims.toml"])
    made_for = [replace(e, statement=claims[e.claim].digest) for e in (evidence, holding)]
    ledger = build_ledger(claims, made_for)
    (tmp_path / "ledger.json").write_text(to_json(ledger), encoding="utf-8")
    (docs / "conf.py").write_text('extensions = ["lemmax.sphinx"]\n', encoding="utf-8")
    (docs / "index.md").write_text("# Mine\n\n```{ledger-summary}\n```\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", docs, out],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    claim = (out / "claims" / "mine" / "lemma.html").read_text("utf-8")
    assert "lx-refuted" in claim
    assert "rank(argmax(M)) = 3 &gt; 2" in claim
    assert "Three, not two." in claim
    page = (out / "claims" / "index.html").read_text("utf-8")
    for part in ("lx-table", "lx-graph-data", "Errata: mine"):
        assert part in page
    said = page.partition("Errata: mine")[2]
    told = (
        "easy to see",
        "caution",
        "As we read it",
        "over the rationals",
        "all three",
        "At most three",
    )
    for earlier, later in itertools.pairwise(told):
        assert said.index(earlier) < said.index(later)
    summary = (out / "index.html").read_text("utf-8")
    assert 'href="claims/index.html#paper=mine&amp;verdict=refuted"' in summary
    assert "<math " in claim  # no script and no network
    assert '<script src="http' not in claim.replace("defer", "")
    assert "furo" in claim  # the project chose no theme
    assert 'data-certificate="../../certificates/mine/lemma.json"' in claim
    assert "rank argmax M le 2 if rank M=1" in (out / "_static" / "claims.js").read_text("utf-8")
    assert "check.js" not in claim  # without Pyodide the button stays hidden
    for name in ("lemmax.css", "dark.css", "ledger.js", "graph.js"):
        assert (out / "_static" / name).is_file()
    for name in ("mine/lemma.json", "checker.pyz", "ledger.json"):
        assert (out / "certificates" / name).is_file()
