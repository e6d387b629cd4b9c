"""What makes the models that ship; nothing at run time imports it. Needs the extra `train`."""
