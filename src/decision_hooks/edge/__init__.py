"""One run at its border: stdin, environment, clock, terminal and the error boundary."""
