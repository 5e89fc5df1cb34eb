"""Pages: form → service → redirect or template."""
