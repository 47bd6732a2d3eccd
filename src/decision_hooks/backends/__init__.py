"""The programs that run a model: how each is called, which is chosen, what their answers mean."""
