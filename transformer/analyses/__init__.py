"""Analyses: what is known of the values of an IR function. Nouns; they change nothing."""
