"""What the process has loaded of which servers are copies; see ``tests.forked``."""

from importlib import import_module

from survey.app import load_report_libraries

for name in ("survey.cli.operations", "survey.server", "survey.services.operations.doctor"):
    import_module(name)
load_report_libraries()
