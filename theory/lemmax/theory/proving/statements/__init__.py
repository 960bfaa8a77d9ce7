"""Refutations and witnesses: statements in the words of the checker's language, as theorems.

One module reads what a certificate says into trees, one writes each family of words and one reads
the written theorem back; what the words mean in Coq stands in ``theory/formal/*_words.v``.
"""
