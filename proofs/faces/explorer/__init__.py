"""The explorer: a page on which a person steps through the machine, or plays what broke it.

Everything the page shows is computed here, by the spec; the page draws it. The same page is written as one file with a
piece of the machine in it (`graph`), or served with the live spec behind it (`server`).

    pictures.py   a state as plain data
    stepping.py   what can be called in a state, and what comes of it
    graph.py      every state of a small scope, packed
    stories.py    a counterexample or a trace, as pictures in a row
    page.py       the HTML file
    server.py     the same over HTTP
"""
