"""Repairs: from a finding to a source edit that the prover has accepted, as plain data. No editor types, no disk."""
