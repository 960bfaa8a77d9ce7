"""The language of formal statements: its sorts, its syntax, its three truths, and its claims.

What a word means is in the folder ``words`` beside this one. Nothing here decides a claim: kinds of
certificates do, which ask whether the assumptions and the conclusion are true of an instance.
"""
