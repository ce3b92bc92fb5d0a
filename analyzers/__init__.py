"""The analysis core: source text, compiler flags and host facts in; findings with witnesses and proofs out. No I/O, no editor."""
