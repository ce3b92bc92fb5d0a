"""Data races: pairs of accesses that two threads can reach in one barrier interval, as queries for the solvers."""
