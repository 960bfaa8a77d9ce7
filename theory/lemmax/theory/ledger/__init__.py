"""The ledger: claims, proofs, what Coq proves, and the verdicts that follow from the evidence.

The catalogue of claims and the committed ledger lie here as data; nothing here knows what a claim
says about attention.
"""
