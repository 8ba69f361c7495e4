import { existsSync, readdirSync } from 'node:fs';

const swc = [
  '@swc/jest',
  {
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  },
];

// Tests speak for themselves; ENGINE_LOG_LEVEL=debug brings the logs back.
process.env.ENGINE_LOG_LEVEL ??= 'silent';

const has = (dir) => existsSync(new URL(dir, import.meta.url));
const list = (dir) => (has(dir) ? readdirSync(new URL(dir, import.meta.url)) : []);

/** One jest project per package: `--selectProjects domain` runs one room's tests, from source, with no build. */
const project = (displayName, roots) => ({
  displayName,
  rootDir: import.meta.dirname,
  roots: roots.map((root) => `<rootDir>/${root}`),
  testEnvironment: 'node',
  testEnvironmentOptions: {
    customExportConditions: ['@engine/source', 'require', 'node', 'default'],
  },
  transform: { '^.+\\.[cm]?[jt]s$': swc },
  // ESM-only packages are transformed too: name them here.
  transformIgnorePatterns: ['/node_modules/(?!\\.pnpm|@engine/|@engine-test/)'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1', '$1.js'] },
  modulePathIgnorePatterns: ['/dist/'],
  testMatch: ['**/*.test.ts'],
});

const rooms = (parent) =>
  list(parent)
    .filter((name) => has(`${parent}/${name}/package.json`))
    .map((name) => ({
      name,
      roots: ['src', 'contract'].map((d) => `${parent}/${name}/${d}`).filter(has),
    }));

// Far above what any test takes, because a machine may be busy with other work.
const TEST_MS_MAX = 60_000;

export default {
  testTimeout: TEST_MS_MAX,
  projects: [
    ...rooms('packages').map(({ name, roots }) => project(name, roots)),
    ...rooms('test').map(({ name, roots }) => project(`test/${name}`, roots)),
    project('tools', ['tools']),
  ],
};
