"""Pages that load nothing: HTML that cannot be injected into, charts as inline SVG, figures in words."""
