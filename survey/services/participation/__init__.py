"""Services for taking part: beginning, progress, answers, own data, the list of participants."""
