"""The card of ``pi``."""

from __future__ import annotations

from decision_hooks.backends.base import MODEL, Card, Form

_CAPTURE = (
    "-p --no-session --mode text --no-tools --no-context-files --no-extensions --no-skills "
    f"--no-prompt-templates --offline --model {MODEL}"
)
_NORMALIZE = f"-p --model {MODEL} --no-prompt-templates --no-tools"

CARD = Card(
    name="pi",
    label="pi",
    model_field="pi_model",
    capture=(Form(tuple(_CAPTURE.split())),),
    normalize=(
        Form((*_NORMALIZE.split(), "--no-session", "--no-context-files", "--no-skills")),
        Form(tuple(_NORMALIZE.split())),
    ),
    absent="pi not found",
    login="log in: run pi and type /login",
    no_model="no local policy model configured",
    project_paths=(
        "node_modules/.bin/pi",
        "node_modules/@7n/rules/node_modules/.bin/pi",
        "node_modules/@nitra/cursor/node_modules/.bin/pi",
    ),
)
