"""Reports: one page of HTML for a run, a plan, a race or a path, which loads nothing and can be sent to anybody."""
