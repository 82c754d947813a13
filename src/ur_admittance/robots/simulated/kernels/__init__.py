"""The simulated arm in compiled code: plant.py (servos, physics, sensor), controller_box.py, holding.py (a hand)."""
