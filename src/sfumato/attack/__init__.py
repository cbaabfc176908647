"""What an adversary can do with a release, measured: one attack per module.

A module is imported by whoever runs its attack, so that a report on one table does not load the learner for two.
"""
