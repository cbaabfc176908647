"""What our small web servers share: how they listen and end, what they refuse, and what a browser may do."""
