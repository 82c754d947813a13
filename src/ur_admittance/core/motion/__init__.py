"""Stopping, backing out of a contact, an arm that lags behind its command, and what is sent."""
