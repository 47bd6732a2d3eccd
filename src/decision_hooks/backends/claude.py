"""The card of Claude Code."""

from __future__ import annotations

from decision_hooks.backends.base import MODEL, Card, Form

_PLAIN = ("-p", "--model", MODEL)
_NO_TOOLS = ("--safe-mode", "--tools", "")
_HERMETIC = (*_NO_TOOLS, *"--no-session-persistence --strict-mcp-config --output-format json".split())
_NO_HOOKS = ("--settings", '{"disableAllHooks":true}')
_FORMS = (Form((*_PLAIN, *_HERMETIC)), Form((*_PLAIN, *_NO_HOOKS)), Form(_PLAIN))

CARD = Card(
    name="claude",
    label="claude CLI",
    model_field="claude_model",
    capture=_FORMS,
    normalize=_FORMS,
    absent="claude CLI not found",
    login="run claude and type /login",
)
