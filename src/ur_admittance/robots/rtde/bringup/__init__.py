"""What a person at a real arm does, step by step, and the report of it, which `run` takes as its configuration."""
