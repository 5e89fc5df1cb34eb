"""Write into a wheel the commit that it is built from."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):
    """Adds survey/COMMIT where the wheel is built from a checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the commit; an editable installation asks git when it runs."""
        sys.path.insert(0, self.root)
        from survey.release import IN_WHEEL, commit_of

        commit = commit_of(Path(self.root))
        if version != "editable" and commit:
            self.folder = tempfile.TemporaryDirectory()
            file = Path(self.folder.name) / IN_WHEEL.name
            file.write_text(f"{commit}\n")
            build_data["force_include"][str(file)] = f"survey/{IN_WHEEL.name}"
