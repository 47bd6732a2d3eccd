"""``python -m decision_hooks SUBCOMMAND``: how the package starts its own local pipeline."""

import sys

from decision_hooks.cli import normalize_main

if __name__ == "__main__":
    sys.exit(normalize_main())
