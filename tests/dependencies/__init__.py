"""What the survey is built on: the page that lists it, and the look into the advisories."""
