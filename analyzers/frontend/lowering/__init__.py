"""The pieces of the lowering from libclang cursors to the program IR; `analyzers.frontend.lower` is the entrance."""
