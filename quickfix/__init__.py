"""Repairs: from a finding to a source edit that the prover has accepted, as plain data. No editor types, no disk."""

from quickfix.repair import FixOffer, answers, available, fix_all, fix_for, offers, remove_redundant

__all__ = ["FixOffer", "answers", "available", "fix_all", "fix_for", "offers", "remove_redundant"]
