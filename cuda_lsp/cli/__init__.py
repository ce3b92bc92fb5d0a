"""The command line: arguments in, text or JSON out, an exit code that a script can rely on."""
