"""Running the survey: database, backups, the self-check."""
