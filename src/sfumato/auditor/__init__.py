"""Query auditing: sums, maxima and minima of protected columns are answered until they would give a person away."""
