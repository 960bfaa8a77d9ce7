"""The smallest layer that knows a database: constructed, then searched for, beside what is needed.

Constructions here share what the compiler's own do not: embeddings of tokens that never disagree,
one number for two predicates, a head that carries in the tables of cyclic groups. The search trains
many small layers at once in numpy, rounds the weights of one that knows all facts, and decides it
exactly like any other layer; floats propose and never decide. Nothing of number formats lives here.
"""
