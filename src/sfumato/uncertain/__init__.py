"""Records as densities: the spread that each needs for expected anonymity, and centres that are drawn."""
