"""Services for taking part: arrivals, progress, answers, own data, and watching participants."""
