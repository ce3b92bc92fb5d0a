"""Repairs: from a finding to a source edit that the prover has accepted, as plain data. No editor types, no disk."""

from quickfix.hoisting import hoisted
from quickfix.redundant import remove_redundant
from quickfix.repair import FixOffer, answers, available, fix_for, offers, still_right
from quickfix.rounds import fix_all

__all__ = [
    "FixOffer",
    "answers",
    "available",
    "fix_all",
    "fix_for",
    "hoisted",
    "offers",
    "remove_redundant",
    "still_right",
]
