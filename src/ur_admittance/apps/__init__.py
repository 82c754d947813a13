"""Parts put together into programs: an arm that is opened, run, checked, watched, tried in scenarios."""
