"""Stability of contact, and how the arm feels to a hand. READ FIRST: stability.py.

axis_loop.py    one axis of the whole loop as numbers
compliance.py   its frequency response; surfaces, hands that hold the tool, and the mass they need
stability.py    limits and margins that follow
"""
