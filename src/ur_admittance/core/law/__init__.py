"""From the wrench to a twist: mass, damper, spring."""
