"""Teaching by hand: what was shown is kept in a file that people can read and edit, and replayed with the law active."""
