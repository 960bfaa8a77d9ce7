"""Certificates as theorems: a Coq file that states what a certificate says, and its proof.

Each kind of certificate has one module here that writes the theorem and one function that reads it
back; what the file proves is decided by Coq's kernel alone, and no paper is known here.
"""
