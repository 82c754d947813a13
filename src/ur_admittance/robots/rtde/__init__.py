"""A real UR through RTDE."""
