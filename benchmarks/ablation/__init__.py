"""Each mechanism of contact and limits switched off, one at a time: which failure returns, how often."""
