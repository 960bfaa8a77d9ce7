"""One module for each kind of certificate: its theorem, and what a written theorem says.

What is common to the kinds, and the way to Coq, stands above; nothing here runs Coq.
"""
