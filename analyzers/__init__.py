"""The analysis core: source text, compiler flags and a budget in; findings with witnesses and proofs out. No I/O."""
