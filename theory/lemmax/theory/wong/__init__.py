"""Wong 2025: attention layers on pairs of tokens, what they memorize, their tensors and ranks.

The definitions and bounds of one paper; weights and counterexamples that witness them are in
:mod:`lemmax.constructions.wong`, and no other paper's room is imported.
"""
