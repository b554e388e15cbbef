"""PyTorch's databases of operators, run case by case, and what finds the operator behind which there is an error."""
