"""Pages that load nothing: HTML that cannot be injected into, figures in words, bars and charts as inline SVG."""
