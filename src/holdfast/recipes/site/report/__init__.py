"""The report of a company site as one document, from the corpus and its sections."""
