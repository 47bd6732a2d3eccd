"""Everything that touches the world: files, locks, git, processes, backends. Thin."""
