"""The simulated worlds: small sites on loopback that know the right answer and witness every request."""
