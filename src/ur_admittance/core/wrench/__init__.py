"""From the raw reading of the sensor to the wrench at the tool."""
