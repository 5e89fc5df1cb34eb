"""Many participants at once, over HTTP: who they are, how they talk, what serves them.

wire: connections, one thread for all · browsing: a cookie, pages and forms · people: the
way through each survey · servers: ours, nginx before it, oTree · cost: one page in process.
"""
