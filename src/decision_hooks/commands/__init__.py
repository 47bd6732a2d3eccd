"""One module a subcommand; ``argparse`` is imported only here."""
