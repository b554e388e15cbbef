"""What becomes of the records: kept ones, and the pages that are made of them."""
