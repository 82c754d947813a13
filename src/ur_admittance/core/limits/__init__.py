"""Joint speeds that keep every limit."""
