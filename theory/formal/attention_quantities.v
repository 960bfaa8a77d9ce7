From mathcomp Require Import all_ssreflect all_algebra.
