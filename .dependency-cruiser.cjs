// The arrows of the house: a package may use packages of lower storeys. Nothing else.
const { storeys } = require('./tools/storeys.cjs');

const vendors = [
  ['classic-level', ['storage-leveldb']],
  ['@nats-io/', ['nats']],
  ['@grpc/', ['rpc']],
  ['kafkajs', ['kafka']],
  ['@aws-sdk/', ['lambda', 'object-store']],
  ['@duckdb/', ['sql']],
  ['@bufbuild/', ['wire', 'service-protocol']],
  ['express', ['ingress', 'admin']],
  ['@opentelemetry/sdk', ['telemetry']],
  ['pino', ['telemetry']],
];
const rooms = (names) => `^packages/(${names.join('|')})/`;
const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid('no-cycle', {}, { circular: true }),
    ...storeys
      .slice(0, -1)
      .map((here, i) =>
        forbid(
          `no-upward-from-${i}`,
          { path: rooms(here) },
          { path: rooms(storeys.slice(i + 1).flat()) },
        ),
      ),
    ...storeys.map((here, i) =>
      forbid(
        `no-sideways-at-${i}`,
        { path: rooms(here) },
        { path: rooms(here), pathNot: '^packages/$1/' },
      ),
    ),
    forbid(
      'state-machine-sees-only',
      { path: '^packages/state-machine/' },
      { path: '^packages/', pathNot: '^packages/(state-machine|stdx|domain|storage)/' },
    ),
    forbid(
      'attempt-sees-only',
      { path: '^packages/attempt/' },
      { path: '^packages/', pathNot: '^packages/(attempt|stdx|domain|service-protocol)/' },
    ),
    forbid(
      'cluster-sees-only',
      { path: '^packages/cluster/' },
      { path: '^packages/', pathNot: '^packages/(cluster|stdx|domain|log|metadata)/' },
    ),
    forbid(
      'front-door-only',
      { path: '^packages/([^/]+)/' },
      { path: '^packages/[^/]+/src/(?!index\\.ts$)', pathNot: '^packages/$1/' },
    ),
    forbid(
      'contract-is-for-tests',
      { path: '^packages/', pathNot: '\\.test\\.ts$|/contract/' },
      { path: '/contract/' },
    ),
    ...vendors.map(([vendor, homes]) =>
      forbid(
        `${vendor}-stays-home`,
        { path: '^packages/', pathNot: rooms(homes) },
        { path: `node_modules/${vendor}` },
      ),
    ),
    forbid('undeclared', {}, { dependencyTypes: ['npm-no-pkg', 'unknown'] }),
    forbid('unresolvable', {}, { couldNotResolve: true }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@engine/source', 'import', 'types', 'node', 'default'],
      extensions: ['.ts', '.js'],
    },
  },
};
