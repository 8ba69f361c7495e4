import type { InvocationTarget, TargetKind } from '@engine/domain';

import { enumCodec, missing } from '../codec.js';
import * as gen from '../gen/engine/store/v1/target.js';

const K = gen.TargetKind;

export const targetKinds = enumCodec<TargetKind, gen.TargetKind>('target kind', {
  service: K.TARGET_KIND_SERVICE,
  'object-exclusive': K.TARGET_KIND_OBJECT_EXCLUSIVE,
  'object-shared': K.TARGET_KIND_OBJECT_SHARED,
  'workflow-run': K.TARGET_KIND_WORKFLOW_RUN,
  'workflow-shared': K.TARGET_KIND_WORKFLOW_SHARED,
});

export function targetToWire(target: InvocationTarget): gen.Target {
  return {
    kind: targetKinds.toWire[target.kind],
    service: target.service,
    key: target.key,
    handler: target.handler,
  };
}

export function targetFromWire(message: gen.Target | undefined): InvocationTarget {
  if (message === undefined) return missing('target');
  return {
    kind: targetKinds.fromWire(message.kind),
    service: message.service,
    key: message.key,
    handler: message.handler,
  };
}
