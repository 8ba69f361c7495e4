// Draws the storeys (tools/storeys.cjs) into docs/ARCHITECTURE.md, between two markers. `node tools/graph.ts` writes; the
// tidiness test checks that the drawing is fresh.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { storeys } from './storeys.cjs';

const page = fileURLToPath(new URL('../docs/ARCHITECTURE.md', import.meta.url));
const packages = fileURLToPath(new URL('../packages', import.meta.url));
const BEGIN = '<!-- storeys:begin -->';
const END = '<!-- storeys:end -->';

/** The highest storey on top; a room sees only storeys below its own. Rooms that are not built yet are left out. */
export function drawStoreys(): string {
  const rows = storeys
    .map((rooms) => rooms.filter((room) => existsSync(`${packages}/${room}/package.json`)))
    .filter((rooms) => rooms.length > 0)
    .toReversed()
    .map((rooms) => rooms.map((room) => `[ ${room} ]`).join(' '));
  const width = Math.max(...rows.map((row) => row.length));
  const rule = `+-${'-'.repeat(width)}-+`;
  const boxes = rows.flatMap((row) => [`| ${row.padEnd(width)} |`, rule]);
  return [BEGIN, '```', rule, ...boxes, '```', END].join('\n');
}

/** The drawing that the page holds now; undefined when there is no page or it has no markers. */
export function drawnStoreys(): string | undefined {
  if (!existsSync(page)) return undefined;
  const text = readFileSync(page, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  return begin < 0 || end < begin ? undefined : text.slice(begin, end + END.length);
}

function writeStoreys(): void {
  const drawn = drawnStoreys();
  if (drawn === undefined) throw new Error(`docs/ARCHITECTURE.md has no markers ${BEGIN} … ${END}`);
  writeFileSync(page, readFileSync(page, 'utf8').replace(drawn, drawStoreys()));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeStoreys();
