import { createLogger } from '@engine/telemetry';

export const partitionLogger = createLogger('worker:partition');
export const invokerLogger = createLogger('worker:invoker');
export const hostingLogger = createLogger('worker:hosting');
