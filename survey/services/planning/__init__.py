"""Before a study: its power, simulated, and simulated participants."""
