"""What the loop tells: a wait-free ring in shared memory, with its writer and its readers."""
