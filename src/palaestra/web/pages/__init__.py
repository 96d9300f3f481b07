"""One module a page; each has `register`, which is given what all pages share."""
