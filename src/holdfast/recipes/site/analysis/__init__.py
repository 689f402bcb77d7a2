"""Eight sections about a company, built by rules from what its pages say; every statement names page and passage."""
