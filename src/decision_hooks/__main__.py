"""``python -m decision_hooks SUBCOMMAND``: ``normalize-decisions`` without its console script."""

import sys

from decision_hooks.cli import normalize_main

if __name__ == "__main__":
    sys.exit(normalize_main())
