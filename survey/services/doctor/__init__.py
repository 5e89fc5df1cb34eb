"""The doctor: what is unsafe in how a survey is set up, and what to do about it."""
