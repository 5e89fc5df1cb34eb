"""Machines that judge beside people: how they are asked, what they answered, what that shows."""
