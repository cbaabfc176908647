"""Constrained clustering: near rows in groups of at least k, the first step of microaggregation and condensation.

`mixed_points` is what is grouped, rows of numbers and categories with a distance. `mdav` has MDAV and V-MDAV, which
look for tight groups and take time that is quadratic in the rows of a block; `median_cuts` halves groups at medians,
and is hardly slower than sorting.
"""
