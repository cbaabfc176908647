"""What an adversary can do with a release, measured: one attack per room.

A room is imported by whoever tries its attack: a report of one table pays for no learner on two.
"""
