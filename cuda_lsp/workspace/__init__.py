"""The files around the open documents: project settings, compile commands, and who includes a header."""
