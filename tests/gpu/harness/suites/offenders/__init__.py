"""What programs can do to others in the same context, and what stands still with them."""
