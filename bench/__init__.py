"""The benchmark: Holdfast and its peers crawl one synthetic site. No part of the product, and never imported by it."""
