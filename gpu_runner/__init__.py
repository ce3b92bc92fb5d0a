"""Dynamic runs: executing a kernel under a happens-before race detector, to turn a possible race into a confirmed one.

Nothing is here yet. Until it is, no finding is ever marked as confirmed by a run.
"""
