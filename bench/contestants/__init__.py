"""Who is measured. Each contestant is a crawl of one site: a command, and how many pages it really got."""
