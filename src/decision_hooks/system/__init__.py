"""What touches the world: files, locks, git, processes, the project and its log; thin."""
