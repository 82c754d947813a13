"""The simulated world in compiled code: plant.py, hand.py, arm.py (its controller box), episode.py."""
