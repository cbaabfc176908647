"""Condensation: pseudo-rows drawn from the statistics of groups, of a table at rest and in a stream."""
