"""Sphinx configuration."""

import os
import sys
from pathlib import Path

from jupyter_client.manager import KernelManager

HERE = Path(__file__).parent
ROOTS = [str(HERE.parent / room) for room in ("theory", "constructions", "numerics")]
# The pages document this checkout, whatever is installed; notebooks inherit the same path.
sys.path[:0] = [str(HERE / "_ext"), *ROOTS]
os.environ["PYTHONPATH"] = os.pathsep.join([*ROOTS, os.environ.get("PYTHONPATH", "")])
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
if hasattr(KernelManager, "transport_encryption"):
    # Newer kernels warn when they are spoken to over a port in plain text: encrypt.
    KernelManager.transport_encryption.default_value = "auto"

project = "lemmax"
author = "The lemmax authors"
copyright = "2026, The lemmax authors"
version = release = "0.1.0"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinxcontrib.bibtex",
    "reference",
    "speed",
    "example",
    "landing",
    "paragraphs",
    "schemes",
    "tryout",
    "lemmax.sphinx",
]
exclude_patterns = ["_build", "_ext", "examples", "**/.ipynb_checkpoints", "jupyter_execute"]
html_theme = "furo"
html_title = "lemmax"
html_favicon = "pictures/icon.svg"
html_static_path = ["_static"]
html_css_files = ["landing.css"]
html_copy_source = False
html_domain_indices = html_use_index = False  # the reference has its own index
html_show_sourcelink = False
templates_path: list[str] = []

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
suppress_warnings = [
    "myst.header",  # generated pages begin their sections where they fit
    "ref.python",  # the checker shares no type with lemmax, but some names
]
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / ".jupyter_cache")
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # a machine may be busy
nb_merge_streams = True
nb_number_source_lines = False

bibtex_bibfiles = ["../theory/lemmax/theory/ledger/references.bib"]
bibtex_default_style = "plain"

# One file, fetched by docs/fetched.py: pages render with no network.
mathjax_path = "mathjax/tex-svg-full.js"
mathjax3_config = {"svg": {"fontCache": "local"}, "options": {"menuOptions": {"settings": {}}}}

autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
napoleon_google_docstring = False
