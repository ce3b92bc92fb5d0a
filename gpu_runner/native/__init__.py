"""Functions over plain memory, written in a subset of Python and compiled to machine code in a fraction of a second.

The scheduler and the detector are at work at every access of every thread, so they are compiled; what they need of a
language is integers, structures and loops, so that is what `compile` takes in.
"""
