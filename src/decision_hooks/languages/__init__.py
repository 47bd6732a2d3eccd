"""One card a language: what we write in it, and the words by which its texts are understood; pure."""
