"""What must not leave the machine: masks, the scanner, paths without a name; pure."""
