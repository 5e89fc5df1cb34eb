"""General statistics on plain numbers and arrays; they know nothing of surveys."""
