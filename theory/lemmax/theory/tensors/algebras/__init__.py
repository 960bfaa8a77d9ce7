"""Tensors that are multiplication tables of associative algebras with unit: how they are built.

Recognition, radical, centre, simple parts as matrices over number fields; the bounds and the terms
that follow from it are in :mod:`..below.algebras` and :mod:`..above.algebras`.
"""
