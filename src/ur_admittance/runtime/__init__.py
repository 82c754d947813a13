"""Time and processes: the control loop, what others see of it, and what they may ask of it."""
