"""The kind "ordering": which measures order ranked lists as people do."""
