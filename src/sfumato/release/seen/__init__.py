"""What columns look like, in few bins: the same ones before and after, so that the two can be held side by side."""
