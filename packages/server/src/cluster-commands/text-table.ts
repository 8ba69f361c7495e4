/** Rows of text under headings, each column as wide as it needs. */

export interface Column {
  readonly heading: string;
  /** Numbers stand on the right. */
  readonly isNumber?: boolean;
}

export function textTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [columns.map(({ heading }) => heading), ...rows];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? '').length)));
  return lines.map((line) => rowText(line, columns, widths)).join('\n');
}

function rowText(
  cells: readonly string[],
  columns: readonly Column[],
  widths: readonly number[],
): string {
  const padded = columns.map(({ isNumber }, i) => {
    const [cell, width] = [cells[i] ?? '', widths[i] ?? 0];
    return isNumber === true ? cell.padStart(width) : cell.padEnd(width);
  });
  return padded.join('  ').trimEnd();
}
