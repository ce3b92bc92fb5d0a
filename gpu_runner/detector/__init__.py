"""The race detector: records in, races out. It knows neither PTX nor who executed it."""
