"""Mondrian: multidimensional partitioning, strict and relaxed."""

from sfumato.recode.local.mondrian.rounds import mondrian, relaxed

__all__ = ["mondrian", "relaxed"]
