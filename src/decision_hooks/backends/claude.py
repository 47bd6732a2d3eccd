"""The card of Claude Code."""

from __future__ import annotations

from decision_hooks.backends.base import MODEL, Card, Form

_PLAIN = ("-p", "--model", MODEL)
_HERMETIC = '--safe-mode --tools "" --no-session-persistence --strict-mcp-config --output-format json'
_TOOLS = "Bash,Edit,Glob,Grep,MultiEdit,NotebookEdit,Read,Task,TodoWrite,WebFetch,WebSearch,Write"
_FORMS = (
    Form((*_PLAIN, *(word.strip('"') for word in _HERMETIC.split()))),
    Form(
        _PLAIN,
        options=(
            ("--tools", ""),
            ("--disallowedTools", _TOOLS),
            ("--strict-mcp-config",),
            ("--settings", '{"disableAllHooks":true}'),
        ),
    ),
)

CARD = Card(
    name="claude",
    label="claude CLI",
    model_field="claude_model",
    capture=_FORMS,
    normalize=_FORMS,
    absent="claude CLI not found",
    login="run claude and type /login",
)
