"""What everything stands on: arrays, packed tuples, equivalence classes, exact numbers and randomness."""
