"""Stopping, backing out of a contact, and an arm that lags behind its command."""
