"""Compare: one policy under several algorithms and parameters, with what each loses, leaves open and takes."""
