"""Barriers: those that live threads can miss, and those that order nothing."""
