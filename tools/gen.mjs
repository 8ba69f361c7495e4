// Writes packages/*/src/gen from proto/. Run it with `npm run gen` and commit what it writes. With --check it writes nothing and
// fails when what is committed differs from what it would write.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUp } from './bootstrap.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const rooms = [
  { protos: 'engine', room: 'wire' },
  { protos: 'service-protocol', room: 'service-protocol' },
];

/** Effects: replaces every src/gen below `outRoot`, which is the repository itself unless a check wants a copy to compare. */
function generate(outRoot = root) {
  for (const { protos, room } of rooms) {
    const source = join(root, 'proto', protos);
    if (!existsSync(source) || !hasProto(source)) continue;
    const out = join(outRoot, 'packages', room, 'src', 'gen');
    // Beside the old code first: a contract with a mistake in it leaves everything as it was.
    const fresh = `${out}.new`;
    rmSync(fresh, { recursive: true, force: true });
    const template = JSON.stringify(templateFor(room, fresh));
    const args = ['generate', '--template', template, '--path', protos];
    try {
      execFileSync(join(root, 'node_modules/.bin/buf'), args, {
        cwd: join(root, 'proto'),
        stdio: 'inherit',
      });
      rmSync(out, { recursive: true, force: true });
      renameSync(fresh, out);
    } finally {
      rmSync(fresh, { recursive: true, force: true });
    }
  }
}

function hasProto(dir) {
  return readdirSync(dir, { recursive: true }).some((name) => String(name).endsWith('.proto'));
}

// Messages as interfaces, 64-bit numbers as bigint, bytes as Uint8Array, no code that needs Node.
function templateFor(room, out) {
  const opt = [
    'env=browser',
    'forceLong=bigint',
    'importSuffix=.js',
    'esModuleInterop=true',
    'oneof=unions-value',
    'useOptionals=none',
    'outputJsonMethods=false',
    'outputPartialMethods=false',
    'unrecognizedEnum=false',
    'enumsAsLiterals=true',
    // Services between roles are plain data (method names and codecs), so this room needs no gRPC.
    `outputServices=${room === 'wire' ? 'generic-definitions' : 'none'}`,
  ];
  const local = join(root, 'node_modules/.bin/protoc-gen-ts_proto');
  return { version: 'v2', plugins: [{ local, out, opt }] };
}

/** The files that differ between what is committed and what would be written. */
function staleFiles() {
  const fresh = mkdtempSync(join(tmpdir(), 'engine-gen-'));
  try {
    generate(fresh);
    return rooms.flatMap(({ room }) => {
      const gen = join('packages', room, 'src', 'gen');
      const names = new Set([...filesIn(join(root, gen)), ...filesIn(join(fresh, gen))]);
      return [...names]
        .filter((name) => textOf(join(root, gen, name)) !== textOf(join(fresh, gen, name)))
        .map((name) => join(gen, name));
    });
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

function filesIn(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts'));
}

function textOf(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

if (process.argv.includes('--check')) {
  const stale = staleFiles();
  if (stale.length > 0) console.error(`Run \`npm run gen\` and commit:\n${stale.join('\n')}`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  setUp({ build: false });
  generate();
}
