"""Reading: somebody's release, opened from its folder, from a file or from memory.

What is read here is used to query, measure and attack a release. The verifier has a reader of its own, so that a fault
here cannot be one there as well. `release_reader` reads the manifest of a release, `outside_table` the table that
somebody else has, and `release_view` gives the published columns as codes, whatever they come from.
"""
