"""The methods that papers compare against: compact, run where they are named, certified as every other method is."""
