"""Source in, source out: reads a function and writes the functions that compute its derivatives."""
