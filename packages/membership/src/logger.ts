import { createLogger } from '@engine/telemetry';

export const log = createLogger('membership:node');
