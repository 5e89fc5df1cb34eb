"""The promises of docs/promises.md, one test module each.

``make promise-blinding`` runs one, ``make promises`` all and writes what they measured into
the page. What takes longer than a second is marked ``slow`` and runs with
``make test-all``; what takes minutes is a ``trial`` and runs with ``make promises`` alone.
"""
