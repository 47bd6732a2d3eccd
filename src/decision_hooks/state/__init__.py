"""What is remembered between runs: positions, waiting parts, runs and their journal, the index of records."""
