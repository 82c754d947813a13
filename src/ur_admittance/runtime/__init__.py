"""Time and processes: the control loop, what others see of it, what they may ask of it, and its recordings."""
