"""The simulated arm that people push in real time."""
