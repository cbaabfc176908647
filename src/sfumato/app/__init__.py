"""App: the whole of it in a browser, on one's own machine; the policy file is the only state."""
