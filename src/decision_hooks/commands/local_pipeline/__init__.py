"""``local-pipeline``: the pipeline of the local backend, by hand."""
