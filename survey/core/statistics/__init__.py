"""General statistics that know nothing of surveys."""
