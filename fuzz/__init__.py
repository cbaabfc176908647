"""A fuzzer: random tables under random policies, and an oracle that knows the definitions and none of our code."""
