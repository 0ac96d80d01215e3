interface PlotProps {
  readonly values: readonly number[];
  /** The top of the plot; what is above it is drawn at the top. */
  readonly most: number;
  readonly label: string;
  readonly width?: number;
  readonly height?: number;
  /** As many places as values it can have: the newest is at the right. */
  readonly places: number;
}

/** A line over the last minutes. */
export function Plot({ values, most, label, places, width = 72, height = 22 }: PlotProps) {
  const points = plotPoints(values, most, places, width, height);
  const line = points.map(([x, y]) => `${x},${y}`).join("L");
  const [first] = points;
  const last = points.at(-1);
  return (
    <svg class="plot" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
      {first === undefined || last === undefined ? null : (
        <>
          <path class="area" d={`M${first[0]},${height}L${line}L${last[0]},${height}Z`} />
          <path d={`M${line}`} />
        </>
      )}
    </svg>
  );
}

export function plotPoints(values: readonly number[], most: number, places: number, width: number, height: number): [number, number][] {
  const shown = values.slice(-places);
  const step = places > 1 ? width / (places - 1) : 0;
  const round = (value: number) => Math.round(value * 10) / 10;
  return shown.map((value, i) => {
    const share = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
    // One pixel is kept at both edges, so that the line is not cut.
    return [round(width - (shown.length - 1 - i) * step), round(height - 1 - share * (height - 2))];
  });
}
