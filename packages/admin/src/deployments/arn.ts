/** Names of functions. */

import { EngineError } from '@engine/domain';

const PARTS = 8;

/**
 * Checks the name of a function with its version or alias: `arn:<partition>:lambda:<region>:<account>:function:<name>:<version>`.
 * Errors: `bad-request`, which says what is wrong with the field `arn`.
 */
export function checkArn(arn: string): string {
  const fault = arnFault(arn);
  if (fault === undefined) return arn;
  throw new EngineError('bad-request', `bad field 'arn': '${arn}' ${fault}`);
}

function arnFault(arn: string): string | undefined {
  const parts = arn.split(':');
  if (parts.length < PARTS - 1) return 'is too short for the name of a function';
  const [prefix, partition, service, region, account, type, name, ...version] = parts;
  if (version.join(':') === '') {
    return "needs a version or an alias at its end, such as ':3' or ':$LATEST'";
  }
  if (prefix !== 'arn') return "has to begin with 'arn'";
  if (service !== 'lambda') return `names something of '${service ?? ''}' instead of 'lambda'`;
  if (type !== 'function') return `names a '${type ?? ''}' instead of a 'function'`;
  const named = { partition, region, account, name };
  const empty = Object.entries(named).find(([, value]) => value === '');
  return empty === undefined ? undefined : `has no ${empty[0]}`;
}
