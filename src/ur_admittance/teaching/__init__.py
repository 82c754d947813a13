"""Teaching by hand: what was shown, as a file that people can read and edit, and its replay with the law active."""
