"""The ledger in memory: the readable model that the SQL ledgers are compared with."""
