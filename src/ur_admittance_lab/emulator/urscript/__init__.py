"""URScript, the robot's language: the text of a program becomes Python generators that yield once per control cycle.

    def, sec, thread ... end    program or function, secondary program, thread; functions may be nested
    def f(a, b=2)               default values are constants
    while, if, elif, else, break, continue, return, run, join, kill, halt, global, local, pass
    numbers, strings, True, False, lists, poses p[...], x[i], calls with positional and keyword arguments
    or, xor, and, not; == != < > <= >=; + - * / %
    lists of numbers: two of one length added or subtracted, one multiplied or divided by a number
    a statement goes on in the next line inside brackets and after an operator

Everything else, an unknown function too, is a compile error: the program does not start.
From the URScript manual: variables of the outermost level are global; in a function a name is global when ``global`` or
the outermost level declares it, otherwise local. Each thread runs until it uses time. A secondary program may use none.
Assumed, where the manual is silent: a number can be a condition (0 is false; UR's own program does so), ``/`` gives a
float, a list is copied when it changes, the handle 0 is a thread that was never started, the arm keeps the speed of a
``speedj`` that has returned until the next motion or the end of the program.
A long program is compiled over several cycles. A thread that uses no time may make 2000 turns of short loops in a
cycle, fewer of long ones.

    text.py           tokens; programs in a stream of bytes; the error
    expressions.py    expressions as nodes of Python's syntax tree
    statements.py     statements, functions, the whole program; compiled by Python
    script_values.py  values and operators; what a function accepts
    motion_functions.py, socket_functions.py, functions.py    the built-in functions
    interpreter.py    threads, the time a program may use; one control cycle
"""
