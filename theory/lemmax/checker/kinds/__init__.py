"""One module per kind of certificate, each with a function ``check`` that yields steps.

The register of kinds is in :mod:`..checking`; a kind leans on the modules beside this folder.
"""
