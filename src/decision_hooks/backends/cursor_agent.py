"""The card of Cursor's ``cursor-agent``."""

from __future__ import annotations

from decision_hooks.backends.base import MODEL, WORKSPACE, Card, Form

_PLAIN = ("-p", "--mode", "ask", "--output-format", "text")
_FORMS = (
    Form((*_PLAIN, "--trust", "--workspace", WORKSPACE, "--model", MODEL)),
    Form((*_PLAIN, "--model", MODEL), in_root=True),
)

CARD = Card(
    name="cursor-agent",
    label="cursor-agent CLI",
    model_field="cursor_model",
    capture=_FORMS,
    normalize=_FORMS,
    absent="cursor-agent CLI not found",
    login="cursor-agent login",
    alias="cursor",
)
