"""What is installed for pi: an extension in TypeScript without imports beyond node."""

from __future__ import annotations

import json

from decision_hooks.hosts.entry_line import ENTRIES, OwnFile, Target, line
from decision_hooks.hosts.marks import sealed
from decision_hooks.settings import GUARDS


def pi() -> Target:
    """The card of pi."""
    return Target(
        "pi", "pi", ".pi", ("pi",), files=(OwnFile(".pi/extensions/decision-hooks.ts", _extension()),)
    )


def _extension() -> str:
    """The extension's text: runs each line of sh at the end of a turn, unless a guard variable is set."""
    from pkgutil import get_data

    text = (get_data(__package__, "extension.ts") or b"").decode()
    lines = "\n".join(f"  {json.dumps(line(entry))}," for entry in ENTRIES)
    return sealed(text.replace("LINES_HERE", lines).replace("GUARDS_HERE", json.dumps(GUARDS)), "// {}")
