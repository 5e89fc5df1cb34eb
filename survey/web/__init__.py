"""Web pages: a view validates a form, calls a service, and redirects or renders a template."""
