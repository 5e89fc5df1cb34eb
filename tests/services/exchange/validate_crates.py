"""Validate folders as RO-Crates 1.1, and write as JSON what is wrong with each; nothing is fetched.

Run by the Python of .venv/rocrate, which has neither the survey nor what its other tests need.
The context that every crate names comes from rocrate 0.14: later ones bring that of RO-Crate 1.3.
"""

import json
import sys
from importlib.metadata import distribution

import requests
from requests.adapters import HTTPAdapter
from rocrate_validator import services
from urllib3 import HTTPResponse

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
FILE = distribution("rocrate").locate_file("rocrate/data/ro-crate.jsonld")
HEADERS = {"Content-Type": "application/ld+json"}


def answer(adapter, request, **options):
    """Answer a request for the context from the file; refuse all others."""
    if request.url != CONTEXT:
        raise requests.ConnectionError(f"{request.url} is not fetched")
    body = HTTPResponse(FILE.open("rb"), HEADERS, 200, preload_content=False)
    return adapter.build_response(request, body)


def issues(folder):
    """What breaks a rule: its severity, the property, the rule."""
    settings = services.ValidationSettings(
        rocrate_uri=folder,
        profile_identifier="ro-crate-1.1",
        requirement_severity="RECOMMENDED",
        no_cache=True,
    )
    return [
        (issue.severity.name, (issue.violatingProperty or "").rpartition("/")[2], issue.message)
        for issue in services.validate(settings).get_issues()
    ]


HTTPAdapter.send = answer
json.dump([issues(folder) for folder in sys.argv[1:]], sys.stdout)
