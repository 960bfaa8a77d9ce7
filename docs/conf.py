"""Sphinx configuration."""

project = "lemmax"
author = "The lemmax authors"
copyright = "2026, The lemmax authors"
version = release = "0.1.0"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
html_theme = "furo"
html_title = "lemmax"
html_static_path = ["_static"]
templates_path: list[str] = []

myst_enable_extensions = ["dollarmath", "amsmath"]
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120

# One file, fetched by docs/mathjax.py: pages render with no network.
mathjax_path = "mathjax/tex-svg-full.js"

autodoc_typehints = "description"
autodoc_member_order = "bysource"
