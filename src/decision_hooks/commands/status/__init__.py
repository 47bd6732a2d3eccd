"""``status``: drafts, runs, calls and costs on one screen."""
