"""The pipeline for a small local model: narrow questions in, operations out; pure."""
