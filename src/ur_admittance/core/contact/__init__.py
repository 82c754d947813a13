"""What the tool touches, and the damping that this needs."""
