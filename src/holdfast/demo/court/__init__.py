"""The world `court`: a search page for court files without any listing. Numbers must be guessed, and a miss proved."""
