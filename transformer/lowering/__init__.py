"""Lowering: a user's function, read as LibCST, becomes an IR function for given kinds of its arguments.

In: a `Source` and a kind per parameter. Out: an `ir.Function`, and what it depends on.

The reader is an abstract interpreter: it walks the source once with a value for every name, where a value is
either known (a constant, a function, a tuple of values) or the variable that will hold it. What is known is
resolved here (methods, attributes, option arguments, `if x.ndim == 1`, loops over a tuple of layers, calls of
helpers); what is not becomes IR. The bodies of rules and of small support helpers go through the same reader,
which is how they are specialised.

    values.py        what a name can be
    reader.py        the state: frames, journal, branches
    expressions.py   one function per kind of expression
    calls.py         what a call means
    statements.py    one function per kind of statement
    loops.py         for, while, comprehensions
"""
