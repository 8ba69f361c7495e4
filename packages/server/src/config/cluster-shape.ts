// Keys that only a cluster of several processes needs.
import { LEASE_TTL_MS_MIN } from '@engine/metadata';
import { z } from 'zod';
import { byteCount, duration, flag, integer, replicaCount, serverUrls, texts } from './fields.js';

const COUNT_MAX = Number.MAX_SAFE_INTEGER;
const text = () => z.string().min(1).optional();

export const nats = {
  servers: serverUrls()
    .prefault([])
    .describe(
      'Addresses of NATS servers with JetStream. None: all roles in one process, data on its own disk.',
    ),
  'monitor-urls': texts()
    .prefault([])
    .describe(
      'Their monitoring pages, such as `http://nats-0:8222`; a start is refused when one says that writes are not synced.',
    ),
  user: text().describe('Name to log in with.'),
  password: text().describe('Password to log in with.'),
  token: text().describe('Token to log in with, instead of a name.'),
  'credentials-file': text().describe('File with a JWT and its key, instead of a name.'),
  'tls-ca-file': text().describe('Authorities that the servers are checked with; turns TLS on.'),
};

export const snapshots = {
  destination: text().describe(
    'Where snapshots go: `nats` (JetStream), `s3://bucket/prefix` or `file:///directory`. Unless set `nats`; `none` = no snapshots, and logs are never trimmed.',
  ),
  'snapshot-interval': duration({ zero: false })
    .prefault('1h')
    .describe('A partition that changed is saved after so long.'),
  'snapshot-interval-num-records': integer({ min: 1, max: COUNT_MAX })
    .prefault(100_000)
    .describe('A partition is saved after so many records of its log.'),
  'aws-region': text().describe('Region of the bucket; else what the AWS SDK finds.'),
  'aws-endpoint-url': text().describe('Another service that speaks S3.'),
  'aws-access-key-id': text().describe('Key to sign with; else what the AWS SDK finds.'),
  'aws-secret-access-key': text().describe('Its secret.'),
  'aws-session-token': text().describe('Its session, if it has one.'),
};

export const tls = {
  mode: z
    .enum(['off', 'allow', 'prefer', 'require'])
    .prefault('off')
    .describe('TLS between nodes; roll it out in this order, node by node.'),
  'cert-file': text().describe('Certificate of this node (PEM).'),
  'key-file': text().describe('Its key (PEM).'),
  'ca-files': texts().prefault([]).describe('Authorities; none = those of the system.'),
  'require-client-auth': flag()
    .prefault(false)
    .describe('Whether other nodes have to show a certificate.'),
  'refresh-interval': duration({ zero: false })
    .prefault('1h')
    .describe('The files are read again after so long.'),
  'allowed-subject-names': texts()
    .prefault([])
    .describe('Names that certificates of other nodes may have; `*` = one label or more.'),
};

export const networking = {
  'message-size-limit': byteCount()
    .optional()
    .describe('Largest message between nodes; unless set, what the largest payload needs.'),
};

/** Keys of the top level. */
export const node = {
  'bind-port': integer({ min: 0, max: 65_535 })
    .prefault(5122)
    .describe('Where the other nodes of a cluster reach this one; 0 = any free port.'),
  'advertised-host': text().describe('Host that others reach this node by; unless set, its name.'),
  location: text().describe('Zone, such as `eu-1.a`: copies of a partition go to different ones.'),
  'default-replication': replicaCount()
    .prefault(3)
    .describe('Copies of logs and metadata in a cluster, 1 or 3; fixed by the first start.'),
  'node-lease-ttl': duration({ zero: false, minMs: LEASE_TTL_MS_MIN })
    .prefault('15s')
    .describe('A node that shows no sign of life for so long is counted dead.'),
};
