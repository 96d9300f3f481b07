"""The selection rules of the package, one file each; `palaestra.search.rule_registry` names them."""
