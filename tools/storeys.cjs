// The storeys of the house, lowest first. A package sees the storeys below its own, never its own or a higher one.
// Read by the boundary check, by the drawing in docs/ARCHITECTURE.md and by the tidiness test.
const storeys = [
  ['stdx'],
  ['domain'],
  ['wire', 'service-protocol'],
  ['storage', 'log', 'metadata'],
  ['state-machine', 'attempt', 'cluster'],
  ['runtime', 'telemetry'],
  ['snapshots'],
  [
    'membership',
    'rpc',
    'storage-leveldb',
    'nats',
    'kafka',
    'lambda',
    'request-identity',
    'object-store',
    'sql',
  ],
  ['ingress', 'admin', 'worker', 'example'],
  ['server', 'cli'],
];

module.exports = { storeys };
