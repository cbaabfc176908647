"""Noise that is published, and what comes back through it: a channel is the chance of each report for each true value.

Collections of perturbed answers and columns that are masked before a release share what is here: the kinds of noise,
their channels, the distribution that reports came from, and what a filter recovers of single values.
"""
