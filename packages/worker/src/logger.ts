import { createLogger } from '@engine/telemetry';

export const partitionLogger = createLogger('worker:partition');
export const invokerLogger = createLogger('worker:invoker');
