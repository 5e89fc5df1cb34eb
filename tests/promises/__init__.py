"""The promises of SECURITY-AND-RELIABILITY.md, one test module each.

``make promise-blinding`` runs one, ``make promises`` all and writes what they measured into
the page. What takes longer than some seconds is marked ``trial``.
"""
