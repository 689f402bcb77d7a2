"""The world `engines`: four image search engines and the hosts of the images they name."""
