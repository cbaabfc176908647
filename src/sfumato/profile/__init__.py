"""Profile: what is in a table, what its columns probably are, and a policy to start from."""
