"""The ledger of a project as a site: one line in ``conf.py``, ``extensions = ["lemmax.sphinx"]``.

Nothing here knows a verdict or a count: statements come from the claims files, verdicts and
evidence from the ledger, what a certificate shows from the independent checker. The page of a
claim has the stable address ``claims/PAPER/NAME.html``; a project without a page ``ledger.md`` of
its own gets ``claims/index.html`` with table, graph and errata. Directives::

    {ledger-table}          every claim, with filters
    {ledger-graph}          what rests on what
    {ledger-summary}        how many claims of each paper have which verdict
    {refuted-and-open}      the gravest errata and the open claims, each a link
    {errata-summary}        every erratum in a table, with a link that can be sent
    {paper-claims} wong     the statements of one paper, in order
    {errata} wong           what an author would want to know
    {check-certificate}     check any certificate in the page
    {certificate-kinds}     the fields of every kind, from the schemas
    {vocabulary}            the words of the checker's language
    {checker-modules}       what a referee reads
    {grades}                how many claims each grade decides
    {formal-proofs}         what Coq proves, from the headers of its sources
    {proof-list}            every proof page

Settings of ``conf.py``, all optional: ``lemmax_root`` (where tests are named from; the folder of
``pyproject.toml``), ``lemmax_claims``, ``lemmax_ledger``, ``lemmax_certificates``, relative to it.
What is left out is read from pytest's settings, else ``claims.toml``, ``ledger.json`` and
``certificates``. A project that chose no theme gets furo where it is installed, and one that chose
no way to set formulas gets MathML: its pages need no network. Where a folder of
``html_static_path`` has the files of the npm package ``pyodide`` in ``pyodide``, each certificate
has a button that checks it in the reader's browser.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything."""
    from lemmax.sphinx import checking, errata, evidence, formulas, pages, tables

    if "myst_nb" not in app.config.extensions:
        app.setup_extension("myst_parser")
    app.add_config_value("lemmax_root", "", "env", str)
    app.add_config_value("lemmax_claims", [], "env", list)
    app.add_config_value("lemmax_ledger", "", "env", str)
    app.add_config_value("lemmax_certificates", "", "env", str)
    formulas.connect(app)
    pages.connect(app)
    app.add_directive("ledger-table", tables.LedgerTable)
    app.add_directive("ledger-summary", tables.LedgerSummary)
    app.add_directive("refuted-and-open", tables.RefutedAndOpen)
    app.add_directive("ledger-graph", tables.LedgerGraph)
    app.add_directive("paper-claims", tables.PaperClaims)
    app.add_directive("errata", errata.Errata)
    app.add_directive("errata-summary", errata.ErrataSummary)
    app.add_directive("check-certificate", checking.CheckCertificate)
    app.add_directive("certificate-kinds", evidence.CertificateKinds)
    app.add_directive("vocabulary", evidence.Vocabulary)
    app.add_directive("checker-modules", evidence.CheckerModules)
    app.add_directive("grades", evidence.Grades)
    app.add_directive("formal-proofs", evidence.FormalProofs)
    app.add_directive("proof-list", evidence.ProofList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
