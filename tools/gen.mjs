// Writes packages/*/src/gen from proto/. Run it with `pnpm gen` (or `npm run gen`) and commit what it writes.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const rooms = [
  { protos: 'engine', room: 'wire' },
  { protos: 'service-protocol', room: 'service-protocol' },
];

/** Effects: replaces every src/gen below `outRoot`, which is the repository itself unless a check wants a copy to compare. */
export function generate(outRoot = root) {
  for (const { protos, room } of rooms) {
    const source = join(root, 'proto', protos);
    if (!existsSync(source) || !hasProto(source)) continue;
    const out = join(outRoot, 'packages', room, 'src', 'gen');
    rmSync(out, { recursive: true, force: true });
    const template = JSON.stringify(templateFor(room, out));
    const args = ['generate', '--template', template, '--path', protos];
    execFileSync(join(root, 'node_modules/.bin/buf'), args, {
      cwd: join(root, 'proto'),
      stdio: 'inherit',
    });
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

if (process.argv[1] === fileURLToPath(import.meta.url)) generate();
