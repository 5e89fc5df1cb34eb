"""Services for taking part: beginning, progress, answers, own data, and the list of participants."""
