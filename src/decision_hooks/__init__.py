"""Decisions of coding sessions: from a Stop event to MADR records in ``docs/adr``.

The map of the package. Each line may import those below it; packages on one line never meet (held by
``tests/test_architecture.py``)::

    cli                       the two entry points and their guards
    edge                      one run at its border: stdin, environment, clock, error boundary
    commands                  one module a subcommand, a folder where it needs several
    capture, normalize        the stories: one Stop event, one normalisation run
    transcripts, state, backends, install, pipeline
                              what lies on the disk, what is remembered, who is called, what is registered;
                              the judgement of the local pipeline
    system, hosts, replies    files, git, locks, processes; the agents that call us; a reply to a judged plan
    sessions, records         what was said; what docs/adr holds
    privacy, settings         what must not leave the machine; every environment variable
    text, languages           Markdown, terms, cutting; the words and phrases of each language
    errors                    the errors raised on purpose

Pure: text, languages, privacy, sessions, records, hosts, replies, pipeline. ``subprocess`` and ``fcntl``: ``system``
only. ``sys.stdin``, ``os.environ``, the clock and the exit: ``edge`` and ``cli`` only.
"""
